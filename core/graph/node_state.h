// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace core {

// What a picture says about an op, mildest first: of several ops in one box the last of this list shows.
enum class NodeState : std::uint8_t {
    clean,
    healed,     // backward: bad in, finite out
    propagated, // bad in, bad out
    spreads,    // the bad share grows by a new row, channel or sample
    sink,       // bad in, finite out
    cause,      // its output makes a birth unavoidable
    reached,    // an output or loss is bad
    origin,     // bad out, none in
};
std::string_view nodeStateName(NodeState state);

// What is known of the rows of a trace beyond the trace itself. BYOP: the state of every op row, by OpId;
// empty: all clean. MEASURED: statistics of tensors whose trace has none, measured from their values. Reports
// fill it (nonfinite_origin, bisect_nan_backward), or marksFromStats when no report ran.
struct GraphMarks
{
    std::vector<NodeState> byOp;
    // Ops whose grad function was given finite gradients only and gave others, with the counts of those.
    std::unordered_map<OpId, TensorStats> bornInBackward;
    std::unordered_map<TensorId, TensorStats> measured;

    // nullptr when neither the trace nor a report has any.
    const TensorStats *stats(const Trace &trace, TensorId tensor) const;
    NodeState of(OpId op) const { return op.index() < byOp.size() ? byOp[op.index()] : NodeState::clean; }
    // nullptr where nothing was born.
    const TensorStats *bornBackwardOf(OpId op) const;
};

// Neither values nor statistics were kept of a row that has a tensor: nobody looked at it, so nothing may be
// said. Rows whose tensor holds nothing by nature (undefined, meta, not yet written) count as looked at.
bool isUnchecked(const Trace &trace, OpId op);

// States by the measured counts alone: NaN out and none in is an origin, and so is +Inf; NaN in and out
// propagates; NaN in and none out is a sink; a row with Inf that an origin reads is its cause; a bad output
// row is reached. -Inf that no origin reads (a mask) stays clean. Linear in ops and edges.
GraphMarks marksFromStats(const Trace &trace);
// The ops a row depends on: its parents; of an output row without any, the maker of its tensor.
std::span<const OpId> inputsOf(const Trace &trace, OpId op, OpId &maker);

// What a report on births found: rows where NaN or Inf is born, births that are there by design (a mask's
// -Inf), rows that swallow it.
struct BirthEvents
{
    std::vector<OpId> births;
    std::vector<OpId> byDesign;
    std::vector<OpId> sinks;
};
// States by a report's events: its births are the origins, a birth by design that an origin reads its cause,
// else clean; what the statistics say fills in the rest (propagated, reached).
GraphMarks marksFromEvents(const Trace &trace, const BirthEvents &events,
                           std::unordered_map<TensorId, TensorStats> measured = {});

} // namespace core
