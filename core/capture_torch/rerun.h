// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/capture_torch/isolated_capture.h"
#include "core/trace/trace.h"

#include <memory>

namespace core {

// Several isolated runs of one model, all values kept: the first one is the trace the user gets, the others
// are compared with it and their file goes at once (the open trace reads on). Owned by a helper; one thread.
class Reruns
{
public:
    Reruns(const RunnableModel &model, const CaptureRequest &request, const TaskContext &context);

    // The first run, with the request's seed. firstTrace() is null when it did not finish; the outcome says
    // why.
    CaptureOutcome first();
    const std::shared_ptr<const Trace> &firstTrace() const { return m_first; }
    // Another run; RUN's output is chosen here. Errors: what the run ended with.
    Result<std::shared_ptr<const Trace>> again(IsolatedRun run);

    // OUTCOME with the report, or with the error that came in its place.
    static CaptureOutcome answered(CaptureOutcome outcome, const Result<Report> &report);

private:
    const RunnableModel &m_model;
    CaptureRequest m_request;
    TaskContext m_context;
    std::shared_ptr<const Trace> m_first;
};

} // namespace core
