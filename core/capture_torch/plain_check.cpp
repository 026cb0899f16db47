// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/plain_check.h"

#include "core/capture_torch/autograd_recorder.h"
#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/replay_values.h"
#include "core/capture_torch/script_model.h"

#include <c10/core/GradMode.h>

#include <algorithm>

namespace core {

namespace {

// Quantized and sparse values as their elements.
at::Tensor elementsOf(const at::Tensor &tensor)
{
    if (!tensor.defined() || tensor.is_quantized())
        return tensor.defined() ? tensor.dequantize() : tensor;
    return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
}

bool sameValue(const c10::IValue &left, const c10::IValue &right)
{
    if (!left.isTensor() || !right.isTensor())
        return left.isTensor() == right.isTensor() &&
               toJson(ivalueToValue(left)) == toJson(ivalueToValue(right));
    const at::Tensor a = elementsOf(left.toTensor());
    const at::Tensor b = elementsOf(right.toTensor());
    return a.defined() == b.defined() && (!a.defined() || sameBits(a, b));
}

Value differenceOf(const c10::IValue &left, const c10::IValue &right)
{
    if (!left.isTensor() || !right.isTensor() || !left.toTensor().defined() || !right.toTensor().defined())
        return {};
    return maximumDifference(elementsOf(left.toTensor()), elementsOf(right.toTensor()));
}

// "equal" and "differing" of two lists in the same order, and how many there are as COUNTED.
Value comparedLists(std::string_view counted, const ModelOutputs &watched, const ModelOutputs &plain)
{
    const c10::AutoGradMode noHistory(false);
    const std::size_t count = std::max(watched.size(), plain.size());
    Value::List differing;
    for (std::size_t i = 0; i < count; ++i) {
        const bool both = i < watched.size() && i < plain.size();
        if (both && sameValue(watched[i].second, plain[i].second))
            continue;
        differing.push_back(Value::object(
            {{"path", i < watched.size() ? watched[i].first : plain[i].first},
             {"max_difference", both ? differenceOf(watched[i].second, plain[i].second) : Value()}}));
    }
    Value facts =
        Value::object({{"equal", count - differing.size()}, {"differing", Value(std::move(differing))}});
    facts.set(counted, count);
    return facts;
}

Status backwardUnwatched(const BackwardRequest &request, const PlainRun &run)
{
    try {
        const c10::AutoGradMode gradients(true);
        const auto output = lossOutput(request, run.outputs);
        if (!output)
            return output.error();
        std::vector<at::Tensor> operands;
        const Result<at::Tensor> loss = lossOf(request, *output, operands);
        if (!loss)
            return loss.error();
        const std::uint32_t passes = std::max(1U, request.passes);
        for (std::uint32_t index = 1; index <= passes; ++index) {
            dropGradients(run.parameters);
            dropGradients(inputTensors(run.inputs));
            const at::Tensor seed = lossSeed(request, *loss);
            loss->backward(seed, /*retain_graph=*/index != passes);
        }
        return Status::ok();
    } catch (const std::exception &error) {
        return {ErrorCode::modelFailed, failureText(error)};
    }
}

} // namespace

UnwatchedRun runUnwatched(const CaptureRequest &request, const RunnableModel &model)
{
    UnwatchedRun plain;
    const c10::AutoGradMode mode(request.gradEnabled);
    plain.forward = model.runPlain(request, [&](const PlainRun &run) {
        plain.outputs = run.outputs;
        if (!request.backward)
            return;
        plain.backward = backwardUnwatched(*request.backward, run);
        if (plain.backward)
            plain.gradients = gradientsOf(run.parameters, run.inputs);
    });
    return plain;
}

NamedTensors gradientsOf(const NamedTensors &parameters, const std::vector<ModelInput> &inputs)
{
    NamedTensors gradients;
    const auto add = [&](const NamedTensors &leaves) {
        for (const auto &[name, leaf] : leaves)
            if (leaf.requires_grad() && leaf.is_leaf())
                gradients.emplace_back(name, leaf.grad());
    };
    add(parameters);
    add(inputTensors(inputs));
    return gradients;
}

Value compareOutputs(const ModelOutputs &watched, const UnwatchedRun &plain)
{
    return plain.forward ? comparedLists("outputs", watched, plain.outputs)
                         : Value::object({{"error", plain.forward.message()}});
}

Value compareGradients(const NamedTensors &gradients, const UnwatchedRun &plain)
{
    ModelOutputs watched;
    ModelOutputs unwatched;
    for (std::size_t i = 0; i < std::max(gradients.size(), plain.gradients.size()); ++i) {
        const at::Tensor own = i < gradients.size() ? gradients[i].second : at::Tensor();
        const at::Tensor other = i < plain.gradients.size() ? plain.gradients[i].second : at::Tensor();
        if (!own.defined() && !other.defined())
            continue;
        const std::string &name = i < gradients.size() ? gradients[i].first : plain.gradients[i].first;
        watched.emplace_back(name, own);
        unwatched.emplace_back(name, other);
    }
    Value compared = comparedLists("gradients", watched, unwatched);
    if (!plain.backward)
        compared.set("error", plain.backward.message());
    return compared;
}

} // namespace core
