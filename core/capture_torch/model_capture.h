// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/autograd_recorder.h"
#include "core/capture_torch/capture_task.h"
#include "core/capture_torch/op_recorder.h"
#include "core/capture_torch/plain_check.h"
#include "core/capture_torch/runnable_model.h"
#include "core/io/native_writer.h"
#include "core/trace/trace.h"
#include "core/trace/trace_info.h"

#include <memory>
#include <optional>

namespace core {

// What a request's file became: the model with its inputs, and what was noticed on the way.
struct LoadedModel
{
    std::unique_ptr<RunnableModel> model;
    LoadReport report;
    Value timing; // of the runs that were only timed: runs, median, shortest (seconds); null: none
};

// Seeds the generators, opens the file and builds the inputs; then the warm-up runs that the request asks
// for, each on a copy of all state. Errors: those of RunnableModel::open() and buildInputs(), cancelled.
Result<LoadedModel> loadModel(const CaptureRequest &request, const TaskContext &context);

// What is different about a run from a plain capture.
struct RunVariant
{
    // Stops at the first row with NaN or Inf and keeps only what explains it.
    bool tripwire = false;
    // Only at one that is not there by design: past the -Inf of masks.
    bool pastMasks = false;
    // Everything floating becomes this type, dtypes that ops are asked for included.
    std::optional<c10::ScalarType> reference;
    // The run without REFERENCE, which says what dtypes each op had.
    std::shared_ptr<const Trace> native;
    // Every value is kept, whatever the request says, which the trace records as it is.
    bool keepsAll = false;
};

// One watched run of a model, written as a trace to the request's output while it happens. Owned by a task;
// one thread. The generators are seeded before the run.
class ModelCapture
{
public:
    ModelCapture(const CaptureRequest &request, const TaskContext &context, RunnableModel &model,
                 const LoadReport &report)
        : m_request(request), m_context(context), m_model(model), m_report(report)
    {
    }

    void setTiming(Value timing) { m_timing = std::move(timing); }

    // Never throws for what the model does; everything that goes wrong is in the outcome, and the trace up to
    // there is closed. A run that the tripwire stopped has the status stoppedAtNonFinite and no error.
    CaptureOutcome run(const RunVariant &variant);
    // What the model returned in that run; empty when it failed.
    const ModelOutputs &outputs() const { return m_outputs; }

private:
    void tell(std::string_view stage) const;
    void checkPlain();
    void describe();
    RecorderOptions recorderOptions(const RunVariant &variant) const;
    CaptureOutcome record(NativeWriter &writer, const RunVariant &variant);
    Result<ModelOutputs> forward(OpRecorder &recorder, const RunVariant &variant);
    Status runModel(OpRecorder &recorder, AutogradRecorder &autograd, const RunVariant &variant);
    CaptureOutcome close(NativeWriter &writer, OpRecorder &recorder, Status status);
    void describeFailure(const RunSummary &summary, const Status &status, CaptureOutcome &outcome);
    Value warnings(const RunSummary &summary) const;

    const CaptureRequest &m_request;
    const TaskContext &m_context;
    RunnableModel &m_model;
    const LoadReport &m_report;
    std::optional<UnwatchedRun> m_plain; // of the same model, to compare with
    Value m_comparison;
    TraceInfo m_info;
    ModelOutputs m_outputs;
    Value m_timing;
};

// An outcome without a trace.
CaptureOutcome failedOutcome(Status error);

} // namespace core
