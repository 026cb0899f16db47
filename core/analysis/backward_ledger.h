// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/trace_statistics.h"
#include "core/base/value.h"

#include <optional>
#include <string>
#include <vector>

namespace core {

// The gradients on one side of a firing: what is known of them, and their counts over all checked leaves.
struct GradientSide
{
    NonFiniteKind kind = NonFiniteKind::none;
    std::int64_t leaves = 0;
    std::int64_t unchecked = 0;
    TensorStats counts; // elements, nan, posInf, negInf only
};

// One firing of an autograd node, paired with the forward op it differentiates.
struct GradientTransition
{
    std::int64_t fire = 0; // 1-based
    const GradFireRow *row = nullptr;
    GradNodeId node;
    OpId op; // the paired forward op, its first pass where the pass is not known
    Value opLabel;
    Value module;
    Value sourceLine;
    std::string verdict; // clean, birth, propagated, healed, root_seed (bad from the start), unchecked
    GradientSide arriving;
    GradientSide emitted;

    std::int64_t checked() const
    {
        return arriving.leaves + emitted.leaves - arriving.unchecked - emitted.unchecked;
    }
    std::int64_t unchecked() const { return arriving.unchecked + emitted.unchecked; }
    bool isBad() const { return arriving.kind != NonFiniteKind::none || emitted.kind != NonFiniteKind::none; }
};

// What is wrong with the loss or with the gradient that PASS of an own capture starts from, as a sentence: a
// loss scale, a loss, or their product beyond the dtype of the loss, or a target that is not finite. "" for
// nothing.
std::string rootFault(const Trace &trace, BackwardId pass);

// What PASS multiplied its loss with, as its record says: the loss scale, else the gradient the pass started
// from (1 where none was asked for). nullopt: not recorded, as of imported traces.
std::optional<double> recordedLossScale(const Trace &trace, BackwardId pass);

// Every firing of PASS in the order measured. Measures the gradients first; cancelled when the job was. The
// rows point into the trace.
Result<std::vector<GradientTransition>> backwardTransitions(TraceStatistics &statistics, BackwardId pass,
                                                            const JobContext &job);

} // namespace core
