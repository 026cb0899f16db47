// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_trial.h"

#include "core/base/units.h"
#include "core/capture/memory_limit.h"
#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/input_tree_clone.h"
#include "core/capture_torch/isolated_capture.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/shape_companions.h"

#include <ATen/Context.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace core {
namespace {

// Copies of larger models would take longer than the runs.
constexpr std::uint64_t kMaxCopiedBytes = 64ULL << 20;

TensorSpec specOf(const GuessedInput &input)
{
    TensorSpec spec;
    spec.dtype = input.dtype;
    spec.shape = input.shape;
    const bool real = isFloating(input.dtype);
    if (input.range.recipe == "ones") {
        spec.fill = TensorFill::ones;
    } else if (input.range.recipe == "zeros") {
        spec.fill = TensorFill::zeros;
    } else if (input.range.recipe == "arange") {
        spec.fill = TensorFill::arange;
    } else if (input.range.recipe == "full") {
        spec.fill = TensorFill::full;
        spec.value = input.range.low;
    } else if (isComplex(input.dtype)) {
        spec.fill = TensorFill::randn;
    } else if (real) {
        spec.fill = TensorFill::rand;
    } else {
        spec.fill = TensorFill::randint;
        const bool given = input.range.recipe == "randint" && input.dtype != DType::boolean;
        spec.low = given ? static_cast<std::int64_t>(input.range.low) : 0;
        spec.high = given ? static_cast<std::int64_t>(input.range.high) : 2;
    }
    return spec;
}

} // namespace

std::string guessedSpec(const GuessedInput &input)
{
    return formatTensorSpec(specOf(input));
}

std::string tooLarge(const ShapeFacts &facts, const ShapePrior &prior)
{
    TensorSpec spec;
    spec.dtype = prior.dtype;
    spec.shape = prior.shape;
    const double input = tensorBytes(spec);
    double made = input;
    if (const LayerFact *const conv = firstLayer(facts, LayerKind::conv);
        conv != nullptr && prior.kind == ShapePrior::Kind::conv && conv->features > 0)
        made *= static_cast<double>(conv->outputs) /
                static_cast<double>(conv->features * conv->stride * conv->stride);
    const double needed = 2.0 * input + made;
    const std::uint64_t there = memoryThereIs();
    if (there == 0 || needed <= static_cast<double>(there))
        return {};
    const std::string text = formatTensorSpec(spec);
    return "an input " + text.substr(0, text.find('=')) + " takes " + bytesText(input) +
           ", with a copy and the first result " + bytesText(needed) + ", and " + formatBytes(there) +
           " are there";
}

ShapeTrial::ShapeTrial(const ScriptModel &model, const ShapeFacts &facts, const GuessOptions &options,
                       const JobContext &job)
    : m_model(model), m_facts(facts), m_copiesEachTime(facts.stateBytes <= kMaxCopiedBytes),
      m_seed(options.seed), m_job(job), m_deadline(ProbeWatcher::deadlineIn(options.timeLimitSeconds))
{
}

ShapeTrial::~ShapeTrial() = default;

void ShapeTrial::fill(GuessedInput &input) const
{
    if (input.dtype == DType::unknown)
        return;
    InputNode node;
    node.leaf = specOf(input);
    input.spec = guessedSpec(input);
    InputBuilder builder(m_seed);
    if (Result<c10::IValue> value = builder.build(node, input.name))
        input.value = inContainer(*std::move(value), input);
}

// One tensor as the argument wants it: in a list, as every part of a tuple, under the keys of a dict.
c10::IValue ShapeTrial::inContainer(c10::IValue tensor, const GuessedInput &input) const
{
    const std::string_view type = input.type;
    if (type.starts_with("List[")) {
        const auto known = m_facts.listLengths.find(input.name);
        const std::size_t items = known == m_facts.listLengths.end() ? 1 : known->second;
        return c10::List<at::Tensor>(std::vector<at::Tensor>(items, tensor.toTensor()));
    }
    if (type.starts_with("Tuple[")) {
        const auto parts = static_cast<std::size_t>(std::count(type.begin(), type.end(), ',')) + 1;
        return c10::ivalue::Tuple::create(std::vector<c10::IValue>(parts, tensor));
    }
    if (!type.starts_with("Dict["))
        return tensor;
    c10::Dict<std::string, at::Tensor> dict;
    for (const std::string &key : m_model.dictKeys(input.name)) {
        GuessedInput item = companionInput({key, "Tensor"}, input, m_facts, {}, 0);
        item.type = "Tensor";
        fill(item);
        if (item.value.isTensor())
            dict.insert(key, item.value.toTensor());
    }
    return dict;
}

ProbeResult ShapeTrial::run(const std::vector<GuessedInput> &inputs)
{
    ProbeResult result;
    const PreservedRngState kept;
    const c10::AutoGradMode noGradients(false);
    at::manual_seed(m_seed);
    if (!m_copy || m_copiesEachTime) {
        m_copy = m_model.copy();
        m_copy->prepare(false);
    }
    std::unordered_map<std::string, c10::IValue> named;
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    for (const GuessedInput &input : inputs) {
        const c10::IValue &value = named.emplace(input.name, cloneInputTree(input.value)).first->second;
        if (value.isTensor())
            tensors.emplace_back(input.name, value.toTensor());
    }
    ProbeWatcher watcher(m_job, m_deadline);
    watcher.knows(tensors);
    Result<c10::IValue> value = c10::IValue();
    {
        const TapScope tapped(watcher);
        value = m_copy->run({}, std::move(named), &watcher);
    }
    result.ok = value.isOk();
    if (!value) {
        result.message = value.error().message();
        m_stopped = m_stopped || value.error().code() == ErrorCode::cancelled;
    }
    watcher.finish(result);
    return result;
}

} // namespace core
