// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_folds.h"
#include "core/graph/graph_picture.h"

#include <vector>

namespace core {

inline constexpr std::uint32_t kMostDrawnConsumers = 8;
inline constexpr std::uint32_t kNoBox = 0xffffffffU;

// The visible slice: what is seen of a trace under some folds, and which box stands for which op.
struct GraphSlice
{
    GraphPicture picture;
    std::vector<std::uint32_t> boxOfPosition; // by position in the tree

    // kNoBox for an op that has no box (a buffer read).
    std::uint32_t boxOf(const GraphTree &tree, CallId call) const;
};

// Boxes, frames, edges and stubs, in execution order. Time is linear in ops and edges, whatever is visible;
// text is made for visible boxes only. A value with more than 8 consumers that are seen in more than one box
// is a stub at each, unless FOLDS draws it.
GraphSlice graphSlice(const GraphTree &tree, const GraphFolds &folds);

// How the arrow of VALUE into CONSUMER is drawn: by what the value holds, dotted into a view.
EdgeKind valueEdgeKind(const GraphTree &tree, OpId value, OpId consumer);

} // namespace core
