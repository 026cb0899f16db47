// SPDX-License-Identifier: GPL-3.0-or-later
// Guessing for any model, and the options of the helper.
#include "core/capture_torch/isolated_capture.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/shape_guess.h"
#include "core/capture_torch/shape_probe.h"
#include "core/capture_torch/shape_trial.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/Context.h>
#include <c10/core/GradMode.h>

namespace core {
namespace {

Status outOfRange(std::string_view name, std::int64_t value, std::int64_t least)
{
    return Status(ErrorCode::invalidArgument, std::string(name) + " is " + std::to_string(value) +
                                                  ", it is at least " + std::to_string(least));
}

// NAME as a whole number of at least LEAST into OUT; what is not given stays.
template <class Number>
Status readNumber(const Value &options, std::string_view name, std::int64_t least, Number &out)
{
    const Value &value = options.at(name);
    if (value.isNull())
        return Status::ok();
    if (!value.isInt())
        return Status(ErrorCode::invalidArgument,
                      std::string(name) + " is " + toJson(value) + ", it takes a whole number");
    if (value.toInt() < least)
        return outOfRange(name, value.toInt(), least);
    out = static_cast<std::int64_t>(value.toInt());
    return Status::ok();
}

Status readRank(const Value &options, GuessOptions &out)
{
    if (options.at("spatial_rank").toString() == "auto")
        return Status::ok();
    return readNumber(options, "spatial_rank", 1, out.spatialRank);
}

Status readDtype(const Value &options, GuessOptions &out)
{
    const std::string &name = options.at("input_dtype").toString();
    if (name.empty())
        return Status::ok();
    const auto dtype = dtypeFromName(name);
    if (!dtype || *dtype == DType::unknown || isQuantized(*dtype))
        return Status(ErrorCode::invalidArgument,
                      "input_dtype is \"" + name + "\", it takes a dtype such as float32");
    out.dtype = *dtype;
    return Status::ok();
}

// Models run on the CPU here, whatever device their file names.
Status readDevice(const Value &options)
{
    const Value &device = options.at("device");
    if (device.isNull() || device.toString() == "cpu" || device.toString() == "cpu:0")
        return Status::ok();
    return Status(ErrorCode::invalidArgument,
                  "device is " + toJson(device) +
                      ", models are run on the CPU here: device is cpu or left out");
}

Status readOnFailure(const Value &options)
{
    const Value &word = options.at("on_failure");
    if (word.isNull() || word.toString() == "return" || word.toString() == "raise")
        return Status::ok();
    return Status(ErrorCode::invalidArgument,
                  "on_failure is " + toJson(word) + ", it is \"return\" or \"raise\"");
}

std::string expectedText(const std::vector<ModelInput> &inputs)
{
    std::string text;
    for (const ModelInput &input : inputs)
        text += (text.empty() ? "" : ", ") + input.name;
    return text;
}

GuessedInput describedInput(const ModelInput &input)
{
    GuessedInput out;
    out.name = input.name;
    out.value = input.value;
    if (!input.value.isTensor() || !input.value.toTensor().defined()) {
        out.spec = input.origin;
        return out;
    }
    const at::Tensor &tensor = input.value.toTensor();
    out.shape = tensor.sizes().vec();
    out.dtype = fromScalarType(tensor.scalar_type());
    const bool integer = !isFloating(out.dtype) && !isComplex(out.dtype) && out.dtype != DType::boolean;
    if (integer)
        out.range = {"randint", 0.0, 2.0};
    out.spec = input.origin.starts_with(kGuessedOrigin) ? input.origin.substr(kGuessedOrigin.size())
                                                        : guessedSpec(out);
    return out;
}

// An exported program says what it takes: its inputs are run once.
Result<ShapeGuess> guessExported(const RunnableModel &model, const CaptureRequest &request,
                                 const GuessOptions &options, const JobContext &job)
{
    ShapeGuess guess;
    Result<std::unique_ptr<RunnableModel>> copy = model.copy();
    if (!copy)
        return copy.error();
    CaptureRequest plain;
    plain.modelPath = request.modelPath;
    plain.seed = options.seed;
    plain.gradEnabled = false;
    if (Status built = (*copy)->buildInputs(plain); !built) {
        guess.reason = "multi_input_required";
        guess.message = built.message();
        return guess;
    }
    for (const ModelInput &input : (*copy)->inputs())
        guess.inputs.push_back(describedInput(input));
    ProbeWatcher watcher(job, ProbeWatcher::deadlineIn(options.timeLimitSeconds));
    ProbeResult result;
    bool timedOut = false;
    {
        const PreservedRngState kept;
        const c10::AutoGradMode noGradients(false);
        at::manual_seed(options.seed);
        const TapScope tapped(watcher);
        const Result<ModelOutputs> outputs = (*copy)->run(plain, &watcher, job);
        if (!outputs && job.isCancelled())
            return outputs.error();
        result.ok = outputs.isOk();
        timedOut = !outputs && outputs.error().code() == ErrorCode::cancelled;
        if (!outputs)
            result.message = outputs.error().message();
    }
    watcher.finish(result);
    const GuessedInput *const primary = guess.primary();
    guess.attempts.push_back({primary == nullptr ? std::vector<std::int64_t>() : primary->shape,
                              result.ok ? "ok" : result.message});
    if (!result.ok || primary == nullptr) {
        guess.inputs.clear();
        guess.reason = timedOut ? "budget_exhausted" : "verification_failed";
        guess.message = timedOut    ? "the inputs that the export states did not run within the time limit"
                        : result.ok ? "the program takes no tensor"
                                    : result.message;
        return guess;
    }
    guess.found = true;
    guess.strategy = "export_spec";
    guess.message = "the export states the inputs (" + expectedText((*copy)->inputs()) + "), and they run";
    if (result.layer) {
        guess.constrainingModule = result.layer->first;
        guess.constrainingOp = result.layer->second;
    } else if (result.constraint) {
        guess.constrainingModule = result.constraint->moduleCall;
        guess.constrainingOp = result.constraint->label;
        for (GuessedInput &input : guess.inputs)
            if (input.range.recipe == "randint" &&
                result.constraint->kind == InputConstraint::Kind::embedding) {
                input.range.high = static_cast<double>(result.constraint->needed);
                input.spec = guessedSpec(input);
                break;
            }
    }
    return guess;
}

} // namespace

Result<GuessOptions> guessOptionsFromValue(const Value &options)
{
    GuessOptions out;
    Status status = readNumber(options, "batch_size", 1, out.batchSize);
    const auto also = [&status](Status next) {
        if (status.isOk())
            status = std::move(next);
    };
    also(readNumber(options, "channels", 1, out.channels));
    also(readNumber(options, "seq_len", 1, out.seqLen));
    also(readNumber(options, "min_size", 1, out.minSize));
    also(readNumber(options, "max_size", 1, out.maxSize));
    also(readNumber(options, "max_probes", 1, out.maxProbes));
    std::int64_t seed = 0;
    also(readNumber(options, "seed", 0, seed));
    also(readRank(options, out));
    also(readDtype(options, out));
    also(readDevice(options));
    also(readOnFailure(options));
    if (status.isOk() && out.maxSize < out.minSize)
        status = outOfRange("max_size", out.maxSize, out.minSize);
    if (!status)
        return status;
    out.seed = static_cast<std::uint64_t>(seed);
    if (options.at("square").isBool())
        out.square = options.at("square").toBool();
    if (options.at("preferred_sizes").isList()) {
        out.preferredSizes.clear();
        for (const Value &size : options.at("preferred_sizes").toList()) {
            if (!size.isInt() || size.toInt() < 1)
                return Status(ErrorCode::invalidArgument,
                              "preferred_sizes holds " + toJson(size) + ", a size is at least 1");
            out.preferredSizes.push_back(size.toInt());
        }
    }
    out.inputSpecs = !options.at("input_specs").isNull();
    return out;
}

Result<ShapeGuess> guessInputs(const RunnableModel &model, const CaptureRequest &request,
                               const GuessOptions &options, const JobContext &job)
{
    if (const ScriptModel *script = model.script())
        return guessScriptInputs(*script, options, job);
    ShapeGuess guess;
    if (options.inputSpecs)
        guess.reason = "multi_input_unsupported";
    else if (!options.square)
        guess.reason = "exact_size_unreachable";
    if (!guess.reason.empty()) {
        guess.message = options.inputSpecs ? "specifications of several inputs are not taken"
                                           : "sides of different length need the ratio between them";
        return guess;
    }
    return guessExported(model, request, options, job);
}

} // namespace core
