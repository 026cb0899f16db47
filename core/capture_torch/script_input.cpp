// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs as the types of forward's arguments want them: TorchScript tells List[float] from List[int], a named
// tuple from a tuple and Dict[int, Tensor] from Dict[str, Tensor]; what the user wrote does not.
#include "core/base/dtype.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_type.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <charconv>

namespace core {

namespace {

using c10::IValue;
using c10::TypeKind;

std::string textOf(const IValue &value)
{
    if (value.isTensor())
        return "a tensor";
    if (value.isGenericDict())
        return "a dict";
    if (value.isList() || value.isTuple())
        return value.isList() ? "a list" : "a tuple";
    if (value.isString())
        return '"' + value.toStringRef() + '"';
    if (value.isBool())
        return value.toBool() ? "True" : "False";
    if (value.isInt())
        return std::to_string(value.toInt());
    if (value.isDouble())
        return std::to_string(value.toDouble());
    return value.isNone() ? "None" : value.tagKind();
}

Status mismatch(const std::string &where, const c10::Type &type, const IValue &value)
{
    return Status(ErrorCode::invalidArgument,
                  "input " + where + ": expected " + type.annotation_str() + ", got " + textOf(value))
        .withDetail("wrong_type");
}

Result<IValue> typed(const IValue &value, const c10::TypePtr &type, const std::string &where);

// The items of a list or a tuple: what is written as one may be meant as the other.
std::optional<std::vector<IValue>> itemsOf(const IValue &value)
{
    if (value.isTuple())
        return value.toTupleRef().elements().vec();
    if (value.isList())
        return value.toListRef().vec();
    return std::nullopt;
}

Result<IValue> typedList(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    const c10::TypePtr element = type->expectRef<c10::ListType>().getElementType();
    const auto items = itemsOf(value);
    if (!items)
        return mismatch(where, *type, value);
    c10::impl::GenericList list(element);
    for (std::size_t i = 0; i < items->size(); ++i) {
        Result<IValue> item = typed((*items)[i], element, where + '.' + std::to_string(i));
        if (!item)
            return item;
        list.push_back(*std::move(item));
    }
    return IValue(std::move(list));
}

// The items of a named tuple may be given by name.
std::optional<std::vector<IValue>> fieldsOf(const IValue &value, const c10::TupleType &type)
{
    if (!value.isGenericDict() || !type.schema())
        return std::nullopt;
    std::vector<IValue> items;
    for (const c10::Argument &field : type.schema()->arguments()) {
        if (!value.toGenericDict().contains(field.name()))
            return std::nullopt;
        items.push_back(value.toGenericDict().at(field.name()));
    }
    return items.size() == value.toGenericDict().size() ? std::optional(std::move(items)) : std::nullopt;
}

Result<IValue> typedTuple(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    const auto tuple = type->cast<c10::TupleType>();
    const auto fields = fieldsOf(value, *tuple);
    const auto items = fields ? fields : itemsOf(value);
    if (!items)
        return mismatch(where, *type, value);
    if (items->size() != tuple->elements().size())
        return Status(ErrorCode::invalidArgument, "input " + where + ": expected " + type->annotation_str() +
                                                      " of " + std::to_string(tuple->elements().size()) +
                                                      " items, got " + std::to_string(items->size()))
            .withDetail("wrong_type");
    std::vector<IValue> made;
    for (std::size_t i = 0; i < items->size(); ++i) {
        Result<IValue> item = typed((*items)[i], tuple->elements()[i], where + '.' + std::to_string(i));
        if (!item)
            return item;
        made.push_back(*std::move(item));
    }
    return IValue(c10::ivalue::Tuple::createNamed(std::move(made), tuple));
}

// Keys of a tree of inputs are texts; the model's may be numbers.
std::optional<IValue> keyOf(const std::string &text, TypeKind kind)
{
    if (kind == TypeKind::StringType)
        return IValue(text);
    const char *const end = text.data() + text.size();
    const auto parsed = [end](const std::from_chars_result &result) {
        return result.ec == std::errc() && result.ptr == end;
    };
    if (std::int64_t number = 0;
        kind == TypeKind::IntType && parsed(std::from_chars(text.data(), end, number)))
        return IValue(number);
    if (double number = 0; kind == TypeKind::FloatType && parsed(std::from_chars(text.data(), end, number)))
        return IValue(number);
    if (kind == TypeKind::BoolType &&
        (text == "True" || text == "true" || text == "False" || text == "false"))
        return IValue(text.front() == 'T' || text.front() == 't');
    return std::nullopt;
}

Result<IValue> typedDict(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    if (!value.isGenericDict())
        return mismatch(where, *type, value);
    const auto dict = type->cast<c10::DictType>();
    c10::impl::GenericDict made(dict->getKeyType(), dict->getValueType());
    for (const auto &entry : value.toGenericDict()) {
        const std::string &text = entry.key().toStringRef();
        const auto key = keyOf(text, dict->getKeyType()->kind());
        if (!key)
            return Status(ErrorCode::invalidArgument, "input " + where + ": key \"" + text + "\" is no " +
                                                          dict->getKeyType()->annotation_str())
                .withDetail("wrong_type");
        Result<IValue> item = typed(entry.value(), dict->getValueType(), where + '.' + text);
        if (!item)
            return item;
        made.insert_or_assign(*key, *std::move(item));
    }
    return IValue(std::move(made));
}

// An enumerator is given by its name.
Result<IValue> typedEnum(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    const auto enumeration = type->cast<c10::EnumType>();
    std::string names;
    for (const auto &[name, content] : enumeration->enumNamesValues()) {
        if (value.isString() && value.toStringRef() == name)
            return IValue(c10::make_intrusive<c10::ivalue::EnumHolder>(enumeration, name, content));
        names += (names.empty() ? "" : ", ") + name;
    }
    return Status(ErrorCode::invalidArgument,
                  "input " + where + ": expected one of " + names + ", got " + textOf(value))
        .withDetail("wrong_type");
}

Result<IValue> typedUnion(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    for (const c10::TypePtr &member : type->expectRef<c10::UnionType>().containedTypes())
        if (Result<IValue> made = typed(value, member, where))
            return made;
    return mismatch(where, *type, value);
}

Result<IValue> typedDevice(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    if (!value.isString())
        return mismatch(where, *type, value);
    try {
        return IValue(c10::Device(value.toStringRef()));
    } catch (const std::exception &) {
        return Status(ErrorCode::invalidArgument,
                      "input " + where + ": \"" + value.toStringRef() + "\" is no device")
            .withDetail("wrong_type");
    }
}

// torch.dtype is an int to TorchScript.
std::optional<IValue> dtypeCode(const IValue &value)
{
    std::string name = value.toStringRef();
    if (name.starts_with("torch."))
        name.erase(0, 6);
    const auto dtype = dtypeFromName(name);
    const auto type = dtype ? toScalarType(*dtype) : std::nullopt;
    return type ? std::optional(IValue(static_cast<std::int64_t>(*type))) : std::nullopt;
}

Result<IValue> typedPlain(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    switch (type->kind()) {
    case TypeKind::TensorType:
        // A tensor argument takes a number as Python's tracing did.
        if (value.isScalar())
            return IValue(at::scalar_tensor(value.toScalar()));
        break;
    case TypeKind::FloatType:
        if (value.isInt())
            return IValue(static_cast<double>(value.toInt()));
        break;
    case TypeKind::ComplexType:
        if (value.isInt() || value.isDouble())
            return IValue(c10::complex<double>(
                value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble(), 0.0));
        break;
    case TypeKind::IntType:
        if (value.isString())
            if (const auto code = dtypeCode(value))
                return *code;
        break;
    default:
        break;
    }
    if (!value.type()->isSubtypeOf(*type))
        return mismatch(where, *type, value);
    return value;
}

Result<IValue> typed(const IValue &value, const c10::TypePtr &type, const std::string &where)
{
    switch (type->kind()) {
    case TypeKind::OptionalType:
        return value.isNone() ? Result<IValue>(value)
                              : typed(value, type->expectRef<c10::OptionalType>().getElementType(), where);
    case TypeKind::ListType:
        return typedList(value, type, where);
    case TypeKind::TupleType:
        return typedTuple(value, type, where);
    case TypeKind::DictType:
        return typedDict(value, type, where);
    case TypeKind::EnumType:
        return typedEnum(value, type, where);
    case TypeKind::UnionType:
        return typedUnion(value, type, where);
    case TypeKind::DeviceObjType:
        return typedDevice(value, type, where);
    case TypeKind::AnyType:
        return value;
    default:
        return typedPlain(value, type, where);
    }
}

// Looks where DICT goes, also in the methods it is handed to.
void keysOf(const torch::jit::Value *dict, std::vector<std::string> &keys, int depth)
{
    constexpr int kMostCalls = 16;
    for (const torch::jit::Use &use : dict->uses()) {
        torch::jit::Node *const node = use.user;
        if (node->kind() == c10::aten::__getitem__ && use.offset == 0) {
            const auto key = torch::jit::toIValue(node->input(1));
            if (key && key->isString() &&
                std::find(keys.begin(), keys.end(), key->toStringRef()) == keys.end())
                keys.push_back(key->toStringRef());
        } else if (node->kind() == c10::prim::CallMethod && use.offset > 0 && depth < kMostCalls) {
            const auto type = node->input(0)->type()->cast<c10::ClassType>();
            torch::jit::Function *const method =
                type == nullptr ? nullptr : type->findMethod(node->s(c10::attr::name));
            const torch::jit::GraphFunction *const graph =
                method == nullptr ? nullptr : torch::jit::tryToGraphFunction(*method);
            if (graph != nullptr && use.offset < graph->graph()->inputs().size())
                keysOf(graph->graph()->inputs()[use.offset], keys, depth + 1);
        }
    }
}

} // namespace

std::vector<std::string> ScriptModel::dictKeys(const std::string &name) const
{
    std::vector<std::string> keys;
    const torch::jit::Method forward = m_module.get_method("forward");
    const torch::jit::GraphFunction *const function = torch::jit::tryToGraphFunction(forward.function());
    if (function == nullptr)
        return keys;
    const auto &arguments = forward.function().getSchema().arguments();
    for (std::size_t i = 1; i < arguments.size() && i < function->graph()->inputs().size(); ++i)
        if (arguments[i].name() == name)
            keysOf(function->graph()->inputs()[i], keys, 0);
    return keys;
}

Result<c10::IValue> ScriptModel::argumentValue(std::size_t index, const c10::IValue &value) const
{
    try {
        const c10::Argument &argument =
            m_module.get_method("forward").function().getSchema().arguments()[index + 1];
        return typed(value, argument.type(), argument.name());
    } catch (const std::exception &error) {
        return Status(ErrorCode::invalidArgument, failureText(error));
    }
}

} // namespace core
