// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/flop_formulas.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

namespace core {
namespace {

using Shape = std::vector<std::int64_t>;
using Inputs = const std::vector<c10::IValue> &;
using Outputs = std::vector<c10::IValue>;
using Formula = std::optional<std::int64_t> (*)(Inputs, const Outputs &);

std::optional<Shape> shapeOf(const c10::IValue &value)
{
    if (!value.isTensor() || !value.toTensor().defined())
        return std::nullopt;
    return value.toTensor().sizes().vec();
}

std::optional<Shape> shapeAt(Inputs inputs, std::size_t index)
{
    return index < inputs.size() ? shapeOf(inputs[index]) : std::nullopt;
}

std::int64_t product(const Shape &shape, std::size_t from = 0)
{
    return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(std::min(from, shape.size())),
                           shape.end(), std::int64_t(1), std::multiplies<>());
}

template <std::size_t First>
std::optional<std::int64_t> matrices(Inputs inputs, const Outputs &)
{
    const auto a = shapeAt(inputs, First);
    const auto b = shapeAt(inputs, First + 1);
    if (!a || !b || a->size() != 2 || b->size() != 2)
        return std::nullopt;
    return 2 * (*a)[0] * (*a)[1] * (*b)[1];
}

template <std::size_t First>
std::optional<std::int64_t> batches(Inputs inputs, const Outputs &)
{
    const auto a = shapeAt(inputs, First);
    const auto b = shapeAt(inputs, First + 1);
    if (!a || !b || a->size() != 3 || b->size() != 3)
        return std::nullopt;
    return 2 * (*a)[0] * (*a)[1] * (*a)[2] * (*b)[2];
}

// One multiplication of the whole filter for each place it is put to: of the output, or of the input when the
// convolution is transposed.
std::int64_t convolutionCount(const Shape &x, const Shape &weight, const Shape &out, bool transposed)
{
    return 2 * product(transposed ? x : out, 2) * product(weight, 2) * x[0] * weight[0] * weight[1];
}

bool flagAt(Inputs inputs, std::size_t index)
{
    return index < inputs.size() && inputs[index].isBool() && inputs[index].toBool();
}

std::optional<std::int64_t> convolution(Inputs inputs, const Outputs &outputs)
{
    const auto x = shapeAt(inputs, 0);
    const auto weight = shapeAt(inputs, 1);
    const auto out = outputs.empty() ? std::nullopt : shapeOf(outputs[0]);
    if (!x || !weight || !out || weight->size() < 3)
        return std::nullopt;
    return convolutionCount(*x, *weight, *out, flagAt(inputs, 6));
}

Shape swapped(Shape shape)
{
    std::swap(shape[0], shape[1]);
    return shape;
}

std::optional<std::int64_t> convolutionBackward(Inputs inputs, const Outputs &outputs)
{
    const auto gradient = shapeAt(inputs, 0);
    const auto x = shapeAt(inputs, 1);
    const auto weight = shapeAt(inputs, 2);
    if (!gradient || !x || !weight || weight->size() < 3 || inputs.size() < 11 || outputs.size() < 2)
        return std::nullopt;
    const bool transposed = flagAt(inputs, 7);
    std::int64_t flops = 0;
    if (const auto toInput = shapeOf(outputs[0]))
        flops += convolutionCount(*gradient, *weight, *toInput, !transposed);
    if (const auto toWeight = shapeOf(outputs[1])) {
        const Shape target = swapped(*toWeight);
        flops += transposed ? convolutionCount(swapped(*gradient), swapped(*x), target, false)
                            : convolutionCount(swapped(*x), swapped(*gradient), target, false);
    }
    return flops;
}

// Scores and their sums: grouped keys count as if they were repeated for every query head.
std::optional<std::int64_t> attention(const std::optional<Shape> &query, const std::optional<Shape> &key,
                                      const std::optional<Shape> &value)
{
    if (!query || !key || !value || query->size() != 4 || key->size() != 4 || value->size() != 4)
        return std::nullopt;
    const std::int64_t heads = (*query)[0] * (*query)[1];
    return 2 * heads * (*query)[2] * (*key)[2] * ((*query)[3] + (*value)[3]);
}

std::optional<std::int64_t> attentionForward(Inputs inputs, const Outputs &)
{
    return attention(shapeAt(inputs, 0), shapeAt(inputs, 1), shapeAt(inputs, 2));
}

// Five products: the scores again, and the gradients of v, of the scores, of q and of k.
std::optional<std::int64_t> attentionBackward(Inputs inputs, const Outputs &)
{
    const auto query = shapeAt(inputs, 1);
    const auto key = shapeAt(inputs, 2);
    const auto value = shapeAt(inputs, 3);
    if (!query || !key || !value || query->size() != 4 || key->size() != 4 || value->size() != 4)
        return std::nullopt;
    const std::int64_t pairs = (*query)[0] * (*query)[1] * (*query)[2] * (*key)[2];
    return 2 * pairs * (3 * (*query)[3] + 2 * (*value)[3]);
}

const std::unordered_map<std::string, Formula> &formulas()
{
    static const std::unordered_map<std::string, Formula> kFormulas = {
        {"aten.mm", &matrices<0>},
        {"aten.addmm", &matrices<1>},
        {"aten._scaled_mm", &matrices<0>},
        {"aten.bmm", &batches<0>},
        {"aten.baddbmm", &batches<1>},
        {"aten.convolution", &convolution},
        {"aten._convolution", &convolution},
        {"aten.convolution_overrideable", &convolution},
        {"aten.convolution_backward", &convolutionBackward},
        {"aten._scaled_dot_product_efficient_attention", &attentionForward},
        {"aten._scaled_dot_product_flash_attention", &attentionForward},
        {"aten._scaled_dot_product_flash_attention_for_cpu", &attentionForward},
        {"aten._scaled_dot_product_cudnn_attention", &attentionForward},
        {"aten._scaled_dot_product_efficient_attention_backward", &attentionBackward},
        {"aten._scaled_dot_product_flash_attention_backward", &attentionBackward},
        {"aten._scaled_dot_product_flash_attention_for_cpu_backward", &attentionBackward},
        {"aten._scaled_dot_product_cudnn_attention_backward", &attentionBackward},
    };
    return kFormulas;
}

} // namespace

std::optional<std::int64_t> dispatchFlops(const std::string &name, const std::vector<c10::IValue> &inputs,
                                          const std::vector<c10::IValue> &outputs)
{
    const auto formula = formulas().find(name);
    return formula == formulas().end() ? std::nullopt : formula->second(inputs, outputs);
}

} // namespace core
