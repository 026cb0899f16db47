// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/capture/live_helpers.h"
#include "core/capture_torch/capture_task.h"

#include <optional>
#include <string>
#include <string_view>

namespace core {

// Runs one live helper: checks the options, then its function. The outcome has the helper's report, or an
// error and no report; and the trace of the (first) run as any capture does. Never throws.
CaptureOutcome runLiveHelper(const LiveHelper &helper, const CaptureRequest &request,
                             const TaskContext &context);

// What a helper is made of: REQUEST has its options complete. May throw; runLiveHelper() catches.
using LiveFunction = CaptureOutcome (*)(const CaptureRequest &request, const TaskContext &context);

// live_nan.cpp
CaptureOutcome liveFindNan(const CaptureRequest &request, const TaskContext &context);
CaptureOutcome liveNonfiniteOrigin(const CaptureRequest &request, const TaskContext &context);
// live_precision.cpp
CaptureOutcome liveBisectPrecision(const CaptureRequest &request, const TaskContext &context);
// live_determinism.cpp
CaptureOutcome liveCheckDeterminism(const CaptureRequest &request, const TaskContext &context);

// live_shape.cpp
CaptureOutcome liveGuessInputShape(const CaptureRequest &request, const TaskContext &context);
// live_flops.cpp
CaptureOutcome liveFlopsVsDispatch(const CaptureRequest &request, const TaskContext &context);
// live_compiles.cpp
CaptureOutcome liveCountCompiles(const CaptureRequest &request, const TaskContext &context);
CaptureOutcome liveGraphBreaks(const CaptureRequest &request, const TaskContext &context);

// An outcome of a helper that refuses before it runs anything.
CaptureOutcome refusedOutcome(const CaptureRequest &request, ReportError error);
// The option NAME where it is given.
std::optional<double> numberOption(const CaptureRequest &request, std::string_view name);
// What reports call the model of REQUEST: the name of its file.
std::string subjectOf(const CaptureRequest &request);

} // namespace core
