// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/doctor_command.h"
#include "app/cli/capture_options.h"
#include "app/cli/commands.h"
#include "app/installation/doctor_facts.h"
#include "core/analysis/doctor.h"

#include <array>

namespace app {
namespace {

using core::Result;
using core::Status;

constexpr std::array<OptionSpec, 5> kOptions = {{
    {"input", "[NAME=]SPEC|FILE", "an input of the model, in order or by name", 0, true},
    {"inputs", "TREE.json", "all inputs as a tree; its files are relative to it"},
    {"card", "", "print the bounded card"},
    {"markdown", "", "print Markdown"},
    {"csv", "", "print the rows as CSV"},
}};

Result<core::CaptureRequest> requestOf(const Arguments &arguments, std::size_t operand)
{
    core::CaptureRequest request;
    if (arguments.operands().size() > operand)
        request.modelPath = arguments.operand(operand);
    request.inputsTree = arguments.text("inputs");
    for (const std::string &text : arguments.texts("input"))
        request.inputs.push_back({"", text});
    const bool hasInputs = !request.inputs.empty() || !request.inputsTree.empty();
    if (request.modelPath.empty() && hasInputs)
        return Status(core::ErrorCode::invalidArgument, "inputs are given and no model");
    if (!request.inputs.empty() && !request.inputsTree.empty())
        return Status(core::ErrorCode::invalidArgument,
                      "--input and --inputs are given together; the tree names all inputs");
    return request;
}

void print(const core::Report &report, const Arguments &arguments, Console &console)
{
    const bool isDoctor = report.reportType == "doctor";
    if (console.isJson())
        console.printDocument(core::reportDocument(report));
    else if (arguments.has("card"))
        console.print(core::reportCard(report) + "\n");
    else if (arguments.has("markdown"))
        console.print(isDoctor ? core::doctorMarkdown(report) : core::reportMarkdown(report));
    else if (arguments.has("csv"))
        console.print(core::reportCsv(report));
    else
        console.print(isDoctor ? core::doctorTable(report) : core::reportText(report));
}

Result<ExitCode> runDoctor(const Arguments &arguments, CommandContext &context)
{
    return runDoctorReport("doctor", arguments, 0, context);
}

} // namespace

Result<ExitCode> runDoctorReport(std::string_view name, const Arguments &arguments, std::size_t operand,
                                 CommandContext &context)
{
    const Result<core::CaptureRequest> request = requestOf(arguments, operand);
    if (!request)
        return request.error();
    const core::DoctorFacts facts = collectDoctorFacts(*request, context.programFolder, context.job);
    if (Status status = context.job.checkpoint("doctor"); !status)
        return status;
    const core::Report report =
        name == "doctor" ? core::doctorReport(facts) : core::capabilitySnapshotReport(facts);
    print(report, arguments, context.console);
    return report.found ? ExitCode::found : ExitCode::nothingFound;
}

const CommandSpec kDoctorCommand{
    .name = "doctor",
    .operands = "[MODEL]",
    .minOperands = 0,
    .maxOperands = 1,
    .summary = "check this installation, and whether a model can run here",
    .details = "Tries LibTorch, Graphviz and the worker programs. A model file and its inputs are read and\n"
               "not run: ops, element types and devices that are not here, sizes, tied parameters.\n"
               "The exit code is 1 when a row is an error.",
    .options = kOptions,
    .example = "opscope-cli doctor\n"
               "opscope-cli doctor model.pt2 --json\n"
               "opscope-cli doctor model.pt --input f32[1,3,224,224]=randn --markdown",
    .run = runDoctor,
};

} // namespace app
