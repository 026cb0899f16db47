// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/torch_save.h"

#include "core/io/little_endian.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace core {
namespace {

constexpr std::uint64_t kPickleBytes = std::uint64_t(1) << 30U;
constexpr std::uint64_t kFirstWindow = std::uint64_t(1) << 20U;
constexpr std::size_t kLegacyPickles = 5; // magic, protocol, system, object, keys

struct StorageClass
{
    std::string_view name;
    DType dtype;
};

constexpr StorageClass kStorageClasses[] = {
    {"BoolStorage", DType::boolean},
    {"ByteStorage", DType::uint8},
    {"CharStorage", DType::int8},
    {"ShortStorage", DType::int16},
    {"IntStorage", DType::int32},
    {"LongStorage", DType::int64},
    {"HalfStorage", DType::float16},
    {"BFloat16Storage", DType::bfloat16},
    {"FloatStorage", DType::float32},
    {"DoubleStorage", DType::float64},
    {"ComplexFloatStorage", DType::complex64},
    {"ComplexDoubleStorage", DType::complex128},
    {"QInt8Storage", DType::qint8},
    {"QUInt8Storage", DType::quint8},
    {"QInt32Storage", DType::qint32},
    {"UntypedStorage", DType::unknown},
};

std::string recordText(const ZipArchive &archive, const std::string &name)
{
    const ZipEntry *entry = archive.find(name);
    if (entry == nullptr)
        return {};
    const auto bytes = archive.read(*entry, 256);
    return bytes ? std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size()) : std::string();
}

Status corrupt(const std::string &file, std::string_view token, const std::string &message)
{
    return Status(ErrorCode::corrupt, fmt::format("{}: {}", file, message)).withDetail(std::string(token));
}

// The pickles at the start of a legacy file. How long they are is not written anywhere: a window grows until
// they fit.
Result<std::array<std::shared_ptr<const PickleGraph>, kLegacyPickles>> parseLegacy(const ByteSource &source)
{
    std::array<std::shared_ptr<const PickleGraph>, kLegacyPickles> graphs;
    for (std::uint64_t window = std::min(kFirstWindow, source.size());; window *= 4) {
        window = std::min(window, source.size());
        auto bytes = readRange(source, 0, window, kPickleBytes);
        if (!bytes)
            return bytes.status();
        const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
        std::size_t at = 0;
        Status status;
        for (std::size_t i = 0; i < kLegacyPickles && status; ++i) {
            auto graph = PickleGraph::parse(shared, at, source.name());
            status = graph.status();
            if (graph) {
                at = (*graph)->end();
                graphs[i] = std::move(*graph);
            }
        }
        if (status)
            return graphs;
        if (status.detail() != "truncated" || window == source.size())
            return status;
    }
}

} // namespace

std::optional<DType> dtypeOfStorageClass(std::string_view module, std::string_view name)
{
    if (module != "torch" && module != "torch.storage" && module != "torch.cuda")
        return std::nullopt;
    for (const StorageClass &known : kStorageClasses)
        if (known.name == name)
            return known.dtype;
    return std::nullopt;
}

Result<std::shared_ptr<const TorchFile>> TorchFile::openZip(std::shared_ptr<const ZipArchive> archive)
{
    std::shared_ptr<TorchFile> file(new TorchFile);
    file->m_name = archive->fileName();
    if (archive->entries().empty())
        return corrupt(file->m_name, "unknown_format", "an empty archive");
    const std::string_view first = archive->entries().front().name;
    file->m_prefix = first.substr(0, first.find('/') + 1);
    const ZipEntry *entry = archive->find(file->m_prefix + "data.pkl");
    if (entry == nullptr)
        return corrupt(file->m_name, "unknown_format", "no data.pkl: this is no checkpoint of torch.save");
    auto bytes = archive->read(*entry, kPickleBytes);
    if (!bytes)
        return bytes.status();
    auto graph = PickleGraph::parse(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)), 0,
                                    file->m_name + ":data.pkl");
    if (!graph)
        return graph.status();
    file->m_graph = std::move(*graph);
    file->m_bigEndian = recordText(*archive, file->m_prefix + "byteorder") == "big";
    file->m_archive = std::move(archive);
    return std::shared_ptr<const TorchFile>(std::move(file));
}

Result<std::shared_ptr<const TorchFile>> TorchFile::openLegacy(std::shared_ptr<const ByteSource> source)
{
    std::shared_ptr<TorchFile> file(new TorchFile);
    file->m_name = source->name();
    if (Status status = file->readLegacy(source); !status)
        return status;
    return std::shared_ptr<const TorchFile>(std::move(file));
}

Status TorchFile::readLegacy(const std::shared_ptr<const ByteSource> &source)
{
    static constexpr std::array<unsigned char, 10> kMagic = {0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                                             0x20, 0x6a, 0xa8, 0x50, 0x19};
    const auto graphs = parseLegacy(*source);
    if (!graphs)
        return graphs.status();
    const auto magic = (*graphs)[0]->root().bytes();
    if (magic.size() != kMagic.size() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
        return corrupt(m_name, "unknown_format", "a pickle that is no checkpoint of torch.save");
    m_bigEndian = !(*graphs)[2]->root().find("little_endian").toBool(true);
    m_graph = (*graphs)[3];
    return readLegacyStorages(source, (*graphs)[4]->root(), (*graphs)[4]->end());
}

// After the pickles: for each key a count of elements and their bytes. The element's size is known from the
// class that the ids in the pickle name.
Status TorchFile::readLegacyStorages(const std::shared_ptr<const ByteSource> &source, PickleValue keys,
                                     std::uint64_t at)
{
    std::unordered_map<std::string_view, std::size_t> sizes;
    for (std::size_t i = 0; i < m_graph->valueCount(); ++i) {
        const PickleValue value(m_graph.get(), static_cast<std::uint32_t>(i));
        const PickleValue id = value.is(PickleKind::persistent) ? value.item(0) : PickleValue();
        const auto dtype = dtypeOfStorageClass(id.item(1).module(), id.item(1).name());
        if (id.size() >= 5 && dtype)
            sizes.emplace(id.item(2).text(), std::max<std::size_t>(itemSize(*dtype), 1));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string key(keys.item(i).text());
        const auto size = sizes.find(key);
        std::array<std::byte, 8> count = {};
        if (size == sizes.end())
            return corrupt(m_name, "missing_record", fmt::format("storage {} is of no known class", key));
        if (source->size() - at < count.size())
            return corrupt(m_name, "truncated",
                           fmt::format("storage {} begins behind the end of the file", key));
        if (Status status = source->readAt(at, count); !status)
            return status;
        at += count.size();
        const auto elements = m_bigEndian ? __builtin_bswap64(loadLittle<std::uint64_t>(count.data()))
                                          : loadLittle<std::uint64_t>(count.data());
        std::uint64_t bytes = 0;
        if (__builtin_mul_overflow(elements, size->second, &bytes) || bytes > source->size() - at)
            return corrupt(m_name, "truncated",
                           fmt::format("storage {} has {} elements, {} bytes are left", key, elements,
                                       source->size() - at));
        m_storages.emplace(key, sliceSource(source, at, bytes, fmt::format("{}:{}", m_name, key)));
        at += bytes;
    }
    return Status::ok();
}

Result<TorchStorage> TorchFile::storage(PickleValue persistentId) const
{
    const PickleValue id = persistentId.item(0);
    const PickleValue type = id.item(1);
    if (!persistentId.is(PickleKind::persistent) || id.size() < 5 || id.item(0).text() != "storage" ||
        !type.is(PickleKind::global))
        return corrupt(m_name, "bad_pickle", "a tensor without a storage");
    TorchStorage storage;
    storage.key = id.item(2).text();
    storage.className = type.fullName();
    const auto dtype = dtypeOfStorageClass(type.module(), type.name());
    storage.isUntyped = dtype && *dtype == DType::unknown;
    storage.dtype = dtype.value_or(DType::unknown);
    if (m_archive) {
        auto bytes = openRecord(storage.key);
        if (!bytes)
            return bytes.status();
        storage.bytes = std::move(*bytes);
    } else if (const auto found = m_storages.find(storage.key); found != m_storages.end()) {
        storage.bytes = found->second;
    }
    const std::size_t item = std::max<std::size_t>(itemSize(storage.dtype), 1);
    const std::int64_t count = id.item(4).toInt(-1);
    if (storage.bytes && (count < 0 || static_cast<std::uint64_t>(count) > storage.bytes->size() / item))
        return corrupt(m_name, "tensor_out_of_bounds",
                       fmt::format("storage {} has {} bytes, {} elements are announced", storage.key,
                                   storage.bytes->size(), count));
    return storage;
}

Result<std::shared_ptr<const ByteSource>> TorchFile::openRecord(const std::string &key) const
{
    const std::scoped_lock lock(m_mutex);
    std::weak_ptr<const ByteSource> &known = m_open[key];
    if (auto bytes = known.lock())
        return bytes;
    const ZipEntry *entry = m_archive->find(m_prefix + "data/" + key);
    if (entry == nullptr)
        return std::shared_ptr<const ByteSource>();
    auto bytes = m_archive->open(*entry);
    if (bytes)
        known = *bytes;
    return bytes;
}

std::uint64_t TorchFile::storageBytes() const
{
    std::uint64_t bytes = 0;
    if (m_archive)
        for (const ZipEntry &entry : m_archive->entries())
            bytes += entry.name.starts_with(m_prefix + "data/") ? entry.size : 0;
    for (const auto &[key, source] : m_storages)
        bytes += source->size();
    return bytes;
}

Status TorchFile::verifyStorages(const JobContext &context) const
{
    if (m_archive)
        for (const ZipEntry &entry : m_archive->entries())
            if (entry.name.starts_with(m_prefix + "data/"))
                if (Status status = m_archive->verify(entry, context); !status)
                    return status;
    return Status::ok();
}

} // namespace core
