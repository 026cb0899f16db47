// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_messages.h"
#include "core/capture/capture_request.h"

#include <functional>
#include <stop_token>

namespace core {

// What a task gets from the worker.
struct TaskContext
{
    std::stop_token stop;                                  // a stop ends the run at the next op
    std::function<void(const CaptureProgress &)> progress; // may be empty
    int journal = -1; // descriptor of the parent's TraceJournal; -1: none
};

// Runs the model that REQUEST names once and writes its trace. Never throws; everything that goes wrong is in
// the outcome, and the trace up to there is closed.
CaptureOutcome runCapture(const CaptureRequest &request, const TaskContext &context);

// Any task by its name in the request: "capture", "describe", "replay", ... invalidArgument for a name that
// is not known.
CaptureOutcome runTask(const CaptureRequest &request, const TaskContext &context);

// What a process does before it uses LibTorch at all: heap settings that keep freed memory (page faults are
// most of the cost of keeping tensors).
void tuneHeap();

} // namespace core
