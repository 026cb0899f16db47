// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_picture.h"
#include "core/graph/graph_tree.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace core {

// How far to look from an op.
struct LineageOptions
{
    OpId start;
    std::uint32_t up = 3; // edges towards the inputs
    std::uint32_t down = 3;
    std::size_t boxes = 200; // at most; the nearest come first
};

struct Lineage
{
    GraphPicture picture; // ops without module frames, all edges among them drawn
    std::uint32_t startBox = 0;
    bool truncated = false; // more ops are within reach than BOXES
};

// Where a value comes from and what it becomes. An op that is no leaf of the tree gives an empty picture.
Lineage lineagePicture(const GraphTree &tree, const LineageOptions &options);

// Statistics of a gradient, nullptr when there are none. The recorded ones when it is empty.
using GradientStatistics = std::function<const TensorStats *(TensorId)>;

// The grad functions of a backward graph, from the roots down to the leaves, with the states of pass
// BACKWARD: origin (bad out, none in), propagated, healed (bad in, finite out). At most BOXES, in the order
// they are reached from the roots (all roots of all passes when BACKWARD is none). STATISTICS are asked for
// what arrived and what was emitted; a bundle has values and records none.
GraphPicture gradPicture(const Trace &trace, BackwardId backward, std::size_t boxes = 1000,
                         const GradientStatistics &statistics = {});

} // namespace core
