// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "core/analysis/report.h"
#include "core/trace/trace_documents.h"

namespace app {
namespace {

using core::Result;
using core::Value;

// "path shape dtype, sum ..." and the values on a line of their own, at full precision.
std::string outputText(const Value &output)
{
    const std::string &path = output.at("path").toString();
    std::string out = path.empty() ? std::string("output") : "output " + path;
    if (!output.at("dtype").isNull())
        out += ": " + output.at("dtype").toString() + core::toJson(output.at("shape"));
    if (!output.at("sum_finite").isNull())
        out += ", sum over finite values " + core::cellText(output.at("sum_finite"), 17) + ", " +
               core::cellText(output.at("nonfinite")) + " not finite";
    if (!output.at("value").isNull())
        out += ": " + core::toJson(output.at("value"));
    out += "\n";
    if (!output.at("first").isNull())
        out += "  " + core::toJson(output.at("first")) + "\n";
    return out;
}

core::Status printOutputs(const core::Trace &trace, CommandContext &context)
{
    const Value document = core::outputsDocument(trace);
    for (const Value &output : document.at("outputs").toList())
        context.console.print(outputText(output));
    context.console.printDocument(document);
    return core::Status::ok();
}

Result<ExitCode> runOutputs(const Arguments &arguments, CommandContext &context)
{
    return answerFromTrace(arguments, context, printOutputs);
}

} // namespace

const CommandSpec kOutputsCommand{
    .name = "outputs",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "print what the model returned: path, shape, dtype, sum over finite values, first 16 values",
    .details = "A complex value counts as two numbers, its real and its imaginary part.",
    .example = "opscope-cli outputs run.opscope --json",
    .run = runOutputs,
};

} // namespace app
