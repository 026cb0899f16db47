// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/capture_task.h"

namespace core {

// Recomputes every op of a trace from the inputs that are recorded in it and compares the result with what is
// recorded, bit for bit (NaN equal to NaN). REQUEST.options has "trace", the file; parameters whose values
// are not in the trace come from the request's model. The outcome's summary: ops, replayed, equal, rate,
// mismatches (list of op, label, output, elements, max_difference; at most 100), skipped (reason -> count).
CaptureOutcome runReplay(const CaptureRequest &request, const TaskContext &context);

} // namespace core
