// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/model_info.h"
#include "app/cli/open_trace.h"
#include "core/analysis/report.h"
#include "core/base/units.h"
#include "core/trace/trace_documents.h"

#include <algorithm>

namespace app {
namespace {

using core::Result;
using core::Value;

std::string line(std::string_view name, std::string_view text)
{
    std::string out(name);
    out.resize(std::max<std::size_t>(out.size() + 1, 22), ' ');
    return out + std::string(text) + "\n";
}

std::string failureText(const core::TraceFailure &failure)
{
    std::string out = failure.signal.empty() ? failure.message : "ended by " + failure.signal;
    if (!failure.op.empty())
        out += ", in " + failure.op + (failure.label.empty() ? "" : " (" + failure.label + ")");
    return out;
}

std::string infoText(const core::Trace &trace)
{
    const core::TraceInfo &info = trace.info();
    std::string out = line("trace of", trace.subject());
    if (!info.modelKind.empty())
        out += line("model kind", info.modelKind);
    if (!info.producer.empty())
        out += line("written by", info.producer);
    if (!info.createdUtc.empty())
        out += line("written at", info.createdUtc);
    out += line("run", core::traceStatusName(info.status));
    if (const std::string failure = failureText(info.failure); !failure.empty())
        out += line("", failure);
    out += line("ops", core::formatCount(trace.ops().size()));
    out += line("calls", core::formatCount(trace.calls().size()));
    out += line("modules", core::formatCount(trace.modules().size()));
    out += line("parameters", core::formatCount(trace.params().size()) + " with buffers");
    out += line("backward passes", core::formatCount(trace.backwards().size()));
    for (const auto &[name, value] : info.request.toObject())
        out += line(name, core::cellText(value));
    for (const core::DiagnosticRow &row : trace.diagnostics())
        out += line("note", trace.string(row.message));
    return out;
}

core::Status printInfo(const core::Trace &trace, CommandContext &context)
{
    context.console.print(infoText(trace));
    context.console.printDocument(core::infoDocument(trace));
    return core::Status::ok();
}

Result<ExitCode> runInfo(const Arguments &arguments, CommandContext &context)
{
    if (isModelFile(arguments.operand(0)))
        return runModelInfo(arguments.operand(0), context);
    return answerFromTrace(arguments, context, printInfo);
}

} // namespace

const CommandSpec kInfoCommand{
    .name = "info",
    .operands = "FILE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "say what a trace or a model file holds",
    .details =
        "Of a trace: model, request, environment, how the run ended, counts. Of a model (.pt2, "
        "TorchScript):\n"
        "inputs with what they expect, train or eval, parameters, ops, and what cannot run here; nothing of\n"
        "it is run.",
    .example = "opscope-cli info run.opscope\nopscope-cli info model.pt2",
    .run = runInfo,
};

} // namespace app
