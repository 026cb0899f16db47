// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_last_ideas.h"

#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace core {
namespace {

constexpr std::int64_t kSecond = 16'000; // samples
constexpr std::int64_t kSteps = 16;

// An idea that LAYER gives; not searched for other sizes.
ShapePrior ideaOf(const LayerFact &layer, ShapePrior::Kind kind, std::vector<std::int64_t> shape,
                  const ShapeFacts &facts)
{
    ShapePrior prior;
    prior.kind = kind;
    prior.shape = std::move(shape);
    prior.dtype = fromScalarType(facts.floating);
    prior.module = layer.path;
    prior.op = layer.type;
    return prior;
}

bool takesOffsets(const ShapeFacts &facts)
{
    return std::any_of(facts.arguments.begin(), facts.arguments.end(), [](const ScriptArgument &argument) {
        return !argument.hasDefault && argument.name.find("offset") != std::string::npos;
    });
}

} // namespace

void addSpectrumIdeas(const ShapeFacts &facts, const GuessOptions &options, const AddPrior &add)
{
    if (!facts.takesSpectrum)
        return;
    ShapePrior sound;
    sound.kind = ShapePrior::Kind::waveform;
    sound.shape = {options.batchSize, options.seqLen.value_or(kSecond)};
    sound.dtype = fromScalarType(facts.floating);
    sound.flexible = {1};
    sound.op = "stft";
    add(sound);
    sound.shape.insert(sound.shape.begin() + 1, options.channels.value_or(1));
    sound.flexible = {2};
    add(std::move(sound));
}

void addLastIdeas(const ShapeFacts &facts, const GuessOptions &options, const AddPrior &add)
{
    using Kind = ShapePrior::Kind;
    const std::int64_t batch = options.batchSize, steps = options.seqLen.value_or(kSteps);
    if (const LayerFact *conv = firstLayer(facts, LayerKind::conv, 1)) {
        const std::int64_t channels = options.channels.value_or(conv->features);
        add(ideaOf(*conv, Kind::waveform, {batch, channels, options.seqLen.value_or(kSecond)}, facts));
        add(ideaOf(*conv, Kind::norm, {batch, steps, channels}, facts));
        add(ideaOf(*conv, Kind::norm, {batch, 8 * steps, channels}, facts));
    }
    if (const LayerFact *linear = firstLayer(facts, LayerKind::linear)) {
        add(ideaOf(*linear, Kind::norm, {batch, steps, linear->features}, facts));
        add(ideaOf(*linear, Kind::norm, {batch, 1, steps, linear->features}, facts));
    }
    if (const LayerFact *conv = firstLayer(facts, LayerKind::conv, 2)) {
        const std::int64_t channels = options.channels.value_or(conv->features);
        constexpr std::int64_t kSide = 224;
        add(ideaOf(*conv, Kind::norm, {batch, kSide, kSide, channels}, facts));
        add(ideaOf(*conv, Kind::norm, {channels, kSide, kSide}, facts));
    }
    const LayerFact *const tokens = firstLayer(facts, LayerKind::embedding);
    if (tokens != nullptr && takesOffsets(facts)) {
        ShapePrior row = ideaOf(*tokens, Kind::embedding, {steps}, facts);
        row.dtype = DType::int64;
        row.range = {"randint", 0.0, static_cast<double>(tokens->vocabulary)};
        add(std::move(row));
    }
    for (const auto &[name, tensor] : facts.parameters)
        if (tensor.defined() && tensor.dim() == 1) {
            const std::int64_t size = tensor.size(0);
            LayerFact layer;
            layer.type = "parameter:" + name;
            for (std::vector<std::int64_t> shape :
                 {std::vector{batch, size}, {batch, steps, size}, {batch, size, size}}) {
                constexpr double kMost = 1 << 24; // elements: an idea is tried, not a memory test
                if (std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>()) > kMost)
                    continue;
                ShapePrior prior = ideaOf(layer, Kind::norm, std::move(shape), facts);
                prior.strategy = "op_seed";
                add(std::move(prior));
            }
        }
}

} // namespace core
