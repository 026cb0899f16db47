// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/input_builder.h"

#include "core/base/units.h"
#include "core/capture/memory_limit.h"
#include "core/capture_torch/tensor_files.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace core {

namespace {

c10::IValue scalarValue(const Value &value)
{
    if (value.isBool())
        return value.toBool();
    if (value.isInt())
        return value.toInt();
    if (value.isDouble())
        return value.toDouble();
    if (value.isString())
        return value.toString();
    return {};
}

bool allOf(const std::vector<c10::IValue> &items, bool (c10::IValue::*test)() const)
{
    return !items.empty() &&
           std::all_of(items.begin(), items.end(), [test](const auto &item) { return (item.*test)(); });
}

c10::IValue listOf(const std::vector<c10::IValue> &items)
{
    const auto make = [&items](const c10::TypePtr &type) -> c10::IValue {
        c10::impl::GenericList list(type);
        for (const c10::IValue &item : items)
            list.push_back(item);
        return list;
    };
    if (items.empty() || allOf(items, &c10::IValue::isTensor))
        return make(c10::TensorType::get());
    if (allOf(items, &c10::IValue::isInt))
        return make(c10::IntType::get());
    if (allOf(items, &c10::IValue::isDouble))
        return make(c10::FloatType::get());
    return make(c10::AnyType::get());
}

c10::IValue dictOf(const std::vector<std::string> &keys, const std::vector<c10::IValue> &items)
{
    const bool tensors = items.empty() || allOf(items, &c10::IValue::isTensor);
    c10::impl::GenericDict dict(c10::StringType::get(), tensors ? c10::TypePtr(c10::TensorType::get())
                                                                : c10::TypePtr(c10::AnyType::get()));
    for (std::size_t i = 0; i < items.size(); ++i)
        dict.insert_or_assign(keys[i], items[i]);
    return dict;
}

// Beyond the machine's memory no run is of use; a limit of the run's own is told where it is reached.
Status checkFits(const TensorSpec &spec)
{
    const std::uint64_t there = freeMemory();
    const double bytes = tensorBytes(spec);
    if (there == 0 || bytes <= static_cast<double>(there))
        return Status::ok();
    return Status(ErrorCode::invalidArgument, formatTensorSpec(spec) + " takes " + bytesText(bytes) + ", " +
                                                  formatBytes(there) + " are there")
        .withDetail("out_of_memory");
}

} // namespace

InputBuilder::InputBuilder(std::uint64_t seed) : m_generator(at::detail::createCPUGenerator(seed)) {}

at::Tensor InputBuilder::fill(const TensorSpec &spec)
{
    const c10::ScalarType type = toScalarType(spec.dtype).value();
    // The float8 kinds and the like have no random or fill kernels: made in float32 and rounded.
    const bool direct = type == at::kFloat || type == at::kDouble || c10::isComplexType(type);
    const auto options = at::TensorOptions(direct ? type : at::kFloat);
    const auto whole = at::TensorOptions(at::kLong);
    at::Tensor made;
    switch (spec.fill) {
    case TensorFill::zeros:
        made = at::full(spec.shape, 0, options);
        break;
    case TensorFill::ones:
        made = at::full(spec.shape, 1, options);
        break;
    case TensorFill::full:
        made = isFloating(spec.dtype) || isComplex(spec.dtype)
                   ? at::full(spec.shape, spec.value, options)
                   : at::full(spec.shape, spec.exact.value_or(static_cast<std::int64_t>(spec.value)), whole);
        break;
    case TensorFill::arange: {
        std::int64_t count = 1;
        for (const std::int64_t size : spec.shape)
            count *= size;
        made = at::arange(count, whole).reshape(spec.shape);
        break;
    }
    case TensorFill::eye: {
        const std::size_t last = spec.shape.size() - 1;
        made = at::eye(spec.shape[last - 1], spec.shape[last], options).expand(spec.shape);
        break;
    }
    case TensorFill::rand:
        made = at::rand(spec.shape, m_generator, options);
        break;
    case TensorFill::randn:
        made = at::randn(spec.shape, m_generator, options);
        break;
    case TensorFill::randint:
        made = at::randint(spec.low, spec.high, spec.shape, m_generator, whole);
        break;
    }
    return made.to(type).contiguous();
}

Result<c10::IValue> InputBuilder::buildContainer(const InputNode &node, const std::string &where)
{
    std::vector<c10::IValue> items;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        const std::string name = i < node.keys.size() ? node.keys[i] : std::to_string(i);
        auto item = build(node.children[i], where + '.' + name);
        if (!item)
            return item;
        items.push_back(*std::move(item));
    }
    if (node.container == InputNode::Container::tuple)
        return c10::IValue(c10::ivalue::Tuple::create(std::move(items)));
    return node.container == InputNode::Container::list ? listOf(items) : dictOf(node.keys, items);
}

Result<c10::IValue> InputBuilder::build(const InputNode &node, const std::string &where)
{
    const at::NoGradGuard guard;
    try {
        if (node.container != InputNode::Container::none)
            return buildContainer(node, where);
        if (const auto *value = std::get_if<Value>(&node.leaf))
            return scalarValue(*value);
        if (const auto *spec = std::get_if<TensorSpec>(&node.leaf)) {
            if (Status fits = checkFits(*spec); !fits)
                return fits.prefixed("input " + where);
            return c10::IValue(fill(*spec));
        }
        auto tensor = readTensorFile(std::get<InputFile>(node.leaf));
        if (!tensor)
            return tensor.error().prefixed("input " + where);
        return c10::IValue(*std::move(tensor));
    } catch (const c10::Error &error) {
        return Status(ErrorCode::invalidArgument, "input " + where + ": " + error.what_without_backtrace());
    } catch (const std::exception &error) {
        return Status(ErrorCode::invalidArgument, "input " + where + ": " + error.what());
    }
}

} // namespace core
