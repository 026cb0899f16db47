// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/op_facts.h"

#include "core/capture_torch/torch_dtype.h"

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace core {

namespace {

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool makesUninitialised(std::string_view func)
{
    return isOneOf(func,
                   {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided",
                    "empty_permuted", "_empty_affine_quantized", "_empty_per_channel_affine_quantized"});
}

// In-place ops behind which nothing of what was there is left.
bool overwrites(std::string_view func)
{
    return isOneOf(func,
                   {"copy_", "zero_", "fill_", "bernoulli_", "normal_", "uniform_", "random_", "exponential_",
                    "geometric_", "cauchy_", "log_normal_", "eye_", "set_", "resize_", "resize_as_"});
}

// In-place ops that leave elements as they were.
bool leavesSome(std::string_view func)
{
    return isOneOf(func, {"index_put_", "_index_put_impl_", "masked_fill_", "masked_scatter_", "scatter_",
                          "index_copy_", "index_fill_", "put_", "fill_diagonal_"});
}

// In-place ops that only move, fill or clamp values: what comes out bad went in bad.
bool cannotMakeBad(std::string_view func)
{
    return isOneOf(func,
                   {"relu_",      "copy_",    "zero_",      "fill_",      "masked_fill_", "clamp_",
                    "hardtanh_",  "dropout_", "index_put_", "scatter_",   "detach_",      "requires_grad_",
                    "bernoulli_", "normal_",  "uniform_",   "random_",    "hardswish_",   "relu6_",
                    "sigmoid_",   "tanh_",    "silu_",      "leaky_relu_"});
}

// Ops that choose, move or squash what went in. Not those that add, multiply or narrow: they can overflow;
// nor max pools: a dilated window can lie in the padding alone, which is -Inf.
bool keepsFinite(std::string_view func)
{
    if (func.ends_with('_') && !func.ends_with("__"))
        func.remove_suffix(1);
    return isOneOf(func, {"relu",
                          "relu6",
                          "hardtanh",
                          "clamp",
                          "clamp_min",
                          "clamp_max",
                          "threshold",
                          "sigmoid",
                          "hardsigmoid",
                          "tanh",
                          "softmax",
                          "gelu",
                          "silu",
                          "neg",
                          "abs",
                          "sign",
                          "floor",
                          "ceil",
                          "round",
                          "trunc",
                          "cat",
                          "concat",
                          "stack",
                          "clone",
                          "contiguous",
                          "reshape",
                          "flatten",
                          "repeat",
                          "roll",
                          "flip",
                          "tril",
                          "triu",
                          "where",
                          "masked_fill",
                          "index",
                          "index_select",
                          "gather",
                          "adaptive_max_pool2d",
                          "amax",
                          "amin",
                          "max",
                          "min",
                          "maximum",
                          "minimum",
                          "sort",
                          "topk",
                          "constant_pad_nd",
                          "pad",
                          "pixel_shuffle",
                          "channel_shuffle",
                          "unfold",
                          "upsample_nearest2d",
                          "zeros",
                          "zeros_like",
                          "ones",
                          "ones_like"});
}

BoundRule boundRule(std::string_view func, std::string_view overload)
{
    if (overload.ends_with("out"))
        return BoundRule::none;
    if (isOneOf(func, {"relu", "relu_", "cat", "concat", "clone"}))
        return BoundRule::largest;
    if (overload == "Tensor" && isOneOf(func, {"add", "add_", "sub", "sub_"}))
        return BoundRule::sum;
    if (overload.empty() &&
        isOneOf(func, {"linear", "conv1d", "conv2d", "conv3d", "convolution", "_convolution"}))
        return BoundRule::weightedSum;
    return isOneOf(func, {"batch_norm", "_native_batch_norm_legit_no_training"}) ? BoundRule::batchNorm
                                                                                 : BoundRule::none;
}

CodeKind codeKind(const c10::Argument &argument)
{
    c10::TypePtr type = argument.real_type();
    while (const auto optional = type->cast<c10::OptionalType>())
        type = optional->getElementType();
    switch (type->kind()) {
    case c10::TypeKind::ScalarTypeType:
        return CodeKind::dtype;
    case c10::TypeKind::LayoutType:
        return CodeKind::layout;
    case c10::TypeKind::MemoryFormatType:
        return CodeKind::memoryFormat;
    default:
        return CodeKind::none;
    }
}

std::size_t argumentIndex(const OpFacts &facts, std::initializer_list<std::string_view> names)
{
    for (std::size_t i = 0; i < facts.arguments.size(); ++i)
        if (isOneOf(facts.arguments[i].name, names))
            return i;
    return facts.arguments.size();
}

void findHiddenWrites(OpFacts &facts)
{
    if (!isOneOf(facts.func, {"batch_norm", "instance_norm", "native_batch_norm", "_batch_norm_impl_index",
                              "cudnn_batch_norm", "miopen_batch_norm", "batch_norm_update_stats"}))
        return;
    const std::size_t flag = argumentIndex(facts, {"training", "train", "use_input_stats"});
    if (flag < facts.arguments.size())
        facts.hiddenFlag = flag;
    const std::size_t mean = argumentIndex(facts, {"running_mean"});
    const std::size_t variance = argumentIndex(facts, {"running_var"});
    const std::size_t count = facts.arguments.size();
    if (mean < count && variance < count)
        facts.hiddenWrites = {mean, variance};
}

std::string textOf(const c10::IValue &value)
{
    return '<' + value.tagKind() + '>';
}

// Of LibTorch's own ops those that are tagged so, take a generator, or drop out; of others nothing is known.
bool mayDraw(const c10::OperatorHandle &op, std::string_view space)
{
    const std::vector<c10::Argument> &arguments = op.schema().arguments();
    return space != "aten" || op.hasTag(at::Tag::nondeterministic_seeded) ||
           std::any_of(arguments.begin(), arguments.end(), [](const c10::Argument &argument) {
               return argument.name() == "generator" || argument.name() == "train" ||
                      argument.name().find("dropout") != std::string::npos;
           });
}

} // namespace

OpFacts readOpFacts(const c10::OperatorHandle &op)
{
    const c10::FunctionSchema &schema = op.schema();
    OpFacts facts;
    const std::string &full = schema.name();
    const std::size_t colons = full.find("::");
    const std::string space = colons == std::string::npos ? std::string() : full.substr(0, colons);
    facts.func = colons == std::string::npos ? full : full.substr(colons + 2);
    const std::string &overload = schema.overload_name();
    facts.name = space + '.' + facts.func + '.' + (overload.empty() ? "default" : overload);
    facts.returns = schema.returns().size();
    for (const c10::Argument &argument : schema.arguments()) {
        const c10::AliasInfo *alias = argument.alias_info();
        const bool written = alias != nullptr && alias->isWrite();
        facts.arguments.push_back({argument.name(), codeKind(argument), written, argument.kwarg_only()});
        facts.writes = facts.writes || written;
    }
    for (const c10::Argument &result : schema.returns()) {
        const c10::AliasInfo *alias = result.alias_info();
        facts.view = facts.view || (alias != nullptr && !alias->isWrite());
    }
    const bool resizes = isOneOf(facts.func, {"resize_", "resize_as_"});
    facts.metadataOnly = (op.hasTag(at::Tag::inplace_view) && !resizes) || facts.func == "set_" ||
                         facts.func == "detach_" || facts.func == "requires_grad_";
    facts.uninitialised = makesUninitialised(facts.func);
    facts.keepsBefore =
        facts.writes && !facts.metadataOnly && overload != "out" && !cannotMakeBad(facts.func);
    facts.keepsFinite = keepsFinite(facts.func) && overload != "decimals";
    facts.readsIndices = isOneOf(facts.func, {"index", "index_select", "gather"});
    facts.writesPartly = facts.writes && leavesSome(facts.func);
    facts.readsWhatItWrites = facts.writes && !facts.metadataOnly && !overload.ends_with("out") &&
                              !overwrites(facts.func) && !facts.writesPartly;
    findHiddenWrites(facts);
    facts.mayDraw = mayDraw(op, space);
    facts.bound = space == "aten" ? boundRule(facts.func, overload) : BoundRule::none;
    return facts;
}

std::string codeName(CodeKind kind, std::int64_t code)
{
    std::ostringstream text;
    switch (kind) {
    case CodeKind::dtype:
        if (const DType dtype = fromScalarType(static_cast<c10::ScalarType>(code)); dtype != DType::unknown)
            return std::string(dtypeName(dtype));
        return c10::toString(static_cast<c10::ScalarType>(code));
    case CodeKind::layout:
        text << static_cast<c10::Layout>(code);
        break;
    case CodeKind::memoryFormat:
        text << static_cast<c10::MemoryFormat>(code);
        break;
    case CodeKind::none:
        return std::to_string(code);
    }
    return text.str();
}

Value ivalueToValue(const c10::IValue &value, CodeKind code)
{
    if (value.isNone())
        return {};
    if (value.isBool())
        return value.toBool();
    if (value.isInt())
        return code == CodeKind::none ? Value(value.toInt()) : Value(codeName(code, value.toInt()));
    if (value.isDouble())
        return value.toDouble();
    if (value.isString())
        return value.toStringRef();
    if (value.isComplexDouble()) {
        const c10::complex<double> number = value.toComplexDouble();
        return Value::object({{"re", number.real()}, {"im", number.imag()}});
    }
    if (value.isDevice())
        return value.toDevice().str();
    if (value.isList() || value.isTuple()) {
        Value list = Value::list();
        if (value.isTuple())
            for (const c10::IValue &item : value.toTupleRef().elements())
                list.append(ivalueToValue(item, code));
        else
            for (const c10::IValue &item : value.toListRef())
                list.append(ivalueToValue(item, code));
        return list;
    }
    return textOf(value);
}

} // namespace core
