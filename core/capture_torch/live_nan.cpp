// SPDX-License-Identifier: GPL-3.0-or-later
// The helpers that run a model once and stop at the first value that is not finite.
#include "core/analysis/nonfinite_live.h"
#include "core/analysis/report_value.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/model_capture.h"
#include "core/io/native_reader.h"

namespace core {
namespace {

using TripwireReport = Result<Report> (*)(const std::shared_ptr<const Trace> &, const JobContext &);

CaptureOutcome tripwireRun(const CaptureRequest &request, const TaskContext &context, TripwireReport make)
{
    const Result<LoadedModel> loaded = loadModel(request, context);
    if (!loaded)
        return failedOutcome(loaded.error());
    CaptureOutcome outcome = ModelCapture(request, context, *loaded->model, loaded->report)
                                 .run({.tripwire = true,
                                       .pastMasks = request.options.at("skip_by_design").toBool(),
                                       .reference = {},
                                       .native = {}});
    if (!outcome.error)
        return outcome;
    const JobContext job(context.stop);
    const Result<std::shared_ptr<const Trace>> trace = openNative(request.outputPath, job);
    const Result<Report> report = trace ? make(*trace, job) : Result<Report>(trace.error());
    if (report)
        outcome.report = reportToValue(*report);
    else
        outcome.error = report.error();
    return outcome;
}

} // namespace

CaptureOutcome liveFindNan(const CaptureRequest &request, const TaskContext &context)
{
    return tripwireRun(request, context, &findNanLive);
}

CaptureOutcome liveNonfiniteOrigin(const CaptureRequest &request, const TaskContext &context)
{
    return tripwireRun(request, context, &nonfiniteOriginLive);
}

} // namespace core
