// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/capture_options.h"
#include "app/cli/commands.h"
#include "app/cli/model_run.h"
#include "app/cli/report_output.h"
#include "core/analysis/report_value.h"
#include "core/base/near_names.h"
#include "core/base/write_error.h"
#include "core/capture/live_helpers.h"
#include "core/io/work_folder.h"

#include <algorithm>
#include <vector>

namespace app {
namespace {

using core::CaptureOutcome;
using core::CaptureRequest;
using core::ErrorCode;
using core::LiveHelper;
using core::Result;
using core::Status;
using core::Value;

constexpr auto kOptions = [] {
    constexpr std::array<OptionSpec, 1> own = {{{"output", "OUT", "keep the trace of the run there", 'o'}}};
    std::array<OptionSpec, own.size() + kRunOptions.size() + kReportForms.size()> all{};
    auto next = std::ranges::copy(own, all.begin()).out;
    next = std::ranges::copy(kRunOptions, next).out;
    std::ranges::copy(kReportForms, next);
    return all;
}();

Status unknownHelper(std::string_view name)
{
    std::vector<std::string_view> names;
    for (const LiveHelper &helper : core::liveHelpers())
        names.push_back(helper.name);
    const std::vector<std::string_view> near = core::nearNames(name, names, 1);
    return Status(ErrorCode::invalidArgument,
                  "there is no helper \"" + std::string(name) + "\" that runs a model")
        .withRemedy(near.empty() ? "opscope-cli run list names them; reports over a saved trace are "
                                   "opscope-cli report"
                                 : core::didYouMean(near, "\"", "\""));
}

ExitCode listHelpers(CommandContext &context)
{
    Value helpers = Value::list();
    for (const LiveHelper &helper : core::liveHelpers()) {
        context.console.print(std::string(helper.name) + " MODEL\n    " + std::string(helper.description) +
                              "\n" + optionLines(helper.options));
        helpers.append(Value::object({{"name", helper.name},
                                      {"description", helper.description},
                                      {"needs_inputs", helper.needsInputs},
                                      {"options", optionDocuments(helper.options)}}));
    }
    context.console.printDocument(Value::object({{"helpers", std::move(helpers)}}));
    return ExitCode::nothingFound;
}

// Where the trace goes while the helper runs: where the user wants it, else a folder of our own that goes
// with this object.
class TracePlace
{
public:
    explicit TracePlace(std::string asked) : m_path(std::move(asked)), m_kept(!m_path.empty()) {}

    Status make()
    {
        if (m_kept)
            return Status::ok();
        Result<core::WorkFolder> folder = core::WorkFolder::make("run");
        if (!folder)
            return folder.status().prefixed("the trace").withRemedy("give a place with -o OUT");
        m_folder = std::move(*folder);
        m_path = (m_folder.path() / "run.opscope").string();
        return Status::ok();
    }
    const std::string &path() const { return m_path; }
    bool isKept() const { return m_kept; }
    std::string folder() const { return m_folder.path().string(); }

private:
    std::string m_path;
    core::WorkFolder m_folder;
    bool m_kept;
};

Result<std::string> liveHelp(std::string_view name)
{
    if (name == "list")
        return std::string();
    const LiveHelper *helper = core::findLiveHelper(name);
    if (helper == nullptr)
        return unknownHelper(name);
    // What concerns compilers has nothing to say of a program that was exported.
    const bool needsScript = name == "count_compiles" || name == "graph_breaks";
    return helperHelp({"run", helper->name, "MODEL", helper->description, helper->options,
                       needsScript ? "model.pt" : "model.pt2"});
}

Result<CaptureRequest> requestOf(const LiveHelper &helper, const Arguments &arguments)
{
    Result<Value> given = arguments.helperOptions();
    if (!given)
        return given.error();
    if (Status status = checkOptionNames(helper.name, *given, helper.options, kOptions); !status)
        return status;
    if (arguments.operands().size() < 2)
        return Status(ErrorCode::invalidArgument,
                      "run " + std::string(helper.name) + " takes a model file, none is given");
    Result<CaptureRequest> request = runRequest(arguments, 1);
    if (!request)
        return request;
    Result<Value> options = core::completeLiveOptions(helper, *given);
    if (!options)
        return options.error();
    request->task = helper.name;
    request->options = *std::move(options);
    return request;
}

// What the run was, beside what the helper says of it.
Value runDocument(const CaptureOutcome &outcome, const TracePlace &place)
{
    const bool kept = outcome.hasTrace() && place.isKept();
    return Value::object({{"trace", kept ? Value(place.path()) : Value()},
                          {"run", Value::object({{"status", core::traceStatusName(outcome.status)},
                                                 {"summary", outcome.summary}})}});
}

Value failureDocument(const CaptureOutcome &outcome, const TracePlace &place)
{
    Value document = errorDocument(outcome.error);
    const Value run = runDocument(outcome, place);
    for (const auto &[name, member] : run.toObject())
        document.set(name, member);
    document.set("op", outcome.op.empty() ? Value() : Value(outcome.op));
    document.set("stack", stackValue(outcome));
    return document;
}

// A folder that nobody named is full: that is where room is needed.
void nameFullFolder(CaptureOutcome &outcome, const TracePlace &place)
{
    if (place.isKept() || outcome.error.detail() != core::kNoRoom)
        return;
    outcome.error =
        outcome.error.prefixed("the trace in the temporary folder " + place.folder())
            .withRemedy("make room there, set TMPDIR to another folder, or give a place with -o OUT");
}

ExitCode failureAnswer(const CaptureOutcome &outcome, const TracePlace &place, Console &console)
{
    console.printDocument(failureDocument(outcome, place));
    if (outcome.hasTrace() && place.isKept())
        console.print(place.path() + ": " + std::string(core::traceStatusName(outcome.status)) + "\n");
    tellFailure(outcome, console);
    return failedRunCode(outcome);
}

Result<ExitCode> tellOutcome(const CaptureOutcome &outcome, const Arguments &arguments,
                             const TracePlace &place, Console &console)
{
    for (const Value &warning : outcome.summary.at("warnings").toList())
        console.warning(warning.toString());
    if (outcome.report.isNull())
        return failureAnswer(outcome, place, console);
    const Result<core::Report> report = core::reportFromValue(outcome.report);
    if (!report)
        return report.error();
    printReport(*report, arguments, console, runDocument(outcome, place));
    if (outcome.hasTrace() && place.isKept())
        console.message("the trace is in " + place.path());
    return finishReport(*report, console);
}

Result<ExitCode> runHelper(const Arguments &arguments, CommandContext &context)
{
    const std::string &name = arguments.operand(0);
    if (name == "list")
        return listHelpers(context);
    const LiveHelper *helper = core::findLiveHelper(name);
    if (helper == nullptr)
        return unknownHelper(name);
    Result<CaptureRequest> request = requestOf(*helper, arguments);
    if (!request)
        return request.error();
    TracePlace place{std::string(arguments.text("output"))};
    if (Status made = place.make(); !made)
        return made;
    request->outputPath = place.path();
    Result<CaptureOutcome> outcome = runModel(*request, context);
    if (!outcome)
        return outcome.error();
    nameFullFolder(*outcome, place);
    return tellOutcome(*outcome, arguments, place, context.console);
}

} // namespace

const CommandSpec kRunCommand{
    .name = "run",
    .operands = "NAME [MODEL]",
    .minOperands = 1,
    .maxOperands = 2,
    .summary = "run a model under one diagnostic of the reference page and answer its question",
    .details =
        "NAME is a helper's name on the reference page; its keywords are the options, with dashes or\n"
        "underscores. \"opscope-cli run list\" names all helpers with their options. The model runs in\n"
        "a process of its own, on the CPU, on copies of its state where it runs several times.",
    .options = kOptions,
    .example = "opscope-cli run list\n"
               "opscope-cli run find_nan model.pt2 -o run.opscope\n"
               "opscope-cli run check_determinism model.pt --input f32[2,4]=randn --runs 3 --json",
    .run = runHelper,
    .takesAnyOption = true,
    .operandHelp = liveHelp,
};

} // namespace app
