// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/rerun.h"

#include "core/analysis/report_value.h"
#include "core/capture/live_helpers.h"
#include "core/capture_torch/capture_environment.h"
#include "core/io/native_reader.h"

#include <filesystem>
#include <system_error>

namespace core {

Reruns::Reruns(const RunnableModel &model, const CaptureRequest &request, const TaskContext &context)
    : m_model(model), m_request(request), m_context(context)
{
}

CaptureOutcome Reruns::first()
{
    IsolatedRun run{effectiveSeed(m_request), m_request.outputPath, {}, {}};
    run.variant.keepsAll = true;
    CaptureOutcome outcome = isolatedCapture(m_model, m_request, m_context, run);
    if (!outcome.error)
        return outcome;
    const Result<std::shared_ptr<const Trace>> trace =
        openNative(m_request.outputPath, JobContext(m_context.stop));
    if (trace)
        m_first = *trace;
    else
        outcome.error = trace.error();
    return outcome;
}

Result<std::shared_ptr<const Trace>> Reruns::again(IsolatedRun run)
{
    run.outputPath = rerunPath(m_request.outputPath);
    run.variant.keepsAll = true;
    TaskContext context = m_context;
    context.journal = -1; // it is the first run's
    const CaptureOutcome outcome = isolatedCapture(m_model, m_request, context, run);
    Result<std::shared_ptr<const Trace>> trace = outcome.error
                                                     ? openNative(run.outputPath, JobContext(m_context.stop))
                                                     : Result<std::shared_ptr<const Trace>>(outcome.error);
    std::error_code error;
    std::filesystem::remove(run.outputPath, error);
    return trace;
}

CaptureOutcome Reruns::answered(CaptureOutcome outcome, const Result<Report> &report)
{
    if (report)
        outcome.report = reportToValue(*report);
    else
        outcome.error = report.error();
    return outcome;
}

} // namespace core
