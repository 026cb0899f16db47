// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/table_rows.h"

namespace core {

// All of a trace but its payloads. A plain aggregate so that the index of a file can be written and read
// table by table.
struct TraceTables
{
    TraceInfo info;
    StringPool strings;

    std::vector<CallRow> calls;
    std::vector<OpRow> ops; // in capture order
    std::vector<TensorRow> tensors;
    std::vector<TensorStats> stats;
    std::vector<ModuleRow> modules;
    std::vector<ModuleCallRow> moduleCalls;
    std::vector<ParamRow> params;
    std::vector<FrameRow> frames;
    std::vector<StackRow> stacks;
    std::vector<SourceRow> sources;
    std::vector<GradNodeRow> gradNodes;
    std::vector<GradFireRow> gradFires; // by backward pass, then order
    std::vector<GradientRow> gradients; // by backward pass, then tensor
    std::vector<BackwardRow> backwards;
    std::vector<DiagnosticRow> diagnostics;
    std::vector<NoteRow> notes;
    std::vector<ArgumentRow> arguments;
    std::vector<GradEdgeRow> gradEdges;

    std::vector<OpId> opIds;
    std::vector<CallId> callIds;
    std::vector<TensorId> tensorIds;
    std::vector<ModuleCallId> moduleCallIds;
    std::vector<FrameId> frameIds;
    std::vector<StringId> stringIds;
    std::vector<GradNodeId> gradNodeIds;
    std::vector<std::int64_t> integers;
    std::vector<double> doubles;
};

} // namespace core
