// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_arguments.h"

#include "core/capture_torch/torch_dtype.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace core::pt2 {

namespace {

// For a message: a nested graph is long.
std::string beginningOf(const std::string &text)
{
    constexpr std::size_t kMost = 120;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

using c10::IValue;
using c10::TypeKind;
using Form = Argument::Form;

c10::TypePtr withoutOptional(c10::TypePtr type)
{
    while (type != nullptr && type->kind() == TypeKind::OptionalType)
        type = type->castRaw<c10::OptionalType>()->getElementType();
    return type;
}

c10::TypePtr elementType(const c10::TypePtr &type)
{
    return type != nullptr && type->kind() == TypeKind::ListType
               ? type->castRaw<c10::ListType>()->getElementType()
               : nullptr;
}

Form listForm(const c10::TypePtr &element)
{
    switch (element->kind()) {
    case TypeKind::TensorType:
        return Form::tensors;
    case TypeKind::OptionalType:
        return withoutOptional(element)->kind() == TypeKind::TensorType ? Form::optionalTensors
                                                                        : listForm(withoutOptional(element));
    case TypeKind::FloatType:
        return Form::floats;
    case TypeKind::BoolType:
        return Form::booleans;
    case TypeKind::NumberType:
        return Form::scalars;
    default:
        return Form::integers;
    }
}

Form scalarForm(const c10::TypePtr &type)
{
    if (type == nullptr)
        return Form::value;
    switch (type->kind()) {
    case TypeKind::TensorType:
        return Form::tensor;
    case TypeKind::FloatType:
        return Form::floating;
    case TypeKind::IntType:
        return Form::integer;
    case TypeKind::BoolType:
        return Form::boolean;
    case TypeKind::NumberType:
        return Form::scalar;
    default:
        return Form::value;
    }
}

bool isNumber(const IValue &value)
{
    return value.isInt() || value.isDouble() || value.isBool() || value.isComplexDouble();
}

// The number inside a one-element tensor. The read is Python's argument conversion, not an op of the user.
IValue unwrapped(const IValue &value)
{
    if (!value.isTensor())
        return value;
    c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::TESTING_ONLY_GenericMode);
    return IValue(value.toTensor().item());
}

IValue wrappedNumber(const IValue &value)
{
    at::Tensor tensor = c10::scalar_to_tensor(value.toScalar());
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
}

std::int64_t toInteger(const IValue &value)
{
    const IValue number = unwrapped(value);
    return number.isBool() ? std::int64_t(number.toBool()) : number.toInt();
}

double toReal(const IValue &value)
{
    const IValue number = unwrapped(value);
    if (number.isBool())
        return number.toBool() ? 1.0 : 0.0;
    return number.isInt() ? static_cast<double>(number.toInt()) : number.toDouble();
}

IValue converted(const IValue &value, Form form)
{
    if (value.isNone())
        return value;
    switch (form) {
    case Form::tensor:
        return isNumber(value) ? wrappedNumber(value) : value;
    case Form::integer:
        return toInteger(value);
    case Form::floating:
        return toReal(value);
    case Form::boolean:
        return isTrue(value);
    case Form::scalar:
        return unwrapped(value);
    default:
        return value;
    }
}

const IValue &content(const Operand &operand, const std::vector<IValue> &slots)
{
    return operand.slot == kNoSlot ? operand.constant : slots[operand.slot];
}

template <class Element, class Convert>
IValue list(const Argument &argument, const std::vector<IValue> &slots, Convert convert)
{
    c10::List<Element> result;
    result.reserve(argument.items.size());
    for (const Operand &operand : argument.items)
        result.push_back(convert(content(operand, slots)));
    return result;
}

IValue listValue(const Argument &argument, const std::vector<IValue> &slots)
{
    switch (argument.form) {
    case Form::tensors:
        return list<at::Tensor>(argument, slots, [](const IValue &value) { return value.toTensor(); });
    case Form::optionalTensors:
        return list<std::optional<at::Tensor>>(argument, slots, [](const IValue &value) {
            return value.isNone() ? std::optional<at::Tensor>() : std::optional<at::Tensor>(value.toTensor());
        });
    case Form::floats:
        return list<double>(argument, slots, toReal);
    case Form::booleans:
        return list<bool>(argument, slots, isTrue);
    case Form::scalars:
        return list<at::Scalar>(argument, slots,
                                [](const IValue &value) { return unwrapped(value).toScalar(); });
    default:
        return list<std::int64_t>(argument, slots, toInteger);
    }
}

bool isListForm(Form form)
{
    return form >= Form::tensors;
}

std::optional<IValue> layoutValue(const Value &code)
{
    switch (layoutFromCode(code)) {
    case LayoutCode::strided:
        return IValue(c10::kStrided);
    case LayoutCode::sparseCoo:
        return IValue(c10::kSparse);
    case LayoutCode::sparseCsr:
        return IValue(c10::kSparseCsr);
    case LayoutCode::sparseCsc:
        return IValue(c10::kSparseCsc);
    case LayoutCode::sparseBsr:
        return IValue(c10::kSparseBsr);
    case LayoutCode::sparseBsc:
        return IValue(c10::kSparseBsc);
    case LayoutCode::mkldnn:
        return IValue(c10::kMkldnn);
    case LayoutCode::unknown:
        break;
    }
    return std::nullopt;
}

std::optional<IValue> memoryFormatValue(const Value &code)
{
    switch (memoryFormatFromCode(code)) {
    case MemoryFormatCode::contiguous:
        return IValue(c10::MemoryFormat::Contiguous);
    case MemoryFormatCode::channelsLast:
        return IValue(c10::MemoryFormat::ChannelsLast);
    case MemoryFormatCode::channelsLast3d:
        return IValue(c10::MemoryFormat::ChannelsLast3d);
    case MemoryFormatCode::preserve:
        return IValue(c10::MemoryFormat::Preserve);
    case MemoryFormatCode::unknown:
        break;
    }
    return std::nullopt;
}

std::optional<IValue> dtypeValue(const Value &code)
{
    const auto type = toScalarType(dtypeFromCode(code));
    return type ? std::optional<IValue>(static_cast<std::int64_t>(*type)) : std::nullopt;
}

IValue stringList(const Value::List &items)
{
    c10::List<std::string> result;
    for (const Value &item : items)
        result.push_back(item.toString());
    return result;
}

bool isListTag(std::string_view tag)
{
    return tag == "as_tensors" || tag == "as_optional_tensors" || tag == "as_ints" || tag == "as_floats" ||
           tag == "as_bools" || tag == "as_sym_ints" || tag == "as_sym_floats" || tag == "as_sym_bools";
}

} // namespace

Slot ArgumentBinder::slotOf(const std::string &name)
{
    const Slot slot = m_find(name);
    if (slot == kNoSlot && m_undefined.empty())
        m_undefined = name;
    return slot;
}

IValue ArgumentBinder::literal(const Tagged &content)
{
    const Value &value = *content.value;
    std::optional<IValue> result;
    if (content.tag == "as_none")
        return {};
    if (content.tag == "as_int")
        return value.toInt();
    if (content.tag == "as_float")
        return toFloat(value);
    if (content.tag == "as_bool")
        return value.toBool();
    if (content.tag == "as_string" || content.tag == "as_operator")
        return value.toString();
    if (content.tag == "as_strings")
        return stringList(value.toList());
    if (content.tag == "as_complex")
        return c10::complex<double>(toFloat(value.at("real")), toFloat(value.at("imag")));
    if (content.tag == "as_scalar_type")
        result = dtypeValue(value);
    else if (content.tag == "as_layout")
        result = layoutValue(value);
    else if (content.tag == "as_memory_format")
        result = memoryFormatValue(value);
    else if (content.tag == "as_device") {
        const std::string device = deviceText(value);
        if (device == "meta")
            return c10::Device(c10::kMeta);
        if (device != "cpu")
            m_devices.push_back(device);
        return c10::Device(c10::kCPU);
    }
    if (!result && m_problem.empty())
        m_problem = std::string(content.tag) + ' ' + beginningOf(toJson(value));
    return result ? *std::move(result) : IValue();
}

// An item of a list: a plain number, {"name": ..}, {"as_tensor": {..}}, {"as_int": ..}, {"as_name": ..},
// {"as_none": ..}.
Operand ArgumentBinder::operandOf(const Value &item)
{
    Operand operand;
    if (!item.isObject()) {
        if (item.isBool())
            operand.constant = item.toBool();
        else if (item.isInt())
            operand.constant = item.toInt();
        else
            operand.constant = toFloat(item);
        return operand;
    }
    const std::string &name = argumentName(item);
    if (name.empty()) {
        operand.constant = literal(tagged(item));
        return operand;
    }
    operand.slot = slotOf(name);
    if (item.find("as_name") != nullptr)
        m_numberSlots.push_back(operand.slot);
    return operand;
}

Argument ArgumentBinder::boundSlot(Slot slot, const c10::TypePtr &type) const
{
    Argument bound;
    bound.slot = slot;
    bound.form = scalarForm(type);
    // One tensor where the schema wants a list.
    if (const auto element = elementType(type)) {
        bound.form = listForm(element);
        bound.items.push_back({slot, {}});
    }
    return bound;
}

Argument ArgumentBinder::boundList(const Value::List &items, const c10::TypePtr &type)
{
    Argument bound;
    const auto element = elementType(type);
    // Without a type (higher-order ops) the operands are spliced; an empty list is always written as a tensor
    // list.
    bound.form = element != nullptr ? listForm(element) : Form::operands;
    bool constant = element != nullptr && bound.form != Form::tensors && bound.form != Form::optionalTensors;
    for (const Value &item : items) {
        bound.items.push_back(operandOf(item));
        constant = constant && bound.items.back().slot == kNoSlot;
    }
    if (constant) {
        bound.constant = listValue(bound, {});
        bound.form = Form::constant;
        bound.items.clear();
    }
    return bound;
}

Argument ArgumentBinder::boundNumber(const Value &number, const c10::TypePtr &type, int count)
{
    Argument bound;
    Operand operand;
    operand.constant = literal(tagged(number));
    if (const auto element = elementType(type)) { // one number for int[2]
        bound.form = listForm(element);
        bound.items.assign(static_cast<std::size_t>(std::max(count, 1)), operand);
        bound.constant = listValue(bound, {});
        bound.form = Form::constant;
        bound.items.clear();
        return bound;
    }
    bound.constant =
        isNumber(operand.constant) ? converted(operand.constant, scalarForm(type)) : operand.constant;
    return bound;
}

Argument ArgumentBinder::bind(const Value &argument, const c10::TypePtr &declared, int count)
{
    const c10::TypePtr type = withoutOptional(declared);
    const Tagged content = tagged(argument);
    if (content.tag == "as_none")
        return {};
    if (isListTag(content.tag))
        return boundList(content.value->toList(), type);
    if (content.tag == "as_tensor")
        return boundSlot(slotOf(content.value->at("name").toString()), type);
    if (content.tag == "as_string_to_argument" && type == nullptr) { // keywords of a higher-order op
        Argument bound;
        bound.form = Form::operands;
        for (const auto &[name, item] : content.value->toObject())
            bound.items.push_back(operandOf(item));
        return bound;
    }
    if (content.tag == "as_optional_tensor")
        return content.value->find("as_tensor") != nullptr ? bind(*content.value, type) : Argument();
    if (content.tag.starts_with("as_sym_")) {
        const std::string &name = argumentName(*content.value);
        if (name.empty())
            return boundNumber(*content.value, type, count);
        m_numberSlots.push_back(slotOf(name));
        return boundSlot(m_numberSlots.back(), type);
    }
    return boundNumber(argument, type, count);
}

Argument ArgumentBinder::bindUntyped(const Value &argument)
{
    return bind(argument, nullptr);
}

IValue evaluate(const Argument &argument, const std::vector<IValue> &slots)
{
    switch (argument.form) {
    case Form::constant:
        return argument.constant;
    case Form::value:
        return slots[argument.slot];
    case Form::tensor: {
        const IValue &value = slots[argument.slot];
        return value.isTensor() ? value : converted(value, Form::tensor);
    }
    case Form::operands: {
        c10::impl::GenericList result(c10::AnyType::get());
        for (const Operand &operand : argument.items)
            result.push_back(content(operand, slots));
        return result;
    }
    default:
        return isListForm(argument.form) ? listValue(argument, slots)
                                         : converted(slots[argument.slot], argument.form);
    }
}

void evaluateInto(std::vector<IValue> &out, const Argument &argument, const std::vector<IValue> &slots)
{
    if (argument.form == Form::operands) {
        for (const Operand &operand : argument.items)
            out.push_back(content(operand, slots));
        return;
    }
    out.push_back(evaluate(argument, slots));
}

bool isTrue(const IValue &value)
{
    const IValue number = unwrapped(value);
    if (number.isBool())
        return number.toBool();
    return number.isInt() ? number.toInt() != 0 : number.toDouble() != 0.0;
}

} // namespace core::pt2
