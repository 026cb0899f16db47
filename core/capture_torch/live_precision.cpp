// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_parts.h"
#include "core/analysis/report_value.h"
#include "core/analysis/rerun_reports.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/isolated_capture.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/rerun.h"
#include "core/capture_torch/torch_dtype.h"

namespace core {
namespace {

// One of the four that have kernels for most ops on the CPU.
std::optional<c10::ScalarType> referenceDtype(const std::string &name)
{
    for (const c10::ScalarType type : {c10::kDouble, c10::kFloat, c10::kBFloat16, c10::kHalf})
        if (dtypeFromName(name) == fromScalarType(type))
            return type;
    return std::nullopt;
}

} // namespace

CaptureOutcome liveBisectPrecision(const CaptureRequest &request, const TaskContext &context)
{
    const std::string &name = request.options.at("reference_dtype").toString();
    const std::optional<c10::ScalarType> type = referenceDtype(name);
    if (!type)
        return refusedOutcome(request,
                              {"InvalidArgumentError", "reference_dtype_invalid",
                               "the reference dtype is \"" + name + "\", no floating dtype to run in",
                               "use float64, float32, bfloat16 or float16"});
    const Result<LoadedModel> loaded = loadModel(request, context);
    if (!loaded)
        return failedOutcome(loaded.error());
    Reruns runs(*loaded->model, request, context);
    CaptureOutcome outcome = runs.first();
    if (!runs.firstTrace())
        return outcome;
    RunVariant variant;
    variant.reference = type;
    variant.native = runs.firstTrace();
    const auto convert = [type](RunnableModel &copy) { return copy.convertFloating(*type); };
    const Result<std::shared_ptr<const Trace>> reference =
        runs.again({effectiveSeed(request), {}, variant, convert});
    if (!reference) {
        outcome.error = reference.error().prefixed("the reference run in " + name);
        return outcome;
    }
    const JobContext job(context.stop);
    PrecisionRequest question;
    question.native = runs.firstTrace();
    question.reference = *reference;
    question.referenceDtype = dtypeName(fromScalarType(*type));
    question.rtol = numberOption(request, "rtol");
    question.atol = numberOption(request, "atol");
    return runs.answered(std::move(outcome), precisionReport(question, job));
}

} // namespace core
