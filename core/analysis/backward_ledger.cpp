// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/backward_ledger.h"

#include "core/analysis/nonfinite_words.h"
#include "core/analysis/report_parts.h"
#include "core/base/number_word.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace core {
namespace {

class Transitions
{
public:
    explicit Transitions(TraceStatistics &statistics) : m_trace(statistics.trace()), m_statistics(statistics)
    {
        for (std::size_t i = 0; i < m_trace.ops().size(); ++i)
            m_byLayer[m_trace.op(OpId(i)).layerLabel].emplace_back(i);
    }

    Result<std::vector<GradientTransition>> run(BackwardId pass, const JobContext &job)
    {
        std::vector<TensorId> gradients;
        for (const GradFireRow &fire : m_trace.gradFires())
            if (fire.backward == pass)
                for (const Range range : {fire.arriving, fire.emitted})
                    for (const TensorId tensor : m_trace.tensorIds(range))
                        gradients.push_back(tensor);
        if (Status status = m_statistics.prepare(gradients, job); !status)
            return status;
        if (m_trace.info().source == TraceSource::own)
            for (const GradNodeId root : m_trace.gradNodeIds(m_trace.backwards()[pass.index()].roots))
                m_roots.insert(root);
        for (const GradFireRow &fire : m_trace.gradFires())
            if (fire.backward == pass)
                m_rows.push_back(transition(fire));
        return std::move(m_rows);
    }

private:
    GradientSide side(Range tensors) const
    {
        GradientSide side;
        bool nan = false;
        bool inf = false;
        for (const TensorId tensor : m_trace.tensorIds(tensors)) {
            if (!tensor.isValid())
                continue;
            ++side.leaves;
            const TensorStats *stats = m_statistics.find(tensor);
            if (stats == nullptr) {
                ++side.unchecked;
                continue;
            }
            side.counts.elements += stats->elements;
            side.counts.nan += stats->nan;
            side.counts.posInf += stats->posInf;
            side.counts.negInf += stats->negInf;
            nan = nan || hasNan(nonFiniteKind(*stats));
            inf = inf || hasInf(nonFiniteKind(*stats));
        }
        side.kind = nan ? (inf ? NonFiniteKind::nanAndInf : NonFiniteKind::nan)
                        : (inf ? NonFiniteKind::inf : NonFiniteKind::none);
        return side;
    }

    // The forward op of a node. A bundle names a layer; of several passes only what they share is told.
    void pair(GradientTransition &row) const
    {
        const GradNodeRow &node = m_trace.gradNode(row.node);
        std::vector<OpId> passes;
        if (node.opLabel.isValid()) {
            row.opLabel = m_trace.string(node.opLabel);
            if (const auto found = m_byLayer.find(node.opLabel); found != m_byLayer.end())
                passes = found->second;
            else if (const OpId op = m_trace.findLabel(m_trace.string(node.opLabel)); op.isValid())
                passes = {op};
        } else if (node.call.isValid() && m_trace.call(node.call).rows.count > 0) {
            passes = {OpId(m_trace.call(node.call).rows.begin)};
            row.opLabel = m_trace.publicLabel(passes[0]);
        }
        if (passes.empty()) {
            if (const std::string_view module = m_trace.string(node.module); !module.empty())
                row.module = module;
            return;
        }
        row.op = passes.front();
        row.module = moduleValue(m_trace, row.op);
        row.sourceLine = sourceLineValue(m_trace, row.op);
        for (const OpId op : passes)
            if (sourceLineValue(m_trace, op) != row.sourceLine)
                row.sourceLine = Value();
    }

    GradientTransition transition(const GradFireRow &fire) const
    {
        GradientTransition row;
        row.fire = static_cast<std::int64_t>(m_rows.size()) + 1;
        row.row = &fire;
        row.node = fire.node;
        if (row.node.isValid())
            pair(row);
        row.arriving = side(fire.arriving);
        row.emitted = side(fire.emitted);
        const bool arrivingBad = row.arriving.kind != NonFiniteKind::none;
        const bool emittedBad = row.emitted.kind != NonFiniteKind::none;
        if (row.arriving.leaves + row.emitted.leaves == 0)
            row.verdict = "unchecked";
        else if (arrivingBad && m_roots.contains(row.node))
            row.verdict = "root_seed"; // nothing but the seed arrives there
        else if (arrivingBad)
            row.verdict = emittedBad ? "propagated" : "healed";
        else if (emittedBad)
            row.verdict = row.arriving.leaves > 0 && row.unchecked() == 0 ? "birth" : "root_seed";
        else
            row.verdict = row.unchecked() > 0 ? "unchecked" : "clean";
        return row;
    }

    const Trace &m_trace;
    TraceStatistics &m_statistics;
    std::unordered_map<StringId, std::vector<OpId>> m_byLayer;
    std::unordered_set<GradNodeId> m_roots; // of the pass
    std::vector<GradientTransition> m_rows;
};

} // namespace

std::string rootFault(const Trace &trace, BackwardId pass)
{
    const BackwardRow &row = trace.backwards()[pass.index()];
    const auto facts = parseJson(trace.string(row.attributesJson), "backward");
    if (!facts || !facts->isObject() || facts->at("fault").isNull())
        return {};
    const std::string fault = facts->at("fault").toString();
    const std::string dtype = facts->at("dtype").toString();
    const double loss = numberOrWord(facts->at("loss")).value_or(std::nan(""));
    const std::string scale = formatNumber(row.lossScale);
    if (fault == "seed")
        return fmt::format(
            "the backward pass starts from a gradient that is not finite: the loss scale {} is "
            "beyond {}",
            scale, dtype);
    if (fault == "scaled_loss")
        return fmt::format("the loss {} times the loss scale {} is beyond {}", formatNumber(loss), scale,
                           dtype);
    const std::string_view kind = std::isnan(loss) ? "NaN" : "Inf";
    if (fault == "target")
        return fmt::format("the loss ({}) is {}: its target is not finite", trace.string(row.lossRule), kind);
    return fmt::format("the loss ({}) is {}, though all that went into it is finite{}",
                       trace.string(row.lossRule), kind,
                       std::isnan(loss) ? std::string() : fmt::format(": it is beyond {}", dtype));
}

std::optional<double> recordedLossScale(const Trace &trace, BackwardId pass)
{
    const BackwardRow &row = trace.backwards()[pass.index()];
    if (row.hasLossScale)
        return row.lossScale;
    const auto facts = parseJson(trace.string(row.attributesJson), "backward");
    const auto seed = facts && facts->isObject() ? numberOrWord(facts->at("seed")) : std::nullopt;
    return seed && std::isfinite(*seed) && *seed > 0.0 ? seed : std::nullopt;
}

Result<std::vector<GradientTransition>> backwardTransitions(TraceStatistics &statistics, BackwardId pass,
                                                            const JobContext &job)
{
    return Transitions(statistics).run(pass, job);
}

} // namespace core
