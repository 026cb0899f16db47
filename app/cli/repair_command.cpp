// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "core/base/units.h"
#include "core/io/native_tools.h"

#include <array>

namespace app {
namespace {

using core::Result;
using core::Status;
using core::Value;

constexpr std::array<OptionSpec, 1> kOptions = {{{"output", "OUT", "the trace to write", 'o'}}};

Result<ExitCode> runRepair(const Arguments &arguments, CommandContext &context)
{
    if (!arguments.has("output"))
        return Status(core::ErrorCode::invalidArgument, "repair needs -o OUT, the trace to write");
    const std::string out(arguments.text("output"));
    const Result<core::RepairResult> result = core::repairTrace(arguments.operand(0), out, context.job);
    if (!result)
        return result.error();
    Value notes = Value::list();
    std::string text = out + ": " + core::formatCount(result->entriesKept) + " entries kept, " +
                       core::formatCount(result->entriesDropped) + " left out\n";
    for (const core::LoadReport::Note &note : result->notes.notes()) {
        text += "  " + note.token + ": " + note.message + "\n";
        notes.append(
            Value::object({{"token", note.token}, {"message", note.message}, {"count", note.count}}));
    }
    context.console.print(text);
    context.console.printDocument(Value::object({{"trace", out},
                                                 {"entries_kept", result->entriesKept},
                                                 {"entries_dropped", result->entriesDropped},
                                                 {"notes", std::move(notes)}}));
    return ExitCode::nothingFound;
}

} // namespace

const CommandSpec kRepairCommand{
    .name = "repair",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "write a whole trace file from what of a damaged one can be read",
    .details = "The damaged file is not changed.",
    .options = kOptions,
    .example = "opscope-cli repair crashed.opscope -o repaired.opscope",
    .run = runRepair,
};

} // namespace app
