// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "core/io/convert_trace.h"
#include "core/io/draft_file.h"
#include "core/io/native_tools.h"

#include <array>
#include <span>

namespace app {
namespace {

using core::Result;
using core::Status;
using core::Value;

constexpr std::array<OptionSpec, 7> kOptions = {
    {{"output", "OUT", "the file to write", 'o'},
     {"to", "FORMAT", "opscope (default), sqlite, json, csv, safetensors or chrome-trace"},
     {"without-payloads", "", "a copy (opscope) without values, statistics stay"},
     {"without-parameters", "", "without the values of parameters and buffers"},
     {"without-sources", "", "without source texts"},
     {"without-inputs", "", "without the values of the inputs and how they were asked for"},
     {"short-paths", "", "with file names in place of paths"}}};

// What a copy that is passed on leaves out.
core::CopyOptions copyOptions(const Arguments &arguments)
{
    core::CopyOptions options;
    options.withoutPayloads = arguments.has("without-payloads");
    options.withoutParameters = arguments.has("without-parameters");
    options.withoutSources = arguments.has("without-sources");
    options.withoutInputs = arguments.has("without-inputs");
    options.shortPaths = arguments.has("short-paths");
    return options;
}

// The first of those options that is given; "" without one.
std::string_view givenCopyOption(const Arguments &arguments)
{
    for (const OptionSpec &option : std::span(kOptions).subspan(2))
        if (arguments.has(option.name))
            return option.name;
    return {};
}

Result<ExitCode> runConvert(const Arguments &arguments, CommandContext &context)
{
    if (!arguments.has("output"))
        return Status(core::ErrorCode::invalidArgument, "convert needs -o OUT, the file to write");
    const std::string format = arguments.has("to") ? std::string(arguments.text("to")) : "opscope";
    const std::optional<core::ConvertTarget> target = core::convertTargetFromName(format);
    if (!target)
        return Status(core::ErrorCode::invalidArgument,
                      "option --to is \"" + format +
                          "\", it takes opscope, sqlite, json, csv, safetensors or chrome-trace");
    if (const std::string_view copy = givenCopyOption(arguments);
        !copy.empty() && *target != core::ConvertTarget::opscope)
        return Status(core::ErrorCode::invalidArgument,
                      "option --" + std::string(copy) + " goes with --to opscope, not with " + format);
    const std::string out(arguments.text("output"));
    if (Status status = core::checkNotRead(out, arguments.operand(0)); !status)
        return status;
    const Result<std::shared_ptr<const core::Trace>> trace = openTraceFile(arguments.operand(0), context);
    if (!trace)
        return trace.error();
    Value leftOut = Value::list();
    const auto sentences = *target == core::ConvertTarget::opscope
                               ? core::writeTrace(**trace, out, copyOptions(arguments), context.job)
                               : core::convertTrace(**trace, out, *target, context.job);
    if (!sentences)
        return sentences.error();
    for (const std::string &sentence : *sentences) {
        context.console.print(sentence + "\n");
        leftOut.append(sentence);
    }
    context.console.print(out + ": written as " + format + "\n");
    context.console.printDocument(
        Value::object({{"file", out}, {"format", format}, {"left_out", std::move(leftOut)}}));
    return ExitCode::nothingFound;
}

} // namespace

const CommandSpec kConvertCommand{
    .name = "convert",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "write a trace of any format as a native trace, or what other programs read",
    .details =
        "sqlite holds all tables, for questions in SQL; json all records; csv the op table; safetensors the\n"
        "saved values by name; chrome-trace the ops on a time axis for Perfetto.",
    .options = kOptions,
    .example = "opscope-cli convert bundle.tlspec -o run.opscope\n"
               "opscope-cli convert run.opscope -o mailed.opscope --without-parameters --short-paths\n"
               "opscope-cli convert run.opscope --to csv -o ops.csv",
    .run = runConvert,
};

} // namespace app
