// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "core/io/native_tools.h"

namespace app {
namespace {

using core::Result;
using core::Status;
using core::Value;

Status printRecords(const core::Trace &trace, CommandContext &context)
{
    Console &console = context.console;
    // One JSON document is a list of the same lines.
    std::string_view separator = "{\"records\": [\n";
    const auto takeLine = [&console, &separator](std::string_view line) {
        if (console.isJson())
            console.printRaw(separator);
        console.printRaw(line);
        console.print("\n");
        separator = ",\n";
        return Status::ok();
    };
    if (Status status = core::dumpTrace(trace, takeLine, context.job); !status)
        return status;
    if (console.isJson())
        console.printRaw("\n]}\n");
    return Status::ok();
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
