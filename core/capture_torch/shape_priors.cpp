// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_priors.h"

#include "core/capture_torch/shape_last_ideas.h"
#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <cctype>

namespace core {
namespace {

using Kind = ShapePrior::Kind;

class Priors
{
public:
    Priors(const ShapeFacts &facts, const GuessOptions &options) : m_facts(facts), m_options(options) {}

    std::vector<ShapePrior> run()
    {
        const auto addIdea = [this](ShapePrior prior) { add(std::move(prior)); };
        addSpectrumIdeas(m_facts, m_options, addIdea);
        if (const LayerFact *layer = deciding())
            addLayer(*layer, true);
        // A norm says nothing about the rank: only inside a model is it worth a try.
        for (const LayerFact &layer : m_facts.layers)
            if (layer.kind != LayerKind::groupNorm || !layer.path.empty())
                addLayer(layer, false);
        addTransposed();
        for (const auto &[name, tensor] : m_facts.parameters)
            if (tensor.defined())
                addParameter(name, tensor);
        addNorms();
        addWaveforms();
        addSingleTokens();
        addLastIdeas(m_facts, m_options, addIdea);
        return std::move(m_priors);
    }

private:
    const LayerFact *first(LayerKind kind) const { return firstLayer(m_facts, kind); }

    const LayerFact *deciding() const
    {
        if (const LayerFact *embedding = first(LayerKind::embedding))
            return embedding;
        const LayerFact *const recurrent = first(LayerKind::recurrent);
        const LayerFact *const conv = first(LayerKind::conv);
        if (recurrent != nullptr && (conv == nullptr || recurrent < conv))
            return recurrent;
        for (const LayerFact *layer : {conv, first(LayerKind::transformer), first(LayerKind::linear)})
            if (layer != nullptr)
                return layer;
        return nullptr;
    }

    DType floating(at::ScalarType type) const
    {
        return m_options.dtype ? *m_options.dtype : fromScalarType(type);
    }

    void add(ShapePrior prior)
    {
        if (m_options.dtype)
            prior.dtype = *m_options.dtype;
        if (prior.range.recipe == "randint" && !isInteger(prior.dtype))
            prior.range = {};
        const bool known = std::any_of(m_priors.begin(), m_priors.end(), [&](const ShapePrior &other) {
            return other.shape == prior.shape && other.dtype == prior.dtype && other.kind == prior.kind;
        });
        if (!known)
            m_priors.push_back(std::move(prior));
    }

    static bool isInteger(DType dtype)
    {
        return !isFloating(dtype) && !isComplex(dtype) && dtype != DType::boolean;
    }

    std::int64_t length() const
    {
        return m_options.seqLen.value_or(std::min<std::int64_t>(16, positionLimit(m_facts).value_or(16)));
    }

    void addLayer(const LayerFact &layer, bool decides)
    {
        switch (layer.kind) {
        case LayerKind::embedding:
            addEmbedding(layer.vocabulary, layer.path, "introspection");
            break;
        case LayerKind::recurrent:
        case LayerKind::transformer:
            addSequence(layer);
            break;
        case LayerKind::conv:
            addConv(layer, decides);
            break;
        case LayerKind::groupNorm:
            addPlain(Kind::groupNorm, {m_options.batchSize, layer.features, 32, 32}, layer, {2, 3});
            break;
        case LayerKind::linear:
        case LayerKind::bilinear:
            addPlain(Kind::linear, {m_options.batchSize, layer.features}, layer, {});
            break;
        case LayerKind::cell: // its first parameter says the same
        case LayerKind::transposedConv:
        case LayerKind::norm:
        case LayerKind::other:
            break;
        }
    }

    void addEmbedding(std::int64_t vocabulary, const std::string &path, const std::string &strategy)
    {
        ShapePrior prior;
        prior.kind = Kind::embedding;
        prior.shape = {m_options.batchSize, length()};
        prior.dtype = DType::int64;
        prior.range = {"randint", 0.0, static_cast<double>(vocabulary)};
        prior.flexible = {1};
        prior.module = path;
        prior.op = "Embedding";
        prior.strategy = strategy;
        add(std::move(prior));
    }

    // One token for each item of the batch, as a step of a decoder takes them.
    void addSingleTokens()
    {
        const auto tokens = std::find_if(m_priors.begin(), m_priors.end(), [](const ShapePrior &prior) {
            return prior.kind == Kind::embedding;
        });
        if (tokens == m_priors.end())
            return;
        ShapePrior single = *tokens;
        single.shape = {m_options.batchSize};
        single.flexible.clear();
        add(std::move(single));
    }

    void addSequence(const LayerFact &layer)
    {
        ShapePrior prior;
        prior.kind = layer.kind == LayerKind::recurrent ? Kind::recurrent : Kind::transformer;
        const std::int64_t steps =
            layer.kind == LayerKind::recurrent ? m_options.seqLen.value_or(16) : length();
        if (layer.batchFirst)
            prior.shape = {m_options.batchSize, steps, layer.features};
        else
            prior.shape = {steps, m_options.batchSize, layer.features};
        prior.dtype = floating(m_facts.floating);
        prior.flexible = {layer.batchFirst ? 1 : 0};
        prior.module = layer.path;
        prior.op = layer.type;
        add(std::move(prior));
    }

    void addPlain(Kind kind, std::vector<std::int64_t> shape, const LayerFact &layer,
                  std::vector<std::int64_t> flexible)
    {
        ShapePrior prior;
        prior.kind = kind;
        prior.shape = std::move(shape);
        prior.dtype = floating(kind == Kind::linear ? layer.dtype : m_facts.floating);
        prior.flexible = std::move(flexible);
        prior.module = layer.path;
        prior.op = layer.type;
        add(std::move(prior));
    }

    std::int64_t defaultSide(std::size_t rank) const
    {
        if (rank == 3)
            return std::max<std::int64_t>(m_options.minSize, 16);
        const std::int64_t side = m_options.preferredSizes.empty() ? 32 : m_options.preferredSizes.front();
        return std::max(m_options.minSize, side);
    }

    void addConv(const LayerFact &layer, bool decides)
    {
        const std::size_t rank = layer.kernel.size();
        if (m_options.spatialRank && static_cast<std::size_t>(*m_options.spatialRank) != rank)
            return;
        const std::int64_t kernel = *std::max_element(layer.kernel.begin(), layer.kernel.end());
        const auto fixed = rank == 2 ? positionSide(m_facts, layer.stride, layer.outputs) : std::nullopt;
        ShapePrior prior;
        prior.kind = Kind::conv;
        prior.minSide = decides ? 1 : kernel;
        const std::int64_t side = fixed     ? *fixed
                                  : decides ? defaultSide(rank)
                                            : std::max(kernel, defaultSide(rank));
        prior.shape = {m_options.batchSize, m_options.channels.value_or(layer.features)};
        prior.shape.insert(prior.shape.end(), rank, side);
        prior.dtype = floating(m_facts.floating);
        if (m_facts.hasAdaptivePool)
            for (std::size_t i = 0; i < rank; ++i)
                prior.flexible.push_back(static_cast<std::int64_t>(i) + 2);
        prior.strategy = fixed                                ? "fixed_size"
                         : decides || m_facts.hasAdaptivePool ? "adaptive_default"
                                                              : "introspection";
        prior.module = layer.path;
        prior.op = layer.type;
        add(std::move(prior));
    }

    void addParameter(const std::string &name, const at::Tensor &tensor)
    {
        LayerFact layer;
        layer.path = name;
        layer.type = "parameter:" + name;
        std::string lower = name;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const std::size_t before = m_priors.size();
        if (tensor.dim() >= 3 && tensor.dim() <= 5) {
            layer.kind = LayerKind::conv;
            layer.features = tensor.size(1);
            layer.outputs = tensor.size(0);
            layer.kernel = tensor.sizes().slice(2).vec();
            layer.stride = layer.kernel[0];
            addConv(layer, false);
        } else if (tensor.dim() == 2) {
            if (tensor.size(0) > tensor.size(1) &&
                (lower.find("embed") != std::string::npos || lower.find("token") != std::string::npos))
                addEmbedding(tensor.size(0), name, "op_seed");
            layer.kind = LayerKind::linear;
            layer.features = tensor.size(1);
            addLayer(layer, false);
        }
        for (std::size_t i = before; i < m_priors.size(); ++i) {
            m_priors[i].strategy = "op_seed";
            m_priors[i].module.clear();
            m_priors[i].op = "parameter:" + name;
        }
    }

    // A model of transposed convolutions makes something large of something small. A single one is left to
    // the ranks of the parameters, as on the page.
    void addTransposed()
    {
        const auto count =
            std::count_if(m_facts.layers.begin(), m_facts.layers.end(),
                          [](const LayerFact &layer) { return layer.kind == LayerKind::transposedConv; });
        const LayerFact *const layer = first(LayerKind::transposedConv);
        if (count < 2 || deciding() != nullptr)
            return;
        std::vector<std::int64_t> shape = {m_options.batchSize, m_options.channels.value_or(layer->features)};
        for (const std::int64_t side : {std::int64_t(1), std::int64_t(8)}) {
            shape.resize(2);
            shape.insert(shape.end(), layer->kernel.size(), side);
            addPlain(Kind::norm, shape, *layer, {});
        }
    }

    // Channels first and as many dimensions as the norm's name says; a layer norm's last dimensions after a
    // batch, and after a batch and a sequence.
    void addNorms()
    {
        for (const LayerFact &layer : m_facts.layers) {
            if (layer.kind != LayerKind::norm)
                continue;
            std::vector<std::int64_t> shape = {m_options.batchSize};
            if (layer.normalized.empty()) {
                shape.push_back(layer.features);
                if (layer.spatial == 1)
                    addPlain(Kind::norm, shape, layer, {});
                shape.insert(shape.end(), static_cast<std::size_t>(layer.spatial),
                             layer.spatial == 2 ? 32 : 16);
                addPlain(Kind::norm, std::move(shape), layer, {});
                continue;
            }
            shape.insert(shape.end(), layer.normalized.begin(), layer.normalized.end());
            addPlain(Kind::norm, shape, layer, {});
            shape.insert(shape.begin() + 1, m_options.seqLen.value_or(16));
            addPlain(Kind::norm, std::move(shape), layer, {});
        }
    }

    void addWaveforms()
    {
        const LayerFact *const conv = first(LayerKind::conv);
        const bool overSamples =
            (conv != nullptr && conv->kernel.size() == 1) ||
            std::any_of(m_facts.tables.begin(), m_facts.tables.end(), [](const auto &item) {
                return item.second.defined() && item.second.dim() == 3 && item.second.size(1) == 1;
            });
        if (!overSamples)
            return;
        for (const std::int64_t samples : {512, 256, 1536, 16000}) {
            ShapePrior prior;
            prior.kind = Kind::waveform;
            prior.shape = {m_options.batchSize, m_options.seqLen.value_or(samples)};
            prior.dtype = floating(m_facts.floating);
            prior.flexible = {1};
            prior.op = "waveform";
            add(std::move(prior));
        }
    }

    const ShapeFacts &m_facts;
    const GuessOptions &m_options;
    std::vector<ShapePrior> m_priors;
};

} // namespace

std::vector<ShapePrior> shapePriors(const ShapeFacts &facts, const GuessOptions &options)
{
    return Priors(facts, options).run();
}

} // namespace core
