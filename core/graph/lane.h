// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"
#include "core/draw/draw_list.h"
#include "core/graph/graph_tree.h"

#include <cstdint>
#include <string>
#include <vector>

namespace core {

// One op of a lane's row.
struct LaneCell
{
    OpId op;
    float height = 0.0F;                // 0 to 1: share of bad elements on a log scale
    NodeState state = NodeState::clean; // backward: origin where the grad function of the op made it
    bool inf = false;                   // bad by Inf alone
    bool unchecked = false;             // nobody looked
    bool gap = false;                   // backward: an op without gradient
};

struct LaneBand
{
    std::string title;
    std::uint32_t begin = 0; // cells
    std::uint32_t end = 0;
    NodeState state = NodeState::clean;
    bool bornInBackward = false;
};

// All ops of a run in execution order: the forward row, and under each op its gradient when a backward pass
// was recorded. BANDS are the modules above, at the depth that gives at most a few dozen.
struct LaneModel
{
    std::vector<LaneCell> forward;
    std::vector<LaneCell> backward; // as many as forward, or none
    std::vector<LaneBand> bands;
    std::size_t ops = 0; // cells of the forward row that are no inputs, buffers or outputs

    // Index of the cell of OP, or of the first op of its call; kNoCell when there is none.
    std::uint32_t cellOf(OpId op) const;
    static constexpr std::uint32_t kNoCell = 0xffffffffU;

    std::vector<std::uint32_t> cellByOp; // by OpId
};

// Linear in ops.
LaneModel laneModel(const GraphTree &tree);
// 0 for none, 1 for all; a share of 1e-6 or less still shows.
float laneHeight(double badShare);

// What part of a lane is seen, and how.
struct LaneLook
{
    double width = 0.0; // of the drawing, pixels
    double height = 0.0;
    double first = 0.0; // first cell seen, may be a fraction
    double count = 0.0; // cells seen
    std::uint32_t current = LaneModel::kNoCell;
    std::uint32_t rangeFirst = LaneModel::kNoCell;
    std::uint32_t rangeLast = LaneModel::kNoCell;
    std::vector<std::uint32_t> matches; // cells of a find
    bool tall = false;                  // with captions (NaN hunt)
};

// HitId::kind of a lane's rows; INDEX is the cell.
enum class LaneHit : std::uint16_t { none, forward, backward, band };

inline constexpr double kLaneCaption = 92.0; // pixels at the left, for the rows' names

// Pixel columns that hold many cells show the worst of them, so nothing bad is lost at any width.
DrawList drawLane(const LaneModel &model, const LaneLook &look);
// The cell under X, kNoCell outside the cells.
std::uint32_t laneCellAt(const LaneModel &model, const LaneLook &look, double x);

} // namespace core
