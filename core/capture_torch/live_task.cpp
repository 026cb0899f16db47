// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/live_task.h"

#include "core/analysis/report_parts.h"
#include "core/analysis/report_value.h"
#include "core/capture_torch/model_capture.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace core {
namespace {

constexpr std::array kFunctions = {
    std::pair<std::string_view, LiveFunction>{"find_nan", &liveFindNan},
    std::pair<std::string_view, LiveFunction>{"nonfinite_origin", &liveNonfiniteOrigin},
    std::pair<std::string_view, LiveFunction>{"bisect_precision", &liveBisectPrecision},
    std::pair<std::string_view, LiveFunction>{"check_determinism", &liveCheckDeterminism},
    std::pair<std::string_view, LiveFunction>{"guess_input_shape", &liveGuessInputShape},
    std::pair<std::string_view, LiveFunction>{"flops_vs_dispatch", &liveFlopsVsDispatch},
    std::pair<std::string_view, LiveFunction>{"count_compiles", &liveCountCompiles},
    std::pair<std::string_view, LiveFunction>{"graph_breaks", &liveGraphBreaks},
};

LiveFunction functionOf(std::string_view name)
{
    for (const auto &[known, function] : kFunctions)
        if (known == name)
            return function;
    return nullptr;
}

} // namespace

std::string subjectOf(const CaptureRequest &request)
{
    return std::filesystem::path(request.modelPath).filename().string();
}

std::optional<double> numberOption(const CaptureRequest &request, std::string_view name)
{
    const Value &value = request.options.at(name);
    return value.isNumber() ? std::optional(value.toDouble()) : std::nullopt;
}

CaptureOutcome refusedOutcome(const CaptureRequest &request, ReportError error)
{
    CaptureOutcome outcome;
    outcome.report = reportToValue(refusedReport(request.task, subjectOf(request), std::move(error)));
    return outcome;
}

CaptureOutcome runLiveHelper(const LiveHelper &helper, const CaptureRequest &request,
                             const TaskContext &context)
{
    Result<Value> options = completeLiveOptions(helper, request.options);
    if (!options)
        return failedOutcome(options.error());
    const LiveFunction function = functionOf(helper.name);
    if (function == nullptr)
        return failedOutcome({ErrorCode::internal, std::string(helper.name) + ": has no function"});
    CaptureRequest complete = request;
    complete.options = *std::move(options);
    try {
        at::set_num_threads(static_cast<int>(std::max(1U, request.threads)));
        return function(complete, context);
    } catch (const std::exception &error) {
        return failedOutcome({ErrorCode::internal, std::string(helper.name) + ": " + error.what()});
    }
}

} // namespace core
