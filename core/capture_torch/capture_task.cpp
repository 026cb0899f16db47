// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/capture_task.h"

#include "core/capture/live_helpers.h"
#include "core/capture_torch/describe_task.h"
#include "core/capture_torch/doctor_probe.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/model_capture.h"
#include "core/capture_torch/replay.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace core {

CaptureOutcome runCapture(const CaptureRequest &request, const TaskContext &context)
{
    try {
        at::set_num_threads(static_cast<int>(std::max(1U, request.threads)));
        const Result<LoadedModel> loaded = loadModel(request, context);
        if (!loaded)
            return failedOutcome(loaded.error());
        ModelCapture capture(request, context, *loaded->model, loaded->report);
        capture.setTiming(loaded->timing);
        return capture.run({});
    } catch (const std::exception &error) {
        return failedOutcome({ErrorCode::internal, std::string("capture: ") + error.what()});
    }
}

CaptureOutcome runTask(const CaptureRequest &request, const TaskContext &context)
{
    if (request.task == "capture")
        return runCapture(request, context);
    if (request.task == "doctor")
        return runDoctor(request);
    if (request.task == "replay")
        return runReplay(request, context);
    if (request.task == "describe")
        return runDescribe(request, context);
    if (const LiveHelper *helper = findLiveHelper(request.task))
        return runLiveHelper(*helper, request, context);
    return failedOutcome(
        {ErrorCode::invalidArgument, "capture request: task " + request.task + " is not known"});
}

} // namespace core
