// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/graph/node_state.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace core {

enum class BoxKind : std::uint8_t { op, input, output, module, stack, run, parameter, gradient };
enum class BadgeTone : std::uint8_t { neutral, nan, nanSolid, inf, warn, ok, accent };

struct PictureBadge
{
    std::string text;
    BadgeTone tone = BadgeTone::neutral;
};

// One box of a picture, with all it can say: how much of it is drawn depends on the zoom.
struct PictureBox
{
    BoxKind kind = BoxKind::op;
    NodeState state = NodeState::clean; // of the forward pass
    bool bornInBackward = false;        // NaN or Inf is born in the backward pass of it
    std::uint32_t cluster = 0;
    std::string title;    // "softmax_8", "h.0 - h.6"
    std::string fullName; // "softmax_8_345", "h.0 ... h.6"
    std::string subtitle; // "fp16 [4, 256, 768]", "Block · 44 ops"
    std::string place;    // "h.7.attn · model.py:116", or empty
    std::string duration; // "0.74 ms", or empty
    std::vector<PictureBadge> badges;
    std::vector<float> histogram; // heights of the bins from 0 to 1, or empty
    float nanShare = 0.0F;
    float infShare = 0.0F;
    bool unchecked = false;       // nobody looked at any of it
    bool partlyUnchecked = false; // nobody looked at some of it
    bool statisticsOnly = false;
    bool inPlace = false;
    bool view = false;
    bool canUnfold = false;

    std::uint64_t foldKey = 0; // of a module, stack or run (core/graph/graph_folds.h)
    OpId op;                   // the first row; of a folded box that of its first call
    ModuleCallId moduleCall;   // of a module, or of the first of a stack
    GradNodeId gradNode;       // of a gradient box
    std::uint32_t opCount = 1;
    std::uint32_t memberCount = 1; // of a stack
    std::uint32_t begin = 0;       // positions in the tree
    std::uint32_t end = 0;
};

// An unfolded module or run: a frame with a header. Cluster 0 is the whole picture.
struct PictureCluster
{
    std::uint32_t parent = 0;
    std::string title;
    std::string subtitle;
    std::uint64_t foldKey = 0;
    ModuleCallId moduleCall;
    NodeState state = NodeState::clean;
    bool bornInBackward = false;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

enum class EdgeKind : std::uint8_t { data, alias, gradient, inf, nan };

// An arrow between boxes. Of several tensors that go the same way VALUE is the first and COUNT their number.
struct PictureEdge
{
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    EdgeKind kind = EdgeKind::data;
    std::uint32_t count = 1;
    OpId value;
    std::string label; // "q, 3 tensors"; what a tooltip says
};

// A value that many ops read, as a pill beside a box instead of an arrow across the picture.
struct PictureStub
{
    std::uint32_t box = 0;
    bool atProducer = false;
    bool onLeft = true;
    std::uint32_t row = 0; // 0 or 1, from the top
    std::string text;      // "live", "cos, sin", "12 uses"
    std::vector<OpId> values;
};

// A graph ready to be placed and drawn: the visible slice of a trace, a lineage, a sketch of grad functions.
struct GraphPicture
{
    std::vector<PictureBox> boxes; // in execution order
    std::vector<PictureCluster> clusters = {PictureCluster()};
    std::vector<PictureEdge> edges;
    std::vector<PictureStub> stubs;
    std::uint32_t totalOps = 0;
    std::uint32_t stubbedEdges = 0;
};

} // namespace core
