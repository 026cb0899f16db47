// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/torch_save_reader.h"

#include "core/capture_torch/torch_storage.h"
#include "core/io/pickle.h"
#include "core/io/zip_reader.h"

#include <ATen/core/Dict.h>

#include <algorithm>
#include <array>
#include <map>

namespace core {

namespace {

constexpr int kMaxDepth = 64;
constexpr std::uint64_t kMaxPickleBytes = std::uint64_t(256) << 20U;
constexpr std::size_t kMaxValues = 4'000'000;

// An error deep inside the conversion; caught in readTorchSave.
struct ReadError
{
    Status status;
};

[[noreturn]] void fail(ErrorCode code, std::string message, const char *detail)
{
    throw ReadError{Status(code, std::move(message)).withDetail(detail)};
}

struct StorageClass
{
    std::string_view name;
    DType dtype;
};
constexpr std::array kStorageClasses = {
    StorageClass{"FloatStorage", DType::float32},
    StorageClass{"DoubleStorage", DType::float64},
    StorageClass{"HalfStorage", DType::float16},
    StorageClass{"BFloat16Storage", DType::bfloat16},
    StorageClass{"LongStorage", DType::int64},
    StorageClass{"IntStorage", DType::int32},
    StorageClass{"ShortStorage", DType::int16},
    StorageClass{"CharStorage", DType::int8},
    StorageClass{"ByteStorage", DType::uint8},
    StorageClass{"BoolStorage", DType::boolean},
    StorageClass{"ComplexFloatStorage", DType::complex64},
    StorageClass{"ComplexDoubleStorage", DType::complex128},
};

class Converter
{
public:
    Converter(const ZipArchive &zip, std::string root) : m_zip(zip), m_root(std::move(root)) {}

    c10::IValue convert(const PickleValue &value, int depth);
    TorchSaveContent content; // root is set by the caller

private:
    struct StorageRef
    {
        c10::Storage storage;
        DType dtype = DType::unknown; // unknown for an untyped storage
    };

    c10::IValue convertInstance(const PickleValue &value, int depth);
    c10::IValue convertDict(const PickleValue &pairs, int depth);
    c10::IValue convertTensor(const PickleValue &args, bool dtypeGiven);
    StorageRef storage(const PickleValue &persistent);
    c10::IValue foreign(const std::string &name);
    static std::vector<std::int64_t> integers(const PickleValue &tuple);

    const ZipArchive &m_zip;
    std::string m_root;
    std::map<std::string, c10::Storage> m_storages;
    std::size_t m_values = 0;
};

c10::IValue Converter::foreign(const std::string &name)
{
    if (std::find(content.foreign.begin(), content.foreign.end(), name) == content.foreign.end())
        content.foreign.push_back(name);
    return {};
}

std::vector<std::int64_t> Converter::integers(const PickleValue &tuple)
{
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < tuple.size(); ++i)
        result.push_back(tuple.item(i).toInt(-1));
    return result;
}

Converter::StorageRef Converter::storage(const PickleValue &persistent)
{
    const PickleValue id = persistent.item(0);
    if (!persistent.is(PickleKind::persistent) || id.size() < 5 || id.item(0).text() != "storage")
        fail(ErrorCode::corrupt, m_zip.fileName() + ": a tensor without a storage", "bad_pickle");
    const std::string key(id.item(2).text());
    StorageRef ref;
    for (const StorageClass &entry : kStorageClasses)
        if (id.item(1).name() == entry.name)
            ref.dtype = entry.dtype;
    const std::string location(id.item(3).text());
    if (location != "cpu" && !location.empty() &&
        std::find(content.devices.begin(), content.devices.end(), location) == content.devices.end())
        content.devices.push_back(location);
    if (const auto known = m_storages.find(key); known != m_storages.end()) {
        ref.storage = known->second;
        return ref;
    }
    const ZipEntry *entry = m_zip.find(m_root + "data/" + key);
    if (entry == nullptr)
        fail(ErrorCode::corrupt, m_zip.fileName() + ": no record data/" + key, "missing_record");
    auto bytes = m_zip.open(*entry);
    if (!bytes)
        throw ReadError{bytes.error()};
    auto read = readStorage(**bytes, m_zip.fileName() + ": data/" + key);
    if (!read)
        throw ReadError{read.error()};
    ref.storage = m_storages.emplace(key, *read).first->second;
    return ref;
}

// torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata]); v3 has
// the dtype behind the hooks.
c10::IValue Converter::convertTensor(const PickleValue &args, bool dtypeGiven)
{
    const StorageRef ref = storage(args.item(0));
    StorageView view;
    view.dtype = ref.dtype;
    if (dtypeGiven)
        view.dtype = dtypeFromName(args.item(6).fullName()).value_or(DType::unknown);
    view.offset = args.item(1).toInt(-1);
    view.sizes = integers(args.item(2));
    view.strides = integers(args.item(3));
    auto tensor = viewStorage(ref.storage, view, m_zip.fileName());
    if (!tensor)
        throw ReadError{tensor.error()};
    return *std::move(tensor);
}

c10::IValue Converter::convertDict(const PickleValue &pairs, int depth)
{
    c10::impl::GenericDict result(c10::StringType::get(), c10::AnyType::get());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const PickleValue key = pairs.key(i);
        const std::string name =
            key.is(PickleKind::string) ? std::string(key.text()) : std::to_string(key.toInt());
        result.insert_or_assign(name, convert(pairs.value(i), depth + 1));
    }
    return result;
}

c10::IValue Converter::convertInstance(const PickleValue &value, int depth)
{
    const std::string name = value.fullName();
    if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor")
        return convertTensor(value.args(), false);
    if (name == "torch._utils._rebuild_tensor_v3")
        return convertTensor(value.args(), true);
    if (name == "torch._utils._rebuild_parameter" || name == "torch._utils._rebuild_parameter_with_state") {
        c10::IValue data = convert(value.args().item(0), depth + 1);
        if (data.isTensor() && value.args().item(1).toBool() &&
            (data.toTensor().is_floating_point() || data.toTensor().is_complex()))
            data.toTensor().requires_grad_(true);
        return data;
    }
    if (name == "collections.OrderedDict")
        return convertDict(value.dictItems(), depth);
    if (name == "torch.Size")
        return convert(value.args().item(0), depth + 1);
    // Objects of classes that are not here: a named tuple is made of its items, a dataclass has its fields as
    // its state. Neither is made.
    if (value.isConstruction() && value.args().size() > 0)
        return convert(value.args(), depth + 1);
    if (value.isConstruction() && value.state().is(PickleKind::dict))
        return convertDict(value.state(), depth);
    return foreign(name);
}

c10::IValue Converter::convert(const PickleValue &value, int depth)
{
    if (depth > kMaxDepth)
        fail(ErrorCode::limitExceeded,
             m_zip.fileName() + ": nested deeper than " + std::to_string(kMaxDepth) + " levels",
             "nesting_too_deep");
    if (++m_values > kMaxValues)
        fail(ErrorCode::limitExceeded,
             m_zip.fileName() + ": more than " + std::to_string(kMaxValues) + " values", "too_many_values");
    switch (value.kind()) {
    case PickleKind::none:
        return {};
    case PickleKind::boolean:
        return value.toBool();
    case PickleKind::integer:
        return value.toInt();
    case PickleKind::real:
        return value.toDouble();
    case PickleKind::string:
        return std::string(value.text());
    case PickleKind::list:
    case PickleKind::set: {
        c10::impl::GenericList list(c10::AnyType::get());
        for (std::size_t i = 0; i < value.size(); ++i)
            list.push_back(convert(value.item(i), depth + 1));
        return list;
    }
    case PickleKind::tuple: {
        std::vector<c10::IValue> items;
        for (std::size_t i = 0; i < value.size(); ++i)
            items.push_back(convert(value.item(i), depth + 1));
        return c10::ivalue::Tuple::create(std::move(items));
    }
    case PickleKind::dict:
        return convertDict(value, depth);
    case PickleKind::instance:
        return convertInstance(value, depth);
    case PickleKind::global:
        return foreign(value.fullName());
    default:
        return foreign("a value of an unknown kind");
    }
}

// The folder all records are in: that of data.pkl.
Result<std::string> rootFolder(const ZipArchive &zip)
{
    constexpr std::string_view kPickle = "data.pkl";
    for (const ZipEntry &entry : zip.entries()) {
        const auto slash = entry.name.find('/');
        const std::string_view name =
            slash == std::string_view::npos ? entry.name : entry.name.substr(slash + 1);
        if (name == kPickle)
            return std::string(entry.name.substr(0, entry.name.size() - kPickle.size()));
    }
    return Status(ErrorCode::unknownFormat, zip.fileName() + ": no data.pkl, not a file of torch.save")
        .withDetail("missing_record");
}

Status checkByteOrder(const ZipArchive &zip, const std::string &root)
{
    const ZipEntry *entry = zip.find(root + "byteorder");
    if (entry == nullptr)
        return Status::ok();
    auto bytes = zip.read(*entry, 64);
    if (!bytes)
        return bytes.error();
    const std::string_view order(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    if (order.starts_with("big"))
        return Status(ErrorCode::unsupported, zip.fileName() + ": big-endian data").withDetail("big_endian");
    return Status::ok();
}

} // namespace

Result<TorchSaveContent> readTorchSave(std::shared_ptr<const ByteSource> source, LoadReport &report)
{
    auto zip = ZipArchive::open(std::move(source), report);
    if (!zip)
        return zip.error();
    auto root = rootFolder(**zip);
    if (!root)
        return root.error();
    if (Status status = checkByteOrder(**zip, *root); !status)
        return status;
    auto bytes = (*zip)->read(*(*zip)->find(*root + "data.pkl"), kMaxPickleBytes);
    if (!bytes)
        return bytes.error();
    auto graph = PickleGraph::parse(std::make_shared<const std::vector<std::byte>>(*std::move(bytes)), 0,
                                    (*zip)->fileName() + ": data.pkl");
    if (!graph)
        return graph.error();
    Converter converter(**zip, *root);
    try {
        converter.content.root = converter.convert((*graph)->root(), 0);
    } catch (const ReadError &error) {
        return error.status;
    } catch (const std::exception &error) {
        return Status(ErrorCode::corrupt, (*zip)->fileName() + ": " + error.what());
    }
    for (const std::string &name : converter.content.foreign)
        report.add("foreign_global", (*zip)->fileName() + ": " + name + " is not read");
    return std::move(converter.content);
}

} // namespace core
