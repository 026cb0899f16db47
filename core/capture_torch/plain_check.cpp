// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/plain_check.h"

#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/replay_values.h"

#include <c10/core/GradMode.h>

#include <algorithm>

namespace core {

namespace {

bool sameValue(const c10::IValue &left, const c10::IValue &right)
{
    if (!left.isTensor() || !right.isTensor())
        return left.isTensor() == right.isTensor() &&
               toJson(ivalueToValue(left)) == toJson(ivalueToValue(right));
    const auto plain = [](const at::Tensor &tensor) {
        if (!tensor.defined() || tensor.is_quantized())
            return tensor.defined() ? tensor.dequantize() : tensor;
        return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
    };
    const at::Tensor a = plain(left.toTensor());
    const at::Tensor b = plain(right.toTensor());
    return a.defined() == b.defined() && (!a.defined() || sameBits(a, b));
}

} // namespace

Value compareOutputs(const ModelOutputs &watched, const ModelOutputs &plain)
{
    const c10::AutoGradMode noHistory(false);
    Value::List differing;
    for (std::size_t i = 0; i < std::max(watched.size(), plain.size()); ++i) {
        if (i < watched.size() && i < plain.size() && sameValue(watched[i].second, plain[i].second))
            continue;
        const bool tensors = i < watched.size() && i < plain.size() && watched[i].second.isTensor() &&
                             plain[i].second.isTensor();
        differing.push_back(
            Value::object({{"path", i < watched.size() ? watched[i].first : plain[i].first},
                           {"max_difference", tensors ? maximumDifference(watched[i].second.toTensor(),
                                                                          plain[i].second.toTensor())
                                                      : Value()}}));
    }
    return Value::object({{"outputs", std::max(watched.size(), plain.size())},
                          {"equal", std::max(watched.size(), plain.size()) - differing.size()},
                          {"differing", Value(std::move(differing))}});
}

} // namespace core
