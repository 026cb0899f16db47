// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

namespace core {

// What the backward pass of an own capture did with NaN and Inf: verdict, births in fire order (arriving
// finite, emitted not), healed, first_inf, first_nan, nan_birth, and every firing. Verdict "not_run" without
// a backward pass. With several passes the first one whose gradients are not all finite, else the first;
// their verdicts are in `passes`. Findings go into REPORT.
Result<Value> backwardAnswers(TraceStatistics &statistics, Report &report, const JobContext &job);

} // namespace core
