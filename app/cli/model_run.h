// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"
#include "core/capture/capture_client.h"

#include <string_view>

namespace app {

// Runs REQUEST in capture_worker, with progress on the console. What a worker that failed said on its own
// goes to standard error.
core::Result<core::CaptureOutcome> runModel(const core::CaptureRequest &request, CommandContext &context);

// Why a run failed: message, call stack, remedy, on standard error.
void tellFailure(const core::CaptureOutcome &outcome, Console &console);
// The exit code of such a run. What stopped in the middle is the model's affair, a limit on memory or time
// too, but for a disk that is full and for what was asked of its outputs in vain; without a trace the request
// or the file did not fit.
ExitCode failedRunCode(const core::CaptureOutcome &outcome);
// The call stack of a failure as a JSON list.
core::Value stackValue(const core::CaptureOutcome &outcome);

} // namespace app
