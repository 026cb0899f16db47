// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "core/io/native_tools.h"

namespace app {
namespace {

using core::Result;
using core::Status;
using core::Value;

Status printLines(const core::Trace &trace, CommandContext &context)
{
    const auto takeLine = [&context](std::string_view line) {
        context.console.print(line);
        context.console.print("\n");
        return Status::ok();
    };
    return core::dumpTrace(trace, takeLine, context.job);
}

// One JSON document is a list of the same lines; a failure on the way is its last member.
Status printRecords(const core::Trace &trace, CommandContext &context)
{
    Console &console = context.console;
    if (!console.isJson())
        return printLines(trace, context);
    std::string_view separator = "{\"records\": [\n";
    const auto takeLine = [&console, &separator](std::string_view line) {
        console.printDocumentPart(separator);
        console.printDocumentPart(line);
        separator = ",\n";
        return Status::ok();
    };
    const Status status = core::dumpTrace(trace, takeLine, context.job);
    const bool isEmpty = separator.front() == '{';
    if (status || !isEmpty)
        console.printDocumentPart(
            std::string(isEmpty ? separator : "") + "\n]" +
            (status ? "" : ",\n\"error\": " + core::toJson(errorDocument(status).at("error"))) + "}\n");
    return status;
}

Result<ExitCode> runDump(const Arguments &arguments, CommandContext &context)
{
    return answerFromTrace(arguments, context, printRecords);
}

} // namespace

const CommandSpec kDumpCommand{
    .name = "dump",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "print the records of a trace as JSON lines",
    .details = "With --json they are the list \"records\" of one document.",
    .example = "opscope-cli dump run.opscope | head",
    .run = runDump,
};

} // namespace app
