// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/doctor_command.h"
#include "app/cli/open_trace.h"
#include "app/cli/report_output.h"
#include "core/analysis/report.h"
#include "core/analysis/report_registry.h"
#include "core/base/near_names.h"

#include <algorithm>
#include <array>
#include <vector>

namespace app {
namespace {

using core::ErrorCode;
using core::ReportDefinition;
using core::ReportSubject;
using core::Result;
using core::Status;
using core::Value;

constexpr auto kForms = [] {
    constexpr std::array<OptionSpec, 2> own = {
        {{"input", "[NAME=]SPEC|FILE", "doctor: an input of the model", 0, true},
         {"inputs", "TREE.json", "doctor: all inputs of the model as a tree"}}};
    std::array<OptionSpec, kReportForms.size() + own.size()> all{};
    std::ranges::copy(own, std::ranges::copy(kReportForms, all.begin()).out);
    return all;
}();

// The reports that need no trace but this installation, with or without a model.
struct InstallationReport
{
    std::string_view name;
    std::string_view description;
};
constexpr std::array<InstallationReport, 2> kInstallationReports = {
    {{"doctor", "Checks this installation, and whether a model can run here"},
     {"capability_snapshot", "Lists what this LibTorch can do"}}};

bool isAboutInstallation(std::string_view name)
{
    return std::any_of(kInstallationReports.begin(), kInstallationReports.end(),
                       [name](const InstallationReport &report) { return report.name == name; });
}

Status unknownReport(std::string_view name)
{
    std::vector<std::string_view> names;
    for (const InstallationReport &report : kInstallationReports)
        names.push_back(report.name);
    for (const ReportDefinition &report : core::reportDefinitions())
        names.push_back(report.name);
    const std::vector<std::string_view> near = core::nearNames(name, names, 1);
    return Status(ErrorCode::invalidArgument, "there is no report \"" + std::string(name) + "\"")
        .withRemedy(near.empty() ? "opscope-cli report list names the reports"
                                 : core::didYouMean(near, "\"", "\""));
}

std::string operandWords(ReportSubject subject)
{
    switch (subject) {
    case ReportSubject::trace:
        return "TRACE";
    case ReportSubject::twoTraces:
        return "TRACE TRACE";
    case ReportSubject::tensors:
        return "FILE";
    case ReportSubject::twoTensors:
        return "FILE FILE";
    case ReportSubject::nothing:
        return "no file";
    }
    return {};
}

ExitCode listReports(CommandContext &context)
{
    Value reports = Value::list();
    for (const ReportDefinition &report : core::reportDefinitions()) {
        std::string text = std::string(report.name) + " " + operandWords(report.subject) + "\n    " +
                           std::string(report.description) + "\n";
        text += optionLines(report.options);
        context.console.print(text);
        reports.append(Value::object({{"name", report.name},
                                      {"description", report.description},
                                      {"operands", operandWords(report.subject)},
                                      {"options", optionDocuments(report.options)}}));
    }
    for (const InstallationReport &report : kInstallationReports) {
        context.console.print(std::string(report.name) + " [MODEL]\n    " + std::string(report.description) +
                              "\n");
        reports.append(Value::object({{"name", report.name},
                                      {"description", report.description},
                                      {"operands", "[MODEL]"},
                                      {"options", Value::list()}}));
    }
    context.console.printDocument(Value::object({{"reports", std::move(reports)}}));
    return ExitCode::nothingFound;
}

std::size_t fileCount(ReportSubject subject)
{
    switch (subject) {
    case ReportSubject::twoTraces:
    case ReportSubject::twoTensors:
        return 2;
    case ReportSubject::nothing:
        return 0;
    case ReportSubject::trace:
    case ReportSubject::tensors:
        break;
    }
    return 1;
}

Status checkFiles(const ReportDefinition &report, std::size_t given)
{
    if (given == fileCount(report.subject))
        return Status::ok();
    return Status(ErrorCode::invalidArgument,
                  "report " + std::string(report.name) + " takes " + operandWords(report.subject) + ", " +
                      std::to_string(given) + (given == 1 ? " file is given" : " files are given"))
        .withRemedy("opscope-cli report list names the reports and what they take");
}

std::string exampleFor(const ReportDefinition &report)
{
    std::string text;
    switch (report.subject) {
    case ReportSubject::trace:
        text = "run.opscope";
        break;
    case ReportSubject::twoTraces:
        text = "a.opscope b.opscope";
        break;
    case ReportSubject::tensors:
        text = "model.safetensors";
        break;
    case ReportSubject::twoTensors:
        text = "a.safetensors b.safetensors";
        break;
    case ReportSubject::nothing:
        break;
    }
    for (const core::ReportOption &option : report.options)
        if (option.type == core::OptionType::op)
            text += " --op-or-label output_1";
    return text;
}

Result<std::string> reportHelp(std::string_view name)
{
    if (name == "list")
        return std::string();
    for (const InstallationReport &report : kInstallationReports)
        if (report.name == name)
            return helperHelp({"report", report.name, "[MODEL]", report.description, {}, {}});
    const ReportDefinition *report = core::findReport(name);
    if (report == nullptr)
        return unknownReport(name);
    const bool fileless = report->subject == ReportSubject::nothing;
    return helperHelp({"report", report->name, fileless ? std::string() : operandWords(report->subject),
                       report->description, report->options, exampleFor(*report)});
}

// What reads as null or as a number can be a name: a module called "none", the end ".1" of an address.
void takeWordsAsTheyStand(const ReportDefinition &report, const Arguments &arguments, Value &options)
{
    for (const core::ReportOption &option : report.options) {
        const Value *given = options.find(option.name);
        const bool isPosition = option.type == core::OptionType::op && given != nullptr && given->isInt();
        const bool isWord = option.type == core::OptionType::op || option.type == core::OptionType::text;
        if (given == nullptr || !isWord || given->isString() || isPosition)
            continue;
        options.set(option.name, Value(arguments.text(dashed(option.name))));
    }
}

Result<core::ReportRequest> requestOf(const ReportDefinition &report, const Arguments &arguments,
                                      CommandContext &context)
{
    core::ReportRequest request;
    Result<Value> options = arguments.helperOptions();
    if (!options)
        return options.error();
    if (Status status = checkOptionNames(report.name, *options, report.options, kForms); !status)
        return status;
    takeWordsAsTheyStand(report, arguments, *options);
    // Wrong values too are told before a large file is read.
    if (Result<Value> complete = core::completeOptions(report, *options); !complete)
        return complete.error();
    if (Status status = checkFiles(report, arguments.operands().size() - 1); !status)
        return status;
    request.options = std::move(*options);
    const bool tensors =
        report.subject == ReportSubject::tensors || report.subject == ReportSubject::twoTensors;
    const auto open = tensors ? openTraceOrTensorFile : openTraceFile;
    for (std::size_t i = 1; i < arguments.operands().size(); ++i) {
        Result<std::shared_ptr<const core::Trace>> trace = open(arguments.operand(i), context);
        if (!trace)
            return trace.error();
        (i == 1 ? request.trace : request.other) = std::move(*trace);
    }
    return request;
}

Result<ExitCode> runInstallationReport(const Arguments &arguments, CommandContext &context)
{
    const std::string &name = arguments.operand(0);
    const Result<Value> given = arguments.helperOptions();
    if (!given)
        return given.error();
    if (Status status = checkOptionNames(name, *given, {}, kForms); !status)
        return status;
    const std::size_t files = arguments.operands().size() - 1;
    if (files > 1)
        return Status(ErrorCode::invalidArgument, "report " + name + " takes at most one model, " +
                                                      std::to_string(files) + " files are given");
    return runDoctorReport(name, arguments, 1, context);
}

Result<ExitCode> runReportCommand(const Arguments &arguments, CommandContext &context)
{
    const std::string &name = arguments.operand(0);
    if (name == "list")
        return listReports(context);
    if (isAboutInstallation(name))
        return runInstallationReport(arguments, context);
    const ReportDefinition *definition = core::findReport(name);
    if (definition == nullptr)
        return unknownReport(name);
    Result<core::ReportRequest> request = requestOf(*definition, arguments, context);
    if (!request)
        return request.error();
    const Result<core::Report> report = core::runReport(*definition, std::move(*request), context.job);
    if (!report)
        return report.error();
    printReport(*report, arguments, context.console);
    return finishReport(*report, context.console);
}

} // namespace

const CommandSpec kReportCommand{
    .name = "report",
    .operands = "NAME [FILE [FILE]]",
    .minOperands = 1,
    .maxOperands = 3,
    .summary = "answer one diagnostic question about a trace, about two, or about weights",
    .details = "NAME is a helper's name on the reference page; its keywords are the options, with dashes or\n"
               "underscores: booleans as true or false, mappings and lists as JSON.\n"
               "\"opscope-cli report list\" names all reports with their options.",
    .options = kForms,
    .example = "opscope-cli report list\n"
               "opscope-cli report nonfinite_origin run.opscope\n"
               "opscope-cli report find_nan run.opscope --json",
    .run = runReportCommand,
    .takesAnyOption = true,
    .operandHelp = reportHelp,
};

} // namespace app
