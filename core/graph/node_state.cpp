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

Counts countsOf(const Trace &trace, OpId op)
{
    const TensorId tensor = trace.op(op).tensor;
    const TensorStats *stats = tensor.isValid() ? trace.stats(tensor) : nullptr;
    if (stats == nullptr)
        return {};
    return {true, stats->nan > 0, stats->posInf > 0, stats->posInf + stats->negInf > 0};
}

NodeState stateOf(const Trace &trace, OpId op)
{
    const Counts own = countsOf(trace, op);
    Counts in;
    for (const OpId parent : trace.parents(op)) {
        const Counts counts = countsOf(trace, parent);
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

GraphMarks marksFromStats(const Trace &trace)
{
    GraphMarks marks;
    marks.byOp.resize(trace.ops().size(), NodeState::clean);
    for (std::size_t i = 0; i < marks.byOp.size(); ++i)
        marks.byOp[i] = stateOf(trace, OpId(i));
    for (std::size_t i = 0; i < marks.byOp.size(); ++i) {
        if (marks.byOp[i] != NodeState::origin)
            continue;
        for (const OpId parent : trace.parents(OpId(i)))
            if (marks.byOp[parent.index()] == NodeState::clean && countsOf(trace, parent).inf &&
                trace.op(parent).kind == CallKind::compute)
                marks.byOp[parent.index()] = NodeState::cause;
    }
    return marks;
}

} // namespace core
