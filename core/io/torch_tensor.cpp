// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/torch_tensor.h"

#include "core/io/pickle_value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace core {
namespace {

using Maybe = Result<std::optional<TorchTensor>>;

constexpr int kWrappers = 8; // a Parameter in a subclass in a ...
constexpr std::uint64_t kDenseBytes = std::uint64_t(256) << 20U;

std::vector<std::int64_t> integers(PickleValue value)
{
    std::vector<std::int64_t> numbers;
    for (const PickleValue item : pickleItems(value))
        numbers.push_back(item.toInt(-1));
    return numbers;
}

TorchTensor unreadable(std::string reason, DType dtype, std::vector<std::int64_t> shape)
{
    TorchTensor tensor;
    tensor.layout = "strided";
    tensor.unreadable = std::move(reason);
    tensor.values.dtype = dtype;
    tensor.values.shape = std::move(shape);
    return tensor;
}

// Arguments of _rebuild_tensor, _v2 and _v3 begin alike: storage, offset, size, stride, requires_grad, hooks;
// _v3 has the dtype next; the last may be a dictionary with the conj and neg bits.
Maybe stridedTensor(const TorchFile &file, PickleValue args, std::string_view form)
{
    const auto storage = file.storage(args.item(0));
    if (!storage)
        return storage.status();
    TorchTensor tensor;
    tensor.layout = "strided";
    tensor.storageKey = storage->key;
    StoredTensor &values = tensor.values;
    values.dtype = form == "_rebuild_tensor_v3" ? dtypeFromName(args.item(6).name()).value_or(DType::unknown)
                                                : storage->dtype;
    values.storageOffset = args.item(1).toInt(-1);
    values.shape = integers(args.item(2));
    values.strides = integers(args.item(3));
    tensor.requiresGrad = args.item(4).toBool();
    if (values.dtype == DType::unknown) {
        tensor.unreadable = "unknown_dtype";
        return std::optional(tensor);
    }
    if (!storage->bytes) {
        tensor.unreadable = "missing_record";
        return std::optional(tensor);
    }
    const PickleValue metadata = args.item(args.size() - 1);
    values.isConjugate = metadata.find("conj").toBool();
    values.isNegated = metadata.find("neg").toBool();
    values.isBigEndian = file.isBigEndian();
    values.storage = storage->bytes;
    if (Status status = checkStoredTensor(values, file.name() + ":" + storage->key); !status)
        return status;
    return std::optional(tensor);
}

// Adds one element of WIDTH bytes into its place of the dense form: entries of a sparse tensor that is not
// coalesced stand for their sum, which is only formed for float32 and float64.
void addElement(DType dtype, std::byte *target, const std::byte *source)
{
    if (dtype == DType::float32) {
        float a = 0.0F;
        float b = 0.0F;
        std::memcpy(&a, target, sizeof a);
        std::memcpy(&b, source, sizeof b);
        a += b;
        std::memcpy(target, &a, sizeof a);
    } else if (dtype == DType::float64) {
        double a = 0.0;
        double b = 0.0;
        std::memcpy(&a, target, sizeof a);
        std::memcpy(&b, source, sizeof b);
        a += b;
        std::memcpy(target, &a, sizeof a);
    } else {
        std::memcpy(target, source, itemSize(dtype));
    }
}

// The dense form of a COO tensor: INDICES [sparse dims, entries], VALUES [entries, dense dims...].
Maybe denseFromCoo(const TorchFile &file, const StoredTensor &indices, const StoredTensor &values,
                   std::vector<std::int64_t> shape)
{
    TorchTensor tensor;
    tensor.layout = "sparse_coo";
    tensor.values.dtype = values.dtype;
    tensor.values.shape = shape;
    tensor.values.strides = rowMajorStrides(shape);
    const auto bad = [&](std::string_view what) {
        return Status(ErrorCode::corrupt, fmt::format("{}: a sparse tensor {}", file.name(), what))
            .withDetail("tensor_out_of_bounds");
    };
    const std::size_t dims = indices.shape.size() == 2 ? static_cast<std::size_t>(indices.shape[0]) : 0;
    std::uint64_t bytes = itemSize(values.dtype);
    for (const std::int64_t extent : shape)
        if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
            return bad("whose shape does not fit 64 bits");
    if (indices.dtype != DType::int64 || indices.shape.size() != 2 || dims > shape.size() ||
        values.shape.empty() || values.shape[0] != indices.shape[1] ||
        values.shape.size() - 1 != shape.size() - dims ||
        !std::equal(values.shape.begin() + 1, values.shape.end(), shape.begin() + static_cast<long>(dims)))
        return bad("whose indices, values and shape do not fit each other");
    if (bytes > kDenseBytes || indices.byteCount() > kDenseBytes || values.byteCount() > kDenseBytes) {
        tensor.unreadable = "too_large";
        return std::optional(tensor);
    }
    std::vector<std::byte> dense(bytes);
    std::vector<std::byte> rawIndices(indices.byteCount());
    std::vector<std::byte> rawValues(values.byteCount());
    if (Status status = readElements(indices, 0, rawIndices); !status)
        return status;
    if (Status status = readElements(values, 0, rawValues); !status)
        return status;
    const auto entries = static_cast<std::size_t>(indices.shape[1]);
    const std::size_t item = itemSize(values.dtype);
    const std::size_t block = entries == 0 ? 0 : rawValues.size() / entries;
    for (std::size_t entry = 0; entry < entries; ++entry) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < dims; ++d) {
            std::int64_t index = 0;
            std::memcpy(&index, rawIndices.data() + (d * entries + entry) * sizeof index, sizeof index);
            if (index < 0 || index >= shape[d])
                return bad(fmt::format("with index {} in a dimension of {}", index, shape[d]));
            at += index * tensor.values.strides[d];
        }
        for (std::size_t k = 0; k < block; k += item)
            addElement(values.dtype, dense.data() + static_cast<std::size_t>(at) * item + k,
                       rawValues.data() + entry * block + k);
    }
    tensor.values.storage = memorySource(file.name() + ":sparse", std::move(dense));
    return std::optional(tensor);
}

Maybe rebuiltTensor(const TorchFile &file, PickleValue value, bool isPart);

// Its parts are no sparse tensors themselves: a file in which they were could go round in a circle.
Maybe sparseTensor(const TorchFile &file, PickleValue args)
{
    const PickleValue content = args.item(1);
    const std::string layout = pickleText(args.item(0));
    const bool isCoo = layout.find("coo") != std::string::npos;
    if (!isCoo) { // two lists of indices, the values, the size
        const auto values = rebuiltTensor(file, content.item(2), true);
        return std::optional(unreadable("sparse_" + layout.substr(layout.rfind('_') + 1),
                                        values && *values ? (*values)->values.dtype : DType::unknown,
                                        integers(content.item(3))));
    }
    const auto indices = rebuiltTensor(file, content.item(0), true);
    const auto values = rebuiltTensor(file, content.item(1), true);
    if (!indices || !values)
        return indices ? values.status() : indices.status();
    if (!*indices || !*values || !(*indices)->unreadable.empty() || !(*values)->unreadable.empty())
        return std::optional(unreadable("missing_record", DType::unknown, {}));
    return denseFromCoo(file, (*indices)->values, (*values)->values, integers(content.item(2)));
}

Maybe quantizedTensor(const TorchFile &file, PickleValue args)
{
    const auto storage = file.storage(args.item(0));
    return std::optional(
        unreadable("quantized", storage ? storage->dtype : DType::unknown, integers(args.item(2))));
}

Maybe rebuiltTensor(const TorchFile &file, PickleValue value, bool isPart)
{
    bool isParameter = false;
    for (int depth = 0; depth < kWrappers && value.is(PickleKind::instance); ++depth) {
        PickleValue callable = value.callable();
        PickleValue args = value.args();
        if (callable.fullName() == "torch._tensor._rebuild_from_type_v2") {
            callable = args.item(0);
            args = args.item(2);
        }
        const std::string_view name = callable.name();
        const std::string_view module = callable.module();
        if (module != "torch._utils" && !(module == "torch.nn.parameter" && name == "Parameter"))
            return std::optional<TorchTensor>();
        Maybe result = std::optional<TorchTensor>();
        if (name == "_rebuild_tensor" || name == "_rebuild_tensor_v2" || name == "_rebuild_tensor_v3")
            result = stridedTensor(file, args, name);
        else if (name == "_rebuild_sparse_tensor" || name == "_rebuild_sparse_csr_tensor")
            result = isPart ? Maybe(std::optional(unreadable("sparse_part", DType::unknown, {})))
                            : sparseTensor(file, args);
        else if (name == "_rebuild_qtensor")
            result = quantizedTensor(file, args);
        else if (name == "_rebuild_meta_tensor_no_storage")
            result = std::optional(unreadable(
                "meta", dtypeFromName(args.item(0).name()).value_or(DType::unknown), integers(args.item(1))));
        else if (name == "_rebuild_wrapper_subclass")
            result = std::optional(unreadable("subclass",
                                              dtypeFromName(args.item(1).name()).value_or(DType::unknown),
                                              integers(args.item(2))));
        else if (name == "_rebuild_parameter" || name == "_rebuild_parameter_with_state" ||
                 name == "Parameter" || name == "_rebuild_device_tensor_from_cpu_tensor") {
            isParameter = isParameter || name != "_rebuild_device_tensor_from_cpu_tensor";
            value = args.item(0);
            continue;
        }
        if (result && *result)
            (*result)->isParameter = isParameter;
        return result;
    }
    return std::optional<TorchTensor>();
}

} // namespace

Maybe torchTensor(const TorchFile &file, PickleValue value)
{
    return rebuiltTensor(file, value, false);
}

} // namespace core
