// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace core {

enum class GradFnKind : std::uint8_t { root, op, leaf };
std::string_view gradFnKindName(GradFnKind kind);

// One node of a sketch: a tensor the walk started from, an autograd node, or a leaf that a variable hangs on.
struct GradFnNode
{
    std::uint32_t id = 0;
    GradFnKind kind = GradFnKind::op;
    std::string name;              // class name, or "output (2, 3)" of a root
    std::string paramName;         // of a leaf
    Value shape;                   // of roots and leaves; null when it is not known
    std::string dtype;             // "torch.float32"; empty when it is not known
    std::int8_t requiresGrad = -1; // -1: not known
    GradNodeId node;               // none for a root
    OpId op; // the forward op: of a root its row, of a node the row it differentiates; none
};

// The structure of a trace's autograd graph: no values, no times. Edges run in forward direction, producer to
// consumer.
struct GradFnSketch
{
    std::vector<GradFnNode> nodes; // in the order they were first seen, depth first from the roots
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    bool truncated = false; // the ceiling was reached: further nodes are recorded but not followed
};

inline constexpr std::int64_t kMaxGradFnNodes = 20000;

// Walks from the rows OPS, or when empty from all outputs of the model; where no output is known to have a
// node, from the roots of the backward passes.
// invalidArgument with detail() "grad_fn_walk_no_graph" when there is no graph to walk.
Result<GradFnSketch> walkGradFn(const Trace &trace, std::span<const OpId> ops, std::int64_t maxNodes);

// The sketch as DOT text with its legend.
std::string sketchDot(const GradFnSketch &sketch);

Result<Report> walkGradFnReport(const ReportRequest &request, const JobContext &job);
Result<Report> sketchGradFnReport(const ReportRequest &request, const JobContext &job);

} // namespace core
