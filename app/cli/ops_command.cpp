// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "core/analysis/report.h"
#include "core/base/units.h"
#include "core/trace/trace_documents.h"

namespace app {
namespace {

using core::CellKind;
using core::Result;
using core::Value;

std::string shapeText(const core::Trace &trace, core::TensorId id)
{
    if (!trace.tensor(id).shapeKnown)
        return "?";
    std::string out = "[";
    for (const std::int64_t size : trace.shape(id))
        out += (out.size() > 1 ? "," : "") + std::to_string(size);
    return out + "]";
}

std::string nonFiniteText(const core::Trace &trace, core::TensorId id)
{
    const core::TensorStats *stats = trace.stats(id);
    if (stats == nullptr)
        return "not checked";
    std::string out;
    const auto add = [&out](std::uint64_t count, std::string_view name) {
        if (count > 0)
            out += (out.empty() ? "" : " ") + core::formatCount(count) + " " + std::string(name);
    };
    add(stats->nan, "NaN");
    add(stats->posInf, "+Inf");
    add(stats->negInf, "-Inf");
    return out;
}

core::ReportTable opTable(const core::Trace &trace)
{
    core::ReportTable table;
    table.columns = {{"step", CellKind::integer, {}}, {"label", CellKind::op, {}},
                     {"op", CellKind::text, {}},      {"dtype", CellKind::text, {}},
                     {"shape", CellKind::text, {}},   {"non-finite", CellKind::text, {}},
                     {"module", CellKind::text, {}},  {"source", CellKind::text, {}}};
    for (const core::OpId id : trace.orderedOps()) {
        const core::OpRow &op = trace.op(id);
        const bool hasTensor = op.tensor.isValid();
        const std::optional<std::string> line = trace.sourceLine(id);
        core::ReportRow row;
        row.op = id;
        row.cells = {Value(op.step),
                     Value(trace.label(id)),
                     Value(trace.string(trace.callOf(id).op)),
                     hasTensor ? Value(core::dtypeName(trace.tensor(op.tensor).dtype)) : Value(),
                     hasTensor ? Value(shapeText(trace, op.tensor)) : Value(),
                     hasTensor ? Value(nonFiniteText(trace, op.tensor)) : Value(),
                     Value(trace.moduleCallLabel(id)),
                     line ? Value(*line) : Value()};
        table.rows.push_back(std::move(row));
    }
    return table;
}

core::Status printOps(const core::Trace &trace, CommandContext &context)
{
    if (context.console.isJson())
        context.console.printDocument(core::opsDocument(trace));
    else
        context.console.print(core::tableText(opTable(trace)));
    return core::Status::ok();
}

Result<ExitCode> runOps(const Arguments &arguments, CommandContext &context)
{
    return answerFromTrace(arguments, context, printOps);
}

} // namespace

const CommandSpec kOpsCommand{
    .name = "ops",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "list the ops of a trace in execution order, one row for each output tensor",
    .details =
        "Inputs, outputs and buffers have rows of their own. With --json every row has label, op, func,\n"
        "kind, call, output, shape, dtype, parents, children, module, module_call, flops_forward,\n"
        "source_line, source, statistics and more; what is not available is null.",
    .example = "opscope-cli ops run.opscope\nopscope-cli ops run.opscope --json",
    .run = runOps,
};

} // namespace app
