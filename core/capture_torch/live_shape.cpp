// SPDX-License-Identifier: GPL-3.0-or-later
// The helper that looks for an input a model runs on.
#include "core/analysis/report_parts.h"
#include "core/analysis/report_value.h"
#include "core/base/or_null.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/model_capture.h"
#include "core/capture_torch/shape_guess.h"

namespace core {
namespace {

Value dtypeValue(DType dtype)
{
    return dtype == DType::unknown ? Value() : Value(torchDTypeName(dtype));
}

Value inputsValue(const ShapeGuess &guess)
{
    Value list = Value::list();
    for (const GuessedInput &input : guess.inputs)
        list.append(
            Value::object({{"name", input.name},
                           {"spec", input.spec},
                           {"shape", input.dtype == DType::unknown ? Value() : shapeValue(input.shape)},
                           {"dtype", dtypeValue(input.dtype)}}));
    return list;
}

Value shapesValue(const ShapeGuess &guess)
{
    Value shapes = Value::list();
    for (const GuessedInput &input : guess.inputs)
        if (input.dtype != DType::unknown)
            shapes.append(shapeValue(input.shape));
    return shapes.toList().size() > 1 ? shapes : Value();
}

Value resultOf(const ShapeGuess &guess)
{
    const GuessedInput *const primary = guess.found ? guess.primary() : nullptr;
    Value attempts = Value::list();
    for (const GuessAttempt &attempt : guess.attempts) {
        Value pair = Value::list();
        pair.append(shapeValue(attempt.shape));
        pair.append(attempt.outcome);
        attempts.append(std::move(pair));
    }
    Value result = Value::object({{"found", guess.found},
                                  {"shape", primary == nullptr ? Value() : shapeValue(primary->shape)},
                                  {"shapes", shapesValue(guess)},
                                  {"dtype", primary == nullptr ? Value() : dtypeValue(primary->dtype)},
                                  {"value_range", Value()},
                                  {"flexible_dims", shapeValue(guess.flexibleDims)},
                                  {"constraining_module", Value()},
                                  {"constraining_op", orNull(guess.constrainingOp)},
                                  {"source_line", orNull(guess.sourceLine)},
                                  {"example_input", Value()},
                                  {"inputs", inputsValue(guess)},
                                  {"strategy", guess.strategy},
                                  {"reason", orNull(guess.reason)},
                                  {"attempts", std::move(attempts)},
                                  {"message", guess.message}});
    if (guess.constrainingModule)
        result.set("constraining_module", *guess.constrainingModule);
    if (primary == nullptr)
        return result;
    Value range = Value::list();
    range.append(primary->range.recipe);
    range.append(primary->range.low);
    range.append(primary->range.high);
    result.set("value_range", std::move(range));
    result.set("example_input",
               Value::object({{"tensor", Value::object({{"shape", shapeValue(primary->shape)},
                                                        {"dtype", dtypeValue(primary->dtype)}})}}));
    return result;
}

Report reportOf(const CaptureRequest &request, const ShapeGuess &guess)
{
    Report report = startReport("guess_input_shape", subjectOf(request));
    report.status = guess.found ? "found" : guess.reason;
    report.coverage = "shapes tried: " + std::to_string(guess.attempts.size()) + "; " + guess.message;
    report.result = resultOf(guess);
    report.table.columns = {
        {"input", CellKind::text, {}}, {"spec", CellKind::text, {}}, {"dtype", CellKind::text, {}}};
    for (const GuessedInput &input : guess.inputs)
        report.table.rows.push_back({{input.name, input.spec, dtypeValue(input.dtype)}, {}, {}});
    return report;
}

ReportError inferenceError(std::string message)
{
    return {"ShapeInferenceError",
            {},
            std::move(message),
            "give the input with --input, for example --input f32[1,3,224,224]"};
}

} // namespace

CaptureOutcome liveGuessInputShape(const CaptureRequest &request, const TaskContext &context)
{
    Result<GuessOptions> options = guessOptionsFromValue(request.options);
    if (!options)
        return refusedOutcome(request, inferenceError(options.error().message()));
    options->timeLimitSeconds = request.timeLimitSeconds;
    if (request.seed && request.options.at("seed").isNull())
        options->seed = *request.seed;
    LoadReport notes;
    const Result<std::unique_ptr<RunnableModel>> model = RunnableModel::open(request, notes);
    if (!model)
        return failedOutcome(model.error());
    if (context.progress)
        context.progress({"trying shapes", {}, 0, 0, {}});
    // How many shapes were tried so far stands in the place of calls.
    const auto tell = [&context](const Progress &progress) {
        if (context.progress)
            context.progress({progress.stage, {}, progress.done, 0, {}});
    };
    const Result<ShapeGuess> guess = guessInputs(**model, request, *options, JobContext(context.stop, tell));
    if (!guess)
        return failedOutcome(guess.error());
    if (!guess->found && request.options.at("on_failure").toString() == "raise")
        return refusedOutcome(request, inferenceError(guess->reason + ": " + guess->message));
    CaptureOutcome outcome;
    outcome.report = reportToValue(reportOf(request, *guess));
    return outcome;
}

} // namespace core
