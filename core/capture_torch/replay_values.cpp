// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/replay_values.h"

#include "core/base/number_word.h"
#include "core/capture_torch/torch_dtype.h"
#include "core/trace/tensor_reader.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/view_as_real.h>

#include <cstring>

namespace core {

namespace {

at::Tensor rowMajor(const Trace &trace, TensorId id, at::ScalarType type)
{
    const auto shape = trace.shape(id);
    return at::empty(at::IntArrayRef(shape.data(), shape.size()), at::TensorOptions(type));
}

// The same elements with the recorded strides: kernels choose their way by them.
at::Tensor withStrides(const at::Tensor &values, std::span<const std::int64_t> strides)
{
    if (strides.size() != static_cast<std::size_t>(values.dim()) || values.numel() == 0)
        return values;
    std::int64_t last = 0;
    for (std::int64_t d = 0; d < values.dim(); ++d)
        last += strides[static_cast<std::size_t>(d)] * (values.size(d) - 1);
    at::Tensor memory = at::empty({last + 1}, values.options());
    at::Tensor view = memory.as_strided(values.sizes(), at::IntArrayRef(strides.data(), strides.size()));
    at::Tensor target = view;
    at::Tensor source = values;
    for (std::int64_t d = 0; d < values.dim(); ++d)
        if (strides[static_cast<std::size_t>(d)] == 0 && values.size(d) > 1) {
            target = target.narrow(d, 0, 1);
            source = source.narrow(d, 0, 1);
        }
    target.copy_(source);
    return view;
}

std::optional<c10::IValue> codeValue(const Value &value, CodeKind code)
{
    const std::string &name = value.toString();
    if (code == CodeKind::dtype) {
        const auto dtype = dtypeFromName(name);
        const auto type = dtype ? toScalarType(*dtype) : std::nullopt;
        return type ? std::optional<c10::IValue>(static_cast<std::int64_t>(*type)) : std::nullopt;
    }
    for (std::int64_t candidate = 0; candidate < 8; ++candidate)
        if (codeName(code, candidate) == name)
            return c10::IValue(candidate);
    return std::nullopt;
}

std::optional<c10::IValue> typed(const Value &value, c10::TypePtr type, CodeKind code);

std::optional<c10::IValue> listValue(const Value &value, const c10::TypePtr &element)
{
    c10::impl::GenericList list(element);
    for (const Value &item : value.toList()) {
        auto made = typed(item, element, CodeKind::none);
        if (!made)
            return std::nullopt;
        list.push_back(std::move(*made));
    }
    return c10::IValue(std::move(list));
}

// A Python number where an op takes a tensor: it takes part in the choice of the result's type as a number.
c10::IValue wrappedNumber(const Value &value)
{
    const c10::Scalar scalar = value.isBool()  ? c10::Scalar(value.toBool())
                               : value.isInt() ? c10::Scalar(value.toInt())
                                               : c10::Scalar(numberOrWord(value).value_or(0.0));
    at::Tensor tensor = at::scalar_tensor(scalar, at::TensorOptions(scalar.type()));
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
}

std::optional<c10::IValue> typed(const Value &value, c10::TypePtr type, CodeKind code)
{
    if (value.isNull())
        return c10::IValue();
    if (type->kind() == c10::TypeKind::TensorType && (value.isBool() || numberOrWord(value)))
        return wrappedNumber(value);
    if (const auto optional = type->cast<c10::OptionalType>())
        return typed(value, optional->getElementType(), code);
    if (value.isString() && code != CodeKind::none)
        return codeValue(value, code);
    if (const auto list = type->cast<c10::ListType>())
        return value.isList() ? listValue(value, list->getElementType()) : std::nullopt;
    switch (type->kind()) {
    case c10::TypeKind::StringType:
        return c10::IValue(value.toString());
    case c10::TypeKind::DeviceObjType:
        return c10::IValue(c10::Device(value.toString()));
    default:
        break;
    }
    if (value.isBool())
        return c10::IValue(value.toBool());
    if (value.isInt())
        return type->kind() == c10::TypeKind::FloatType ? c10::IValue(value.toDouble())
                                                        : c10::IValue(value.toInt());
    if (const auto number = numberOrWord(value))
        return c10::IValue(*number);
    if (value.isObject() && value.find("re") != nullptr)
        return c10::IValue(c10::complex<double>(value.at("re").toDouble(), value.at("im").toDouble()));
    return std::nullopt;
}

} // namespace

Result<at::Tensor> recordedTensor(const Trace &trace, TensorId id, bool written,
                                  const std::map<std::string, at::Tensor> &state)
{
    const TensorRow &row = trace.tensor(id);
    const auto type = toScalarType(row.dtype);
    const Result<TensorReader> reader = TensorReader::open(trace, id);
    at::Tensor values;
    if (reader && type) {
        const at::AutoDispatchBelowADInplaceOrView noHistory;
        values = rowMajor(trace, id, *type);
        if (Status read =
                reader->read(0, {static_cast<std::byte *>(values.mutable_data_ptr()), values.nbytes()});
            !read)
            return read;
        values = withStrides(values, trace.strides(id));
    } else if (const auto found = state.find(std::string(trace.string(row.address)));
               found != state.end() && row.role != TensorRole::output) {
        values = found->second.detach().clone(at::MemoryFormat::Preserve);
    } else {
        return Status(ErrorCode::notFound, "the values are not in the trace");
    }
    const bool differentiable =
        at::isFloatingType(values.scalar_type()) || at::isComplexType(values.scalar_type());
    if (row.requiresGrad && differentiable) {
        values.set_requires_grad(true);
        // A leaf must not be written; what is written in its place is seen with the same strides.
        if (written)
            values = withStrides(values.clone(at::MemoryFormat::Preserve), trace.strides(id));
    }
    return values;
}

std::optional<c10::IValue> valueToIValue(std::string_view json, const c10::Argument &argument, CodeKind code)
{
    const Result<Value> value = parseJson(json.empty() ? "null" : json, "argument");
    if (!value)
        return std::nullopt;
    if (value->isString() && value->toString().starts_with('<'))
        return std::nullopt;
    return typed(*value, argument.type(), code);
}

c10::IValue tensorListValue(const c10::Argument &argument,
                            const std::vector<std::optional<at::Tensor>> &tensors)
{
    c10::TypePtr type = argument.type();
    if (const auto optional = type->cast<c10::OptionalType>())
        type = optional->getElementType();
    const c10::TypePtr element = type->expectRef<c10::ListType>().getElementType();
    if (element->kind() == c10::TypeKind::OptionalType) {
        c10::List<std::optional<at::Tensor>> list;
        for (const auto &tensor : tensors)
            list.push_back(tensor);
        return list;
    }
    c10::List<at::Tensor> list;
    for (const auto &tensor : tensors)
        list.push_back(tensor.value_or(at::Tensor()));
    return list;
}

bool sameBits(const at::Tensor &left, const at::Tensor &right)
{
    if (left.sizes() != right.sizes() || left.scalar_type() != right.scalar_type())
        return false;
    const at::AutoDispatchBelowADInplaceOrView noHistory;
    const at::Tensor a = left.resolve_conj().resolve_neg().contiguous();
    const at::Tensor b = right.resolve_conj().resolve_neg().contiguous();
    if (std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0)
        return true;
    if (!at::isFloatingType(a.scalar_type()) && !at::isComplexType(a.scalar_type()))
        return false;
    const at::Tensor x = (a.is_complex() ? at::view_as_real(a) : a).to(at::kDouble);
    const at::Tensor y = (b.is_complex() ? at::view_as_real(b) : b).to(at::kDouble);
    return x.eq(y).logical_or(x.isnan().logical_and(y.isnan())).all().item<bool>();
}

Value maximumDifference(const at::Tensor &left, const at::Tensor &right)
{
    if (left.sizes() != right.sizes() || left.numel() == 0 || left.is_complex() != right.is_complex())
        return {};
    const at::AutoDispatchBelowADInplaceOrView noHistory;
    const at::Tensor x = (left.is_complex() ? at::view_as_real(left.contiguous()) : left).to(at::kDouble);
    const at::Tensor y = (right.is_complex() ? at::view_as_real(right.contiguous()) : right).to(at::kDouble);
    return x.sub(y).abs().max().item<double>();
}

} // namespace core
