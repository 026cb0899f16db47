// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/zip_reader.h"

#include "core/io/inflate.h"
#include "core/io/little_endian.h"
#include "core/io/zip_format.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace core {
namespace {

Status corrupt(const std::string &file, std::string_view detail, const std::string &message)
{
    return Status(ErrorCode::corrupt, fmt::format("{}: {}", file, message)).withDetail(std::string(detail));
}

// Replaces the 32-bit fields that are all ones by the values of the ZIP64 extra field, in its fixed order.
bool applyZip64(std::span<const std::byte> extra, std::span<std::uint64_t *const> fields)
{
    while (extra.size() >= 4) {
        const auto id = loadLittle<std::uint16_t>(extra.data());
        const auto length = loadLittle<std::uint16_t>(extra.data() + 2);
        if (extra.size() < 4U + length)
            return false;
        std::span<const std::byte> body = extra.subspan(4, length);
        extra = extra.subspan(4U + length);
        if (id != zip::kExtraZip64)
            continue;
        for (std::uint64_t *field : fields) {
            if (*field != zip::kMax32)
                continue;
            if (body.size() < 8)
                return false;
            *field = loadLittle<std::uint64_t>(body.data());
            body = body.subspan(8);
        }
        return true;
    }
    return true;
}

std::string_view text(const std::byte *at, std::size_t length)
{
    return {reinterpret_cast<const char *>(at), length};
}

// What a local header states.
struct LocalHeader
{
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::string_view name;    // into the buffer it was read from
    std::uint64_t length = 0; // of the header with name and extra field
};

// BYTES begins with the 30 fixed bytes; false when the variable part is not all there or is wrong.
bool readLocal(std::span<const std::byte> bytes, LocalHeader &local)
{
    const std::byte *at = bytes.data();
    local.flags = loadLittle<std::uint16_t>(at + 6);
    local.method = loadLittle<std::uint16_t>(at + 8);
    local.crc = loadLittle<std::uint32_t>(at + 14);
    local.compressedSize = loadLittle<std::uint32_t>(at + 18);
    local.size = loadLittle<std::uint32_t>(at + 22);
    const auto nameLength = loadLittle<std::uint16_t>(at + 26);
    const auto extraLength = loadLittle<std::uint16_t>(at + 28);
    local.length = zip::kLocalSize + nameLength + extraLength;
    if (bytes.size() < local.length)
        return false;
    local.name = text(at + zip::kLocalSize, nameLength);
    const std::array fields = {&local.size, &local.compressedSize};
    return applyZip64(bytes.subspan(zip::kLocalSize + nameLength, extraLength), fields);
}

// Reads local headers at rising offsets with few calls: in large pieces while entries are small, only the
// header where a large entry was skipped.
class HeaderWindow
{
public:
    explicit HeaderWindow(const ByteSource &source) : m_source(source) {}

    // LOCAL keeps length 0 when there is no whole header at AT; its name lives until the next call.
    Status read(std::uint64_t at, LocalHeader &local)
    {
        const bool jumped = at < m_start || at > m_start + m_bytes.size();
        for (const std::uint64_t length : {std::uint64_t(0), jumped ? kShort : kLong, kLongest}) {
            if (length != 0)
                if (Status status = load(at, length); !status)
                    return status;
            const std::uint64_t skip = at - m_start;
            if (at < m_start || skip > m_bytes.size() || m_bytes.size() - skip < zip::kLocalSize)
                continue;
            const auto header = std::span<const std::byte>(m_bytes).subspan(skip);
            if (loadLittle<std::uint32_t>(header.data()) != zip::kLocalSignature)
                return Status::ok();
            LocalHeader found;
            if (readLocal(header, found)) {
                local = found;
                return Status::ok();
            }
        }
        return Status::ok();
    }

private:
    Status load(std::uint64_t at, std::uint64_t length)
    {
        m_start = at;
        m_bytes.resize(std::min(length, m_source.size() - at));
        return m_source.readAt(at, m_bytes);
    }

    static constexpr std::uint64_t kShort = 1024;
    static constexpr std::uint64_t kLong = std::uint64_t(64) << 10U;
    static constexpr std::uint64_t kLongest = std::uint64_t(192) << 10U; // the largest header
    const ByteSource &m_source;
    std::vector<std::byte> m_bytes;
    std::uint64_t m_start = 0;
};

struct EndRecord
{
    std::uint64_t at = 0;
    std::uint64_t count = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
};

Result<EndRecord> readZip64End(const ByteSource &source, EndRecord end)
{
    if (end.at < zip::kZip64LocatorSize)
        return end;
    std::array<std::byte, zip::kZip64LocatorSize> locator;
    if (Status status = source.readAt(end.at - locator.size(), locator); !status)
        return status;
    if (loadLittle<std::uint32_t>(locator.data()) != zip::kZip64LocatorSignature)
        return end;
    const auto at = loadLittle<std::uint64_t>(locator.data() + 8);
    const std::uint64_t limit = end.at - zip::kZip64LocatorSize;
    std::array<std::byte, zip::kZip64EndSize> record;
    if (at > limit || limit - at < record.size())
        return corrupt(source.name(), "bad_directory",
                       fmt::format("the ZIP64 end record is said to be at byte {} of {}", at, source.size()));
    if (Status status = source.readAt(at, record); !status)
        return status;
    if (loadLittle<std::uint32_t>(record.data()) != zip::kZip64EndSignature)
        return corrupt(source.name(), "bad_directory", fmt::format("no ZIP64 end record at byte {}", at));
    end.at = at;
    end.count = loadLittle<std::uint64_t>(record.data() + 32);
    end.size = loadLittle<std::uint64_t>(record.data() + 40);
    end.offset = loadLittle<std::uint64_t>(record.data() + 48);
    return end;
}

Result<EndRecord> findEnd(const ByteSource &source)
{
    const std::uint64_t tail = std::min<std::uint64_t>(source.size(), zip::kEndSize + zip::kMax16);
    auto bytes = readRange(source, source.size() - tail, tail, tail);
    if (!bytes)
        return bytes.status();
    for (std::size_t at = tail < zip::kEndSize ? 0 : tail - zip::kEndSize + 1; at-- > 0;) {
        const std::byte *record = bytes->data() + at;
        if (loadLittle<std::uint32_t>(record) != zip::kEndSignature ||
            at + zip::kEndSize + loadLittle<std::uint16_t>(record + 20) != tail)
            continue;
        EndRecord end{source.size() - tail + at, loadLittle<std::uint16_t>(record + 10),
                      loadLittle<std::uint32_t>(record + 12), loadLittle<std::uint32_t>(record + 16)};
        return readZip64End(source, end);
    }
    return corrupt(source.name(), "zip_no_end_record",
                   "the zip archive has no end record: it was cut or is still being written");
}

bool isUnixLink(std::uint16_t madeBy, std::uint32_t attributes)
{
    constexpr std::uint32_t kTypeMask = 0170000;
    constexpr std::uint32_t kLink = 0120000;
    return (madeBy >> 8U) == 3 && ((attributes >> 16U) & kTypeMask) == kLink;
}

} // namespace

Result<std::shared_ptr<const ZipArchive>> ZipArchive::open(std::shared_ptr<const ByteSource> source,
                                                           LoadReport &report, const ZipOptions &options)
{
    std::shared_ptr<ZipArchive> archive(new ZipArchive(std::move(source)));
    Status status = archive->readDirectory(options);
    if (status)
        status = archive->checkEntries(report, options);
    if (!status && options.recover && status.code() == ErrorCode::corrupt) {
        const Status first = status;
        status = archive->scan(report, options);
        if (status && archive->m_entries.empty())
            return first;
        if (status)
            status = archive->checkEntries(report, options);
    }
    if (!status)
        return status;
    return std::shared_ptr<const ZipArchive>(std::move(archive));
}

Status ZipArchive::readDirectory(const ZipOptions &options)
{
    const auto end = findEnd(*m_source);
    if (!end)
        return end.status();
    if (end->offset > end->at || end->size > end->at - end->offset)
        return corrupt(fileName(), "bad_directory",
                       fmt::format("the directory is said to have {} bytes at byte {}, the file has {}",
                                   end->size, end->offset, m_source->size()));
    if (end->count > options.entries)
        return Status(ErrorCode::limitExceeded,
                      fmt::format("{}: {} entries, the limit is {}", fileName(), end->count, options.entries))
            .withDetail("too_many_entries");
    auto bytes = readRange(*m_source, end->offset, end->size, options.directoryBytes);
    if (!bytes)
        return bytes.status();
    m_names = std::move(*bytes);
    m_endOfEntries = end->offset;
    return parseDirectory(end->count);
}

Status ZipArchive::parseDirectory(std::uint64_t count)
{
    m_entries.clear();
    m_entries.reserve(std::min<std::uint64_t>(count, m_names.size() / zip::kCentralSize));
    const std::span<const std::byte> bytes(m_names);
    std::size_t position = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::byte *at = bytes.data() + position;
        const std::size_t left = bytes.size() - position;
        if (left < zip::kCentralSize || loadLittle<std::uint32_t>(at) != zip::kCentralSignature)
            return corrupt(fileName(), "bad_directory",
                           fmt::format("entry {} of {} is not in the directory", i + 1, count));
        const auto nameLength = loadLittle<std::uint16_t>(at + 28);
        const auto extraLength = loadLittle<std::uint16_t>(at + 30);
        const auto commentLength = loadLittle<std::uint16_t>(at + 32);
        const std::size_t length = zip::kCentralSize + nameLength + extraLength + commentLength;
        ZipEntry entry;
        entry.flags = loadLittle<std::uint16_t>(at + 8);
        entry.method = loadLittle<std::uint16_t>(at + 10);
        entry.crc = loadLittle<std::uint32_t>(at + 16);
        entry.compressedSize = loadLittle<std::uint32_t>(at + 20);
        entry.size = loadLittle<std::uint32_t>(at + 24);
        entry.isLink = isUnixLink(loadLittle<std::uint16_t>(at + 4), loadLittle<std::uint32_t>(at + 38));
        entry.headerOffset = loadLittle<std::uint32_t>(at + 42);
        const std::array fields = {&entry.size, &entry.compressedSize, &entry.headerOffset};
        if (left < length ||
            !applyZip64(bytes.subspan(position + zip::kCentralSize + nameLength, extraLength), fields))
            return corrupt(fileName(), "bad_directory",
                           fmt::format("entry {} of {} is damaged in the directory", i + 1, count));
        entry.name = text(at + zip::kCentralSize, nameLength);
        m_entries.push_back(entry);
        position += length;
    }
    return Status::ok();
}

// Entries one after the other from byte 0, until something is no whole entry. Sizes must stand in the local
// header: what was written with trailing descriptors cannot be told from its data.
Status ZipArchive::scan(LoadReport &report, const ZipOptions &options)
{
    m_entries.clear();
    m_names.clear();
    m_recovered = true;
    std::vector<std::size_t> nameEnds;
    HeaderWindow window(*m_source);
    std::uint64_t at = 0;
    const std::uint64_t fileSize = m_source->size();
    while (m_entries.size() < options.entries) {
        LocalHeader local;
        if (Status status = window.read(at, local); !status)
            return status;
        if (local.length == 0 || (local.flags & zip::kFlagDescriptor) != 0 ||
            local.compressedSize > fileSize - at - local.length)
            break;
        const auto name = std::as_bytes(std::span(local.name));
        m_names.insert(m_names.end(), name.begin(), name.end());
        nameEnds.push_back(m_names.size());
        m_entries.push_back(
            {{}, at, 0, local.compressedSize, local.size, local.crc, local.method, local.flags, false});
        at += local.length + local.compressedSize;
    }
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const std::size_t begin = i == 0 ? 0 : nameEnds[i - 1];
        m_entries[i].name = text(m_names.data() + begin, nameEnds[i] - begin);
    }
    m_endOfEntries = at;
    report.add(
        "zip_recovered",
        fmt::format(
            "{}: the directory is missing or damaged; {} entries were found in the first {} of {} bytes",
            fileName(), m_entries.size(), at, fileSize));
    if (at < fileSize)
        report.add("truncated",
                   fmt::format("{}: the last {} bytes are no whole entry", fileName(), fileSize - at));
    return Status::ok();
}

Status ZipArchive::checkEntries(LoadReport &report, const ZipOptions &options)
{
    std::uint64_t inflated = 0;
    for (ZipEntry &entry : m_entries) {
        if (!isSafeRelativePath(entry.name))
            return corrupt(fileName(), "unsafe_entry_name",
                           fmt::format("entry name '{}' does not stay in the archive", entry.name));
        if ((entry.flags & (zip::kFlagEncrypted | zip::kFlagStrongEncryption)) != 0)
            return Status(ErrorCode::unsupported,
                          fmt::format("{}: entry {} is encrypted", fileName(), entry.name))
                .withDetail("encrypted");
        if (entry.isStored() && entry.size != entry.compressedSize)
            return corrupt(fileName(), "bad_directory",
                           fmt::format("stored entry {} has {} bytes and is said to expand to {}", entry.name,
                                       entry.compressedSize, entry.size));
        const bool dense =
            entry.size > options.ratioFreeBytes && entry.size / options.ratio > entry.compressedSize;
        inflated += entry.isStored() ? 0 : std::min(entry.size, options.inflatedBytes + 1);
        if (!entry.isStored() && (dense || inflated > options.inflatedBytes))
            return Status(ErrorCode::limitExceeded,
                          fmt::format("{}: {} compressed bytes of entry {} expand to {} bytes", fileName(),
                                      entry.compressedSize, entry.name, entry.size))
                .withDetail("decompression_limit");
        if (entry.isLink)
            report.add("link_entry", fmt::format("{}: entry {} is a symbolic link and is not followed",
                                                 fileName(), entry.name));
    }
    if (Status status = checkOverlaps(); !status)
        return status;
    return indexNames();
}

Status ZipArchive::checkOverlaps()
{
    std::vector<std::uint32_t> order(m_entries.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [this](std::uint32_t a, std::uint32_t b) {
        return m_entries[a].headerOffset < m_entries[b].headerOffset;
    };
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::sort(order.begin(), order.end(), before);
    for (std::size_t i = 0; i < order.size(); ++i) {
        ZipEntry &entry = m_entries[order[i]];
        const std::uint64_t next =
            i + 1 < order.size() ? m_entries[order[i + 1]].headerOffset : m_endOfEntries;
        entry.limitOffset = std::min(next, m_endOfEntries);
        const std::uint64_t least = zip::kLocalSize + entry.name.size();
        const bool inFile = entry.headerOffset <= m_endOfEntries &&
                            least <= m_endOfEntries - entry.headerOffset &&
                            entry.compressedSize <= m_endOfEntries - entry.headerOffset - least;
        if (!inFile)
            return corrupt(fileName(), "entry_out_of_bounds",
                           fmt::format("entry {} has {} bytes at byte {}, the file has {}", entry.name,
                                       entry.compressedSize, entry.headerOffset, m_source->size()));
        if (least + entry.compressedSize > entry.limitOffset - entry.headerOffset)
            return corrupt(fileName(), "overlapping_entries",
                           fmt::format("entry {} at byte {} overlaps the one at byte {}", entry.name,
                                       entry.headerOffset, entry.limitOffset));
    }
    return Status::ok();
}

Status ZipArchive::indexNames()
{
    std::size_t capacity = 16;
    while (capacity < m_entries.size() * 2)
        capacity *= 2;
    m_table.assign(capacity, 0);
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const std::string_view name = m_entries[i].name;
        std::size_t slot = XXH3_64bits(name.data(), name.size()) & (capacity - 1);
        for (; m_table[slot] != 0; slot = (slot + 1) & (capacity - 1))
            if (m_entries[m_table[slot] - 1].name == name)
                return corrupt(fileName(), "duplicate_entry", fmt::format("entry {} is there twice", name));
        m_table[slot] = static_cast<std::uint32_t>(i + 1);
    }
    return Status::ok();
}

const ZipEntry *ZipArchive::find(std::string_view name) const
{
    const std::size_t mask = m_table.size() - 1;
    std::size_t slot = XXH3_64bits(name.data(), name.size()) & mask;
    for (; m_table[slot] != 0; slot = (slot + 1) & mask)
        if (m_entries[m_table[slot] - 1].name == name)
            return &m_entries[m_table[slot] - 1];
    return nullptr;
}

Result<std::uint64_t> ZipArchive::dataOffset(const ZipEntry &entry) const
{
    if (entry.isLink)
        return Status(ErrorCode::unsupported,
                      fmt::format("{}: entry {} is a symbolic link", fileName(), entry.name))
            .withDetail("link_entry");
    const std::uint64_t room = entry.limitOffset - entry.headerOffset - entry.compressedSize;
    auto bytes = readRange(*m_source, entry.headerOffset,
                           std::min<std::uint64_t>(room, zip::kLocalSize + entry.name.size() + 256),
                           zip::kMax16 * 3ULL);
    if (!bytes)
        return bytes.status();
    const auto extra = loadLittle<std::uint16_t>(bytes->data() + 28);
    const std::uint64_t length = zip::kLocalSize + loadLittle<std::uint16_t>(bytes->data() + 26) + extra;
    if (length > bytes->size() && length <= room)
        bytes = readRange(*m_source, entry.headerOffset, length, zip::kMax16 * 3ULL);
    if (!bytes)
        return bytes.status();
    LocalHeader local;
    const bool read =
        loadLittle<std::uint32_t>(bytes->data()) == zip::kLocalSignature && readLocal(*bytes, local);
    const bool sizesFollow = (local.flags & zip::kFlagDescriptor) != 0;
    if (!read || local.name != entry.name || local.method != entry.method || local.length > room ||
        (!sizesFollow && (local.crc != entry.crc || local.size != entry.size ||
                          local.compressedSize != entry.compressedSize)))
        return corrupt(
            fileName(), "bad_header",
            fmt::format("the local header of entry {} at byte {} does not agree with the directory",
                        entry.name, entry.headerOffset));
    return entry.headerOffset + local.length;
}

Result<std::shared_ptr<const ByteSource>> ZipArchive::open(const ZipEntry &entry) const
{
    const auto offset = dataOffset(entry);
    if (!offset)
        return offset.status();
    std::string name = fmt::format("{}:{}", fileName(), entry.name);
    auto slice = sliceSource(m_source, *offset, entry.compressedSize, name);
    if (entry.isStored())
        return slice;
    if (entry.method != zip::kDeflated)
        return Status(ErrorCode::unsupported, fmt::format("{}: compression method {}", name, entry.method))
            .withDetail("unsupported_method");
    auto bytes = inflateRaw(*slice, entry.size, name);
    if (!bytes)
        return bytes.status();
    if (crc32(0, *bytes) != entry.crc)
        return corrupt(name, "crc_mismatch",
                       fmt::format("CRC is {:08x}, the directory says {:08x}", crc32(0, *bytes), entry.crc));
    return memorySource(std::move(name), std::move(*bytes));
}

Result<std::vector<std::byte>> ZipArchive::read(const ZipEntry &entry, std::uint64_t maximum) const
{
    if (entry.size > maximum)
        return Status(ErrorCode::limitExceeded, fmt::format("{}:{}: {} bytes, the limit is {}", fileName(),
                                                            entry.name, entry.size, maximum));
    const auto source = open(entry);
    if (!source)
        return source.status();
    auto bytes = readRange(**source, 0, entry.size, maximum);
    if (bytes && entry.isStored() && crc32(0, *bytes) != entry.crc)
        return corrupt((*source)->name(), "crc_mismatch",
                       fmt::format("CRC is {:08x}, the directory says {:08x}", crc32(0, *bytes), entry.crc));
    return bytes;
}

Status ZipArchive::verify(const ZipEntry &entry, const JobContext &context) const
{
    const auto source = open(entry);
    if (!source || !entry.isStored())
        return source.status();
    std::vector<std::byte> chunk(std::min<std::uint64_t>(entry.size, std::uint64_t(1) << 20U));
    std::uint32_t crc = 0;
    for (std::uint64_t at = 0; at < entry.size; at += chunk.size()) {
        if (Status status = context.checkpoint("checking " + (*source)->name()); !status)
            return status;
        const auto part = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), entry.size - at));
        if (Status status = (*source)->readAt(at, part); !status)
            return status;
        crc = crc32(crc, part);
    }
    if (crc != entry.crc)
        return corrupt((*source)->name(), "crc_mismatch",
                       fmt::format("CRC is {:08x}, the directory says {:08x}", crc, entry.crc));
    return Status::ok();
}

bool isSafeRelativePath(std::string_view name)
{
    if (name.empty() || name.front() == '/' || (name.size() > 1 && name[1] == ':'))
        return false;
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == '\\')
            return false;
    while (!name.empty()) {
        const std::size_t slash = name.find('/');
        if (name.substr(0, slash) == "..")
            return false;
        name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
    }
    return true;
}

} // namespace core
