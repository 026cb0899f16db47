// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/reference_listener.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

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

} // namespace

c10::ScalarType referenceType(c10::ScalarType type, c10::ScalarType reference)
{
    if (at::isComplexType(type))
        return c10::toComplexType(reference == c10::kBFloat16 ? c10::kFloat : reference);
    return at::isFloatingType(type) ? reference : type;
}

ReferenceListener::ReferenceListener(OpListener &next, c10::ScalarType type)
    : m_next(next), m_type(type), m_defaultBefore(c10::get_default_dtype_as_scalartype())
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
}

void ReferenceListener::opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack)
{
    m_next.opEnded(op, stack);
}

void ReferenceListener::opFailed(const c10::OperatorHandle &op) noexcept
{
    m_next.opFailed(op);
}

} // namespace core
