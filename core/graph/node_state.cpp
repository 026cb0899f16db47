// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/node_state.h"

#include <algorithm>
#include <array>

namespace core {

namespace {

struct Counts
{
    bool known = false;
    bool nan = false;
    bool posInf = false;
    bool inf = false;
};

Counts countsOf(const Trace &trace, const GraphMarks &marks, OpId op)
{
    const TensorId tensor = trace.op(op).tensor;
    const TensorStats *stats = tensor.isValid() ? marks.stats(trace, tensor) : nullptr;
    if (stats == nullptr)
        return {};
    return {true, stats->nan > 0, stats->posInf > 0, stats->posInf + stats->negInf > 0};
}

NodeState stateOf(const Trace &trace, const GraphMarks &marks, OpId op)
{
    const Counts own = countsOf(trace, marks, op);
    Counts in;
    for (const OpId parent : trace.parents(op)) {
        const Counts counts = countsOf(trace, marks, parent);
        in.nan = in.nan || counts.nan;
        in.inf = in.inf || counts.inf;
    }
    const CallKind kind = trace.op(op).kind;
    if (!own.known || kind == CallKind::input || kind == CallKind::buffer)
        return NodeState::clean;
    if (kind == CallKind::output)
        return own.nan || own.posInf ? NodeState::reached : NodeState::clean;
    if (own.nan)
        return in.nan ? NodeState::propagated : NodeState::origin;
    if (own.posInf && !in.nan && !in.inf)
        return NodeState::origin;
    return in.nan && trace.op(op).tensor.isValid() ? NodeState::sink : NodeState::clean;
}

} // namespace

std::string_view nodeStateName(NodeState state)
{
    static constexpr std::array<std::string_view, 8> kNames = {"clean", "healed", "propagated", "spreads",
                                                               "sink",  "cause",  "reached",    "origin"};
    return kNames[static_cast<std::size_t>(state)];
}

bool isUnchecked(const Trace &trace, OpId op)
{
    const TensorId id = trace.op(op).tensor;
    if (!id.isValid() || trace.stats(id) != nullptr)
        return false;
    switch (trace.tensor(id).payload.state) {
    case PayloadState::saved:
    case PayloadState::meta:
    case PayloadState::uninitialised:
    case PayloadState::undefined:
        return false;
    default:
        return true;
    }
}

const TensorStats *GraphMarks::stats(const Trace &trace, TensorId tensor) const
{
    if (const TensorStats *recorded = trace.stats(tensor); recorded != nullptr || measured.empty())
        return recorded;
    const auto found = measured.find(tensor);
    return found == measured.end() ? nullptr : &found->second;
}

const TensorStats *GraphMarks::bornBackwardOf(OpId op) const
{
    const auto found = bornInBackward.find(op);
    return found == bornInBackward.end() ? nullptr : &found->second;
}

std::span<const OpId> inputsOf(const Trace &trace, OpId op, OpId &maker)
{
    const std::span<const OpId> parents = trace.parents(op);
    const OpRow &row = trace.op(op);
    if (!parents.empty() || row.kind != CallKind::output || !row.tensor.isValid())
        return parents;
    maker = trace.producer(row.tensor);
    return maker.isValid() && maker != op ? std::span<const OpId>(&maker, 1) : parents;
}

GraphMarks marksFromEvents(const Trace &trace, const BirthEvents &events,
                           std::unordered_map<TensorId, TensorStats> measured)
{
    GraphMarks marks;
    marks.measured = std::move(measured);
    marks.byOp.resize(trace.ops().size(), NodeState::clean);
    for (std::size_t i = 0; i < marks.byOp.size(); ++i) {
        const NodeState state = stateOf(trace, marks, OpId(i));
        // A report knows origins and sinks; what it does not name is none.
        if (state == NodeState::propagated || state == NodeState::reached)
            marks.byOp[i] = state;
    }
    for (const OpId op : events.sinks)
        marks.byOp[op.index()] = NodeState::sink;
    std::vector<bool> isByDesign(marks.byOp.size(), false);
    for (const OpId op : events.byDesign) {
        isByDesign[op.index()] = true;
        marks.byOp[op.index()] = NodeState::clean;
    }
    for (const OpId op : events.births) {
        marks.byOp[op.index()] = NodeState::origin;
        for (const OpId parent : trace.parents(op))
            if (isByDesign[parent.index()])
                marks.byOp[parent.index()] = NodeState::cause;
    }
    return marks;
}

GraphMarks marksFromStats(const Trace &trace)
{
    GraphMarks marks;
    marks.byOp.resize(trace.ops().size(), NodeState::clean);
    for (std::size_t i = 0; i < marks.byOp.size(); ++i)
        marks.byOp[i] = stateOf(trace, marks, OpId(i));
    for (std::size_t i = 0; i < marks.byOp.size(); ++i) {
        if (marks.byOp[i] != NodeState::origin)
            continue;
        for (const OpId parent : trace.parents(OpId(i)))
            if (marks.byOp[parent.index()] == NodeState::clean && countsOf(trace, marks, parent).inf &&
                trace.op(parent).kind == CallKind::compute)
                marks.byOp[parent.index()] = NodeState::cause;
    }
    return marks;
}

} // namespace core
