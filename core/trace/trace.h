// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/trace/tables.h"
#include "core/trace/tensor_store.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace core {

// One run: every op of a forward (and backward) pass with its tensors, modules, parameters, call stacks and
// gradients. Immutable once published as shared_ptr<const Trace>, so it may be read from any thread. Made by
// TraceBuilder or read from the index of a file. Ids given to the accessors must be of this trace. What gives
// a span is in trace.cpp: its templates would cost every file that includes this one a second to compile.
class Trace
{
public:
    Trace(TraceTables tables, std::shared_ptr<const TensorStore> store, LoadReport report);

    const TraceInfo &info() const { return m_tables.info; }
    const TraceTables &tables() const { return m_tables; }
    const TensorStore &store() const { return *m_store; }
    const LoadReport &loadReport() const { return m_report; }
    std::string_view subject() const; // what reports call this trace

    std::span<const CallRow> calls() const;
    std::span<const OpRow> ops() const;
    std::span<const TensorRow> tensors() const;
    std::span<const ModuleRow> modules() const;
    std::span<const ModuleCallRow> moduleCalls() const;
    std::span<const ParamRow> params() const;
    std::span<const SourceRow> sources() const;
    std::span<const GradNodeRow> gradNodes() const;
    std::span<const GradFireRow> gradFires() const;
    std::span<const GradientRow> gradients() const;
    std::span<const BackwardRow> backwards() const;
    std::span<const DiagnosticRow> diagnostics() const;

    const CallRow &call(CallId id) const { return m_tables.calls[id.index()]; }
    const CallRow &callOf(OpId id) const { return call(op(id).call); }
    const OpRow &op(OpId id) const { return m_tables.ops[id.index()]; }
    const TensorRow &tensor(TensorId id) const { return m_tables.tensors[id.index()]; }
    const ModuleRow &module(ModuleId id) const { return m_tables.modules[id.index()]; }
    const ModuleCallRow &moduleCall(ModuleCallId id) const { return m_tables.moduleCalls[id.index()]; }
    const FrameRow &frame(FrameId id) const { return m_tables.frames[id.index()]; }
    const StackRow &stack(StackId id) const { return m_tables.stacks[id.index()]; }
    const GradNodeRow &gradNode(GradNodeId id) const { return m_tables.gradNodes[id.index()]; }

    std::string_view string(StringId id) const { return m_tables.strings.view(id); }
    std::string_view label(OpId id) const { return string(op(id).label); }
    // Layer label if the layer has one pass, else the label with its pass (reports.md section 2.3).
    std::string_view publicLabel(OpId id) const;

    std::span<const OpId> parents(OpId id) const;
    std::span<const OpId> children(OpId id) const;
    std::span<const ArgumentRow> arguments(CallId id) const;
    std::span<const TensorId> tensorIds(Range range) const;
    std::span<const CallId> callIds(Range range) const;
    std::span<const ModuleCallId> moduleCallIds(Range range) const;
    std::span<const FrameId> frames(StackId id) const;
    std::span<const StringId> stringIds(Range range) const;
    std::span<const GradNodeId> gradNodeIds(Range range) const;
    std::span<const GradEdgeRow> nextEdges(GradNodeId id) const;
    std::span<const std::int64_t> shape(TensorId id) const;
    std::span<const std::int64_t> strides(TensorId id) const;
    std::span<const double> sample(TensorId id) const;

    // nullptr when the tensor was not measured.
    const TensorStats *stats(TensorId id) const;
    // Address of the innermost module of an op, "" for the root or when there is none.
    std::string_view moduleAddress(OpId id) const;
    // "ff.wo:1", "" when the op is in no module call but the root's.
    std::string_view moduleCallLabel(OpId id) const;
    // Module calls that contain the op, outermost first, the root left out.
    std::vector<ModuleCallId> moduleChain(OpId id) const;
    // The frame a report names: innermost user frame of own captures, first frame of imported bundles; none.
    FrameId sourceFrame(StackId id) const;
    // "model.py:14" (base name for imported, recorded name for own captures), none without a frame.
    std::optional<std::string> sourceLine(OpId id) const;

    // Rows in the order every report walks them: reports.md section 3.
    std::span<const OpId> orderedOps() const;
    // Of those the rows with step > 0: outputs included, inputs and buffers not.
    std::span<const OpId> computeOps() const;
    // The row that made a tensor; none for parameters, constants, gradients.
    OpId producer(TensorId id) const;
    // The row with this label (with or without pass where that is one row); none.
    OpId findLabel(std::string_view label) const;
    // Gradient of a forward tensor in a backward pass: the row, nullptr when nothing was recorded.
    const GradientRow *gradient(TensorId tensor, BackwardId backward) const;

private:
    TraceTables m_tables;
    std::shared_ptr<const TensorStore> m_store;
    LoadReport m_report;
    std::vector<OpId> m_ordered;
    std::size_t m_firstCompute = 0;
    std::vector<std::pair<std::string_view, OpId>> m_byLabel; // sorted: label and unique layer label
};

} // namespace core
