// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/capture_options.h"
#include "app/cli/commands.h"
#include "app/cli/model_run.h"
#include "core/base/units.h"
#include "core/capture/loss_target.h"

#include <algorithm>

namespace app {
namespace {

using core::CaptureOutcome;
using core::CaptureRequest;
using core::Result;
using core::Status;
using core::Value;

constexpr auto kCaptureOptions = [] {
    constexpr std::array<OptionSpec, 8> own = {{
        {"output", "OUT", "the trace to write (default: the model's name with .opscope)", 'o'},
        {"save", "POLICY", "all, none, module:PATTERN, op:NAME, max:BYTES; several with commas"},
        {"no-sources", "", "leave the texts of source files out"},
        {"check-plain", "",
         "also run the model without watching it and compare outputs and gradients bit for bit"},
        {"backward", "RULE", "sum, mean, output[:PATH], cross_entropy:FILE or mse:FILE"},
        {"loss-scale", "S", "multiply the loss by S"},
        {"input-grad", "NAME", "an input that requires a gradient", 0, true},
        {"backward-passes", "N", "backward passes over one forward (default 1)"},
    }};
    std::array<OptionSpec, own.size() + kRunOptions.size()> all{};
    std::ranges::copy(kRunOptions, std::ranges::copy(own, all.begin()).out);
    return all;
}();

constexpr std::int64_t kMostPasses = 1'000'000;

Status readBackward(const Arguments &arguments, CaptureRequest &request)
{
    if (!arguments.has("backward")) {
        for (const std::string_view option : {"loss-scale", "input-grad", "backward-passes"})
            if (arguments.has(option))
                return Status(core::ErrorCode::invalidArgument,
                              "option --" + std::string(option) + " is given without --backward");
        return Status::ok();
    }
    Result<core::BackwardRequest> backward = parseBackward(arguments.text("backward"));
    const Result<std::optional<std::int64_t>> passes = arguments.integer("backward-passes", 1, kMostPasses);
    if (!backward || !passes)
        return backward ? passes.error() : backward.error();
    backward->passes = static_cast<std::uint32_t>(passes->value_or(1));
    backward->inputGradients = arguments.texts("input-grad");
    if (arguments.has("loss-scale")) {
        const Result<Value> scale = parseOptionValue("loss-scale", arguments.text("loss-scale"));
        if (!scale || !scale->isNumber())
            return Status(core::ErrorCode::invalidArgument, "option --loss-scale is \"" +
                                                                std::string(arguments.text("loss-scale")) +
                                                                "\", it takes a number");
        backward->lossScale = scale->toDouble();
        if (Status status = core::checkLossScale(*backward->lossScale); !status)
            return status;
    }
    request.backward = std::move(*backward);
    return Status::ok();
}

Result<CaptureRequest> captureRequest(const Arguments &arguments)
{
    Result<CaptureRequest> request = runRequest(arguments, 0);
    if (!request)
        return request;
    request->outputPath = arguments.has("output")
                              ? std::string(arguments.text("output"))
                              : std::filesystem::path(request->modelPath).stem().string() + ".opscope";
    request->saveSources = !arguments.has("no-sources");
    if (arguments.has("check-plain"))
        request->options = Value::object({{"check_plain", true}});
    if (arguments.has("save")) {
        Result<core::SavePolicy> policy = core::parseSavePolicy(arguments.text("save"));
        if (!policy)
            return policy.error();
        request->save = std::move(*policy);
    }
    if (Status status = readBackward(arguments, *request); !status)
        return status;
    return request;
}

Value outcomeDocument(const CaptureRequest &request, const CaptureOutcome &outcome)
{
    Value document = Value::object({{"trace", outcome.hasTrace() ? Value(request.outputPath) : Value()},
                                    {"status", core::traceStatusName(outcome.status)},
                                    {"op", outcome.op.empty() ? Value() : Value(outcome.op)},
                                    {"stack", stackValue(outcome)},
                                    {"signal", outcome.signal.empty() ? Value() : Value(outcome.signal)},
                                    {"summary", outcome.summary}});
    if (!outcome.error)
        document.set("error", errorDocument(outcome.error).at("error"));
    return document;
}

// COMPARED ("outputs" or "gradients") is what a watched and an unwatched run were compared by.
void tellComparison(std::string_view compared, const Value &facts, Console &console)
{
    if (facts.find(compared) != nullptr)
        console.print(std::string(compared) + " equal to those of an unwatched run, bit for bit: " +
                      core::toJson(facts.at("equal")) + " of " + core::toJson(facts.at(compared)) + "\n");
    for (const Value &differing : facts.at("differing").toList()) {
        const Value &difference = differing.at("max_difference");
        console.print("  " + differing.at("path").toString() +
                      (difference.isNull() ? ": only one run has it, or in another form\n"
                                           : ": largest difference " + core::toJson(difference) + '\n'));
    }
    if (facts.find("error") != nullptr)
        console.print("  the unwatched run failed: " + facts.at("error").toString() + "\n");
}

// Whether a check that was asked for found a difference, or an unwatched run that fails.
bool differs(const Value &plain)
{
    const auto unequal = [](const Value &facts, std::string_view compared) {
        return facts.find("error") != nullptr || facts.at("equal") != facts.at(compared);
    };
    return !plain.isNull() && (unequal(plain, "outputs") || unequal(plain.at("gradients"), "gradients"));
}

void tellOutcome(const CaptureRequest &request, const CaptureOutcome &outcome, Console &console)
{
    const Value &summary = outcome.summary;
    for (const Value &warning : summary.at("warnings").toList())
        console.warning(warning.toString());
    if (outcome.hasTrace()) {
        std::string line = request.outputPath + ": " + std::string(core::traceStatusName(outcome.status));
        if (const Value &calls = summary.at("calls"); calls.isInt())
            line += ", " + core::formatCount(static_cast<std::uint64_t>(calls.toInt())) +
                    (calls.toInt() == 1 ? " call" : " calls");
        if (summary.at("bytes").isInt())
            line += ", " + core::formatBytes(static_cast<std::uint64_t>(summary.at("bytes").toInt()));
        if (const std::string &bad = summary.at("first_bad_op").toString(); !bad.empty())
            line += ", first values that are not finite in " + bad;
        console.print(line + "\n");
    }
    if (const Value &plain = summary.at("plain"); !plain.isNull()) {
        tellComparison("outputs", plain, console);
        tellComparison("gradients", plain.at("gradients"), console);
    }
    if (!outcome.error)
        tellFailure(outcome, console);
}

Result<ExitCode> runCapture(const Arguments &arguments, CommandContext &context)
{
    const Result<CaptureRequest> request = captureRequest(arguments);
    if (!request)
        return request.error();
    const Result<CaptureOutcome> outcome = runModel(*request, context);
    if (!outcome)
        return outcome.error();
    context.console.printDocument(outcomeDocument(*request, *outcome));
    tellOutcome(*request, *outcome, context.console);
    if (outcome->status == core::TraceStatus::finished)
        return differs(outcome->summary.at("plain")) ? ExitCode::found : ExitCode::nothingFound;
    return failedRunCode(*outcome);
}

} // namespace

const CommandSpec kCaptureCommand{
    .name = "capture",
    .operands = "MODEL",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "run a .pt2 or TorchScript model on the CPU and write its trace while it runs",
    .details =
        "Inputs come from the file where it has them; a TorchScript file has none: they are guessed, and "
        "the\n"
        "guess is told. Else give them: a specification such as f32[1,3,224,224]=randn (also zeros, ones,\n"
        "arange, randint(0,100), a value), a file (.npy, .npz, .pt, .safetensors; an image such as\n"
        "cat.jpg?resize=256&crop=224, a .wav), a number, true, false or none. NAME=... names an input.\n"
        "A model that raises, a killed worker and Ctrl+C leave a trace up to there; the exit code is 4.",
    .options = kCaptureOptions,
    .example = "opscope-cli capture model.pt2 -o run.opscope\n"
               "opscope-cli capture model.pt --input f32[1,3,224,224]=randn --seed 0 -o run.opscope",
    .run = runCapture,
};

} // namespace app
