// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/reference_listener.h"

#include "core/analysis/rerun_reports.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

#include <algorithm>
#include <utility>

namespace core {

namespace {

bool isDtypeArgument(const c10::Argument &argument)
{
    c10::TypePtr type = argument.real_type();
    if (const auto optional = type->cast<c10::OptionalType>())
        type = optional->getElementType();
    return type->kind() == c10::TypeKind::ScalarTypeType;
}

bool needsCast(const at::Tensor &tensor, c10::ScalarType reference)
{
    return tensor.defined() && !tensor.is_quantized() && !tensor.unsafeGetTensorImpl()->is_wrapped_number() &&
           referenceType(tensor.scalar_type(), reference) != tensor.scalar_type();
}

at::Tensor cast(const at::Tensor &tensor, c10::ScalarType reference)
{
    return needsCast(tensor, reference) ? tensor.to(referenceType(tensor.scalar_type(), reference)) : tensor;
}

void castArgument(c10::IValue &value, c10::ScalarType reference)
{
    if (value.isTensor()) {
        if (needsCast(value.toTensor(), reference))
            value = cast(value.toTensor(), reference);
    } else if (value.isTensorList()) {
        c10::List<at::Tensor> items;
        for (const at::Tensor &item : value.toTensorVector())
            items.push_back(cast(item, reference));
        value = std::move(items);
    }
}

// What it gives is made of the bits of its input and not of its value.
bool readsBits(const c10::OperatorHandle &op)
{
    return op.schema().name() == "aten::view" && op.schema().overload_name() == "dtype";
}

std::string nameOf(c10::ScalarType type)
{
    return std::string(dtypeName(fromScalarType(type)));
}

// The first sentence of an error of LibTorch's, for a table.
std::string shortened(std::string text)
{
    constexpr std::size_t kLongest = 160;
    text.resize(std::min(text.size(), text.find('\n')));
    while (text.ends_with('.') || text.ends_with(' '))
        text.pop_back();
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
}

} // namespace

c10::ScalarType referenceType(c10::ScalarType type, c10::ScalarType reference)
{
    if (at::isComplexType(type))
        return c10::toComplexType(reference == c10::kBFloat16 ? c10::kFloat : reference);
    return at::isFloatingType(type) ? reference : type;
}

ReferenceListener::ReferenceListener(OpRecorder &next, c10::ScalarType type,
                                     std::shared_ptr<const Trace> native)
    : m_next(next), m_type(type), m_defaultBefore(c10::get_default_dtype_as_scalartype()),
      m_native(std::move(native)), m_ownType(type)
{
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(type));
}

ReferenceListener::~ReferenceListener()
{
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(m_defaultBefore));
}

void ReferenceListener::opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                                 const OpMode &mode)
{
    const auto &arguments = op.schema().arguments();
    // It checks dtypes that no longer are what they were; the row stays, so that labels stay.
    const bool assertion = op.schema().name() == "aten::_assert_tensor_metadata";
    const std::size_t first = stack.size() - arguments.size();
    m_own = false;
    m_given.assign(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        c10::IValue &value = stack[first + i];
        const c10::AliasInfo *alias = arguments[i].alias_info();
        if (value.isInt() && isDtypeArgument(arguments[i])) {
            const auto type = static_cast<c10::ScalarType>(value.toInt());
            value = assertion ? c10::IValue()
                              : c10::IValue(static_cast<std::int64_t>(referenceType(type, m_type)));
        } else if (alias == nullptr || !alias->isWrite()) {
            castArgument(value, m_type);
        }
    }
    m_next.opStarts(op, stack, mode);
    if (!readsBits(op))
        return;
    std::vector<c10::IValue> below(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(first));
    if (putOwnArguments(op, below)) {
        stack = std::move(below);
        m_why = "it reads bits, which mean something else in " + nameOf(m_type);
    }
}

bool ReferenceListener::triesAgain(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                                   const std::exception &error)
{
    if (m_own || !putOwnArguments(op, stack))
        return false;
    m_why = "it does not run in " + nameOf(m_type) + " (" + shortened(failureText(error)) + ")";
    return true;
}

// The type that TENSOR had where the model ran as it is: argument ARGUMENT of the running call, and which of
// its tensors.
c10::ScalarType ReferenceListener::ownType(std::size_t argument, std::size_t item,
                                           const at::Tensor &tensor) const
{
    const bool complex = at::isComplexType(tensor.scalar_type());
    const c10::ScalarType fallback = complex ? c10::kComplexFloat : c10::kFloat;
    const RecordId call = m_next.runningCall();
    if (!m_native || call >= m_native->calls().size())
        return fallback;
    const CallRow &row = m_native->call(CallId(call));
    if (m_native->string(row.op) != m_next.runningName())
        return fallback;
    const auto arguments = m_native->arguments(CallId(call));
    if (argument >= arguments.size())
        return fallback;
    const auto tensors = m_native->tensorIds(arguments[argument].tensors);
    if (item >= tensors.size() || !tensors[item].isValid())
        return fallback;
    return toScalarType(m_native->tensor(tensors[item]).dtype).value_or(fallback);
}

at::Tensor ReferenceListener::inOwnType(const at::Tensor &tensor, std::size_t argument, std::size_t item,
                                        bool written)
{
    if (!tensor.defined() || tensor.is_quantized() || tensor.unsafeGetTensorImpl()->is_wrapped_number() ||
        !(at::isFloatingType(tensor.scalar_type()) || at::isComplexType(tensor.scalar_type())))
        return tensor;
    const c10::ScalarType own = ownType(argument, item, tensor);
    if (own == tensor.scalar_type())
        return tensor;
    if (!std::exchange(m_own, true))
        m_ownType = own;
    at::Tensor converted = tensor.to(own);
    if (written)
        m_written.emplace_back(tensor, converted);
    return converted;
}

// Appends the running op's arguments as they would be without a reference dtype. False, and nothing appended:
// they are the same.
bool ReferenceListener::putOwnArguments(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack)
{
    const auto &arguments = op.schema().arguments();
    std::vector<c10::IValue> own = m_given;
    m_written.clear();
    for (std::size_t i = 0; i < own.size(); ++i) {
        const c10::AliasInfo *alias = arguments[i].alias_info();
        const bool written = alias != nullptr && alias->isWrite();
        if (own[i].isTensor()) {
            own[i] = inOwnType(own[i].toTensor(), i, 0, written);
        } else if (own[i].isTensorList()) {
            c10::List<at::Tensor> items;
            std::size_t item = 0;
            for (const at::Tensor &tensor : own[i].toTensorVector())
                items.push_back(inOwnType(tensor, i, item++, written));
            own[i] = std::move(items);
        } else if (own[i].isInt() && isDtypeArgument(arguments[i])) {
            const auto type = static_cast<c10::ScalarType>(own[i].toInt());
            if (referenceType(type, m_type) != type && !std::exchange(m_own, true))
                m_ownType = type;
        }
    }
    if (m_own)
        stack.insert(stack.end(), own.begin(), own.end());
    return m_own;
}

// What was written goes to where it belongs, and what was made goes on in the reference dtype.
void ReferenceListener::takeOwnResults(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack)
{
    for (const auto &[tensor, converted] : m_written) {
        if (tensor.sizes() != converted.sizes())
            tensor.resize_(converted.sizes());
        tensor.copy_(converted);
    }
    const auto result = [this](const at::Tensor &tensor) {
        for (const auto &[original, converted] : m_written)
            if (tensor.is_same(converted))
                return original;
        return cast(tensor, m_type);
    };
    for (std::size_t i = stack.size() - op.schema().returns().size(); i < stack.size(); ++i) {
        if (stack[i].isTensor()) {
            stack[i] = result(stack[i].toTensor());
        } else if (stack[i].isTensorList()) {
            c10::List<at::Tensor> items;
            for (const at::Tensor &item : stack[i].toTensorVector())
                items.push_back(result(item));
            stack[i] = std::move(items);
        }
    }
    m_written.clear();
    if (const RecordId call = m_next.runningCall(); call != kNoRecord)
        m_next.out().add(
            DiagnosticRecord{std::string(kOwnDtypeToken), m_why + ": it ran in " + nameOf(m_ownType), call});
}

void ReferenceListener::opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack)
{
    if (m_own)
        takeOwnResults(op, stack);
    m_given.clear();
    m_next.opEnded(op, stack);
}

void ReferenceListener::opFailed(const c10::OperatorHandle &op) noexcept
{
    m_written.clear();
    m_given.clear();
    m_next.opFailed(op);
}

} // namespace core
