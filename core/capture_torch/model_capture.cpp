// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/model_capture.h"

#include "core/base/near_names.h"
#include "core/capture/capture_checks.h"
#include "core/capture/input_preparation.h"
#include "core/capture/memory_limit.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/record_queue.h"
#include "core/capture_torch/reference_listener.h"
#include "core/capture_torch/script_model.h"
#include "core/trace/failure_cause.h"
#include "core/trace/frame_text.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

namespace core {

namespace {

std::vector<std::string> frameTexts(const std::vector<RunFrame> &frames)
{
    std::vector<std::string> texts;
    for (const RunFrame &frame : frames)
        texts.push_back(frameText(frame.file, frame.line, frame.function));
    return texts;
}

// The tensor input called NAME, or, where that fits one alone, the one whose way is written with underscores
// instead of points.
const at::Tensor *findTensor(const NamedTensors &tensors, const std::string &name)
{
    const at::Tensor *alias = nullptr;
    std::size_t aliases = 0;
    for (const auto &[path, tensor] : tensors) {
        if (path == name)
            return &tensor;
        std::string flat = path;
        std::replace(flat.begin(), flat.end(), '.', '_');
        if (flat != name)
            continue;
        alias = &tensor;
        ++aliases;
    }
    return aliases == 1 ? alias : nullptr;
}

Status noTensorInput(const NamedTensors &tensors, const std::string &name)
{
    std::vector<std::string_view> known;
    for (const auto &[path, tensor] : tensors)
        known.push_back(path);
    return Status(ErrorCode::invalidArgument, "the model has no tensor input " + name)
        .withRemedy(known.empty() ? "no input of it is a tensor"
                                  : knownNamesText(name, known, "its tensor inputs are"));
}

Status requireInputGradients(const CaptureRequest &request, const RunnableModel &model)
{
    if (!request.backward)
        return Status::ok();
    if (!request.gradEnabled)
        return {ErrorCode::invalidArgument, "capture request: a backward pass needs grad mode"};
    // A target that cannot be read is told before the model runs.
    if (!request.backward->target.empty())
        if (const Result<at::Tensor> target = lossTarget(*request.backward); !target)
            return target.error();
    const NamedTensors tensors = inputTensors(model.inputs());
    for (const std::string &name : request.backward->inputGradients) {
        const at::Tensor *const found = findTensor(tensors, name);
        if (found == nullptr)
            return noTensorInput(tensors, name);
        const at::Tensor &tensor = *found;
        if (!at::isFloatingType(tensor.scalar_type()) && !at::isComplexType(tensor.scalar_type()))
            return {ErrorCode::invalidArgument, "input " + name + " is not floating: it has no gradient"};
        tensor.set_requires_grad(true);
    }
    return Status::ok();
}

// On a second copy of all state, so that the captured run is the first one of its own.
Status warmUp(const CaptureRequest &request, const TaskContext &context, const RunnableModel &model)
{
    for (std::uint32_t i = 0; i < request.warmup; ++i) {
        if (context.progress)
            context.progress({"warming up", {}, 0, 0, {}});
        Result<std::unique_ptr<RunnableModel>> copy = model.copy();
        if (!copy)
            return copy.error();
        seedGenerators(request);
        const c10::AutoGradMode mode(request.gradEnabled);
        if (const auto outputs = (*copy)->run(request, nullptr, JobContext(context.stop)); !outputs)
            break; // the captured run says why
        if (context.stop.stop_requested())
            return {ErrorCode::cancelled, "cancelled while warming up"};
    }
    return Status::ok();
}

// Plain runs, each on a copy of all state from the same seed: seconds of each, the middle one, the shortest.
Result<Value> timedRuns(const CaptureRequest &request, const TaskContext &context, const RunnableModel &model)
{
    std::vector<double> seconds;
    Value runs = Value::list();
    for (std::uint32_t i = 0; i < request.repeat; ++i) {
        if (context.stop.stop_requested())
            return Status(ErrorCode::cancelled, "cancelled while timing");
        if (context.progress)
            context.progress({"timing", {}, i, 0, {}});
        const Result<std::unique_ptr<RunnableModel>> copy = model.copy();
        if (!copy)
            return copy.error();
        seedGenerators(request);
        const c10::AutoGradMode mode(request.gradEnabled);
        const auto begin = std::chrono::steady_clock::now();
        const Result<ModelOutputs> outputs = (*copy)->run(request, nullptr, JobContext(context.stop));
        if (!outputs)
            break; // the captured run says why
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        runs.append(seconds.back());
    }
    if (seconds.empty())
        return Value();
    std::sort(seconds.begin(), seconds.end());
    return Value::object(
        {{"runs", std::move(runs)}, {"median", seconds[seconds.size() / 2]}, {"shortest", seconds.front()}});
}

} // namespace

CaptureOutcome failedOutcome(Status error)
{
    CaptureOutcome outcome;
    outcome.error = std::move(error);
    return outcome;
}

Result<LoadedModel> loadModel(const CaptureRequest &request, const TaskContext &context)
{
    if (context.progress)
        context.progress({"loading", {}, 0, 0, {}});
    if (request.outputPath.empty())
        return Status(ErrorCode::invalidArgument, "capture request: output is missing");
    seedGenerators(request);
    LoadedModel loaded;
    Result<std::unique_ptr<RunnableModel>> model = RunnableModel::open(request, loaded.report);
    if (!model)
        return model.error();
    loaded.model = std::move(*model);
    if (Status built = loaded.model->buildInputs(request); !built)
        return built;
    if (Status status = requireInputGradients(request, *loaded.model); !status)
        return status;
    if (Status status = warmUp(request, context, *loaded.model); !status)
        return status;
    Result<Value> timing = timedRuns(request, context, *loaded.model);
    if (!timing)
        return timing.error();
    loaded.timing = *std::move(timing);
    return loaded;
}

CaptureOutcome ModelCapture::run(const RunVariant &variant)
{
    checkPlain();
    describe();
    NativeWriterOptions options;
    options.journal = m_context.journal;
    options.indexesLines = variant.tripwire;
    Result<std::unique_ptr<NativeWriter>> writer =
        NativeWriter::create(m_request.outputPath, m_info, options);
    if (!writer)
        return failedOutcome(writer.error());
    return record(**writer, variant);
}

void ModelCapture::tell(std::string_view stage) const
{
    if (m_context.progress)
        m_context.progress({std::string(stage), {}, 0, 0, {}});
}

// Whether it fails is told beside the watched run (compareOutputs(), compareGradients()).
void ModelCapture::checkPlain()
{
    const Value *wanted = m_request.options.find("check_plain");
    if (wanted == nullptr || !wanted->toBool())
        return;
    tell("running unwatched");
    seedGenerators(m_request);
    m_plain = runUnwatched(m_request, m_model);
}

void ModelCapture::describe()
{
    m_info = captureInfo(m_request);
    m_info.modelKind = m_model.kind();
    m_info.modelClass = m_model.className();
    m_info.attributes = m_model.facts();
    Value inputs = Value::list();
    for (const ModelInput &input : m_model.inputs())
        inputs.append(
            Value::object({{"name", input.name}, {"origin", originAsGiven(m_request, input.origin)}}));
    m_info.request.set("effective_inputs", std::move(inputs));
}

RecorderOptions ModelCapture::recorderOptions(const RunVariant &variant) const
{
    RecorderOptions options;
    if (variant.keepsAll)
        options.save.maxBytesPerTensor = std::numeric_limits<std::uint64_t>::max();
    else
        options.save = m_request.save;
    options.stop = m_context.stop;
    options.timeLimitSeconds = m_request.timeLimitSeconds;
    options.tripwire = variant.tripwire;
    options.pastMasks = variant.pastMasks;
    if (const Value *call = m_request.options.find("die_at_call"); call != nullptr && call->isInt())
        options.dieAtCall = static_cast<std::uint64_t>(call->toInt());
    if (m_context.progress)
        options.progress = [this](const RunProgress &at) {
            m_context.progress({"running", at.op, at.calls, at.bytes, at.firstBadOp});
        };
    return options;
}

CaptureOutcome ModelCapture::record(NativeWriter &writer, const RunVariant &variant)
{
    OpRecorder recorder(writer, recorderOptions(variant));
    AutogradRecorder autograd(recorder, m_request.backward.has_value());
    if (m_request.gradEnabled && !variant.tripwire)
        recorder.setGradListener(&autograd);
    tell("running");
    seedGenerators(m_request);
    Status status = runModel(recorder, autograd, variant);
    recorder.finish();
    // What cannot be written is the cause, not that the run was stopped for it.
    const bool wasCut = status.isOk() || status.code() == ErrorCode::cancelled;
    if (wasCut && !recorder.status().isOk())
        status = recorder.status();
    return close(writer, recorder, std::move(status));
}

Result<ModelOutputs> ModelCapture::forward(OpRecorder &recorder, const RunVariant &variant)
{
    const JobContext job(m_context.stop);
    if (variant.tripwire) {
        RecordQueue queue(recorder);
        const TapScope tapped(queue);
        Result<ModelOutputs> outputs = m_model.run(m_request, &queue, job);
        queue.finish();
        return outputs;
    }
    std::optional<ReferenceListener> rewriting;
    if (variant.reference)
        rewriting.emplace(recorder, *variant.reference, variant.native);
    const TapScope tapped(rewriting ? static_cast<OpListener &>(*rewriting) : recorder);
    return m_model.run(m_request, &recorder, job);
}

Status ModelCapture::runModel(OpRecorder &recorder, AutogradRecorder &autograd, const RunVariant &variant)
{
    const c10::AutoGradMode mode(m_request.gradEnabled);
    const Result<ModelOutputs> outputs = forward(recorder, variant);
    if (!outputs)
        return outputs.error();
    m_outputs = *outputs;
    if (m_plain)
        m_comparison = compareOutputs(*outputs, *m_plain);
    if (!m_request.backward || variant.tripwire || variant.reference)
        return Status::ok();
    tell("backward");
    Status status = autograd.backward(*m_request.backward, *outputs, m_model.parameters(),
                                      inputTensors(m_model.inputs()));
    if (m_plain && m_plain->forward && status)
        m_comparison.set("gradients",
                         compareGradients(gradientsOf(m_model.parameters(), m_model.inputs()), *m_plain));
    return status;
}

void ModelCapture::describeFailure(const RunSummary &summary, const Status &status, CaptureOutcome &outcome)
{
    m_info.failure.op = summary.runningOp;
    m_info.failure.call = summary.runningCall;
    m_info.failure.stack = summary.runningStack;
    m_info.failure.message = status.message();
    setFailureCause(m_info, status.detail());
    if (const auto failure = m_model.failure())
        outcome.stack = frameTexts(failure->frames);
}

CaptureOutcome ModelCapture::close(NativeWriter &writer, OpRecorder &recorder, Status status)
{
    tell("closing");
    status = memoryExplained(std::move(status), m_request.memoryLimitBytes);
    const RunSummary &summary = recorder.summary();
    CaptureOutcome outcome;
    // The tripwire stopped the run; an op behind that may have failed before it was known (record_queue.h).
    const bool stopped = status.code() == ErrorCode::cancelled || status.code() == ErrorCode::modelFailed;
    if (summary.tripped && stopped && !m_context.stop.stop_requested())
        status = Status::ok();
    outcome.status = status.isOk()
                         ? (summary.tripped ? TraceStatus::stoppedAtNonFinite : TraceStatus::finished)
                     : status.code() == ErrorCode::cancelled ? TraceStatus::cancelled
                                                             : TraceStatus::failed;
    if (status.code() == ErrorCode::cancelled && !summary.timedOut)
        status = status.prefixed("cancelled");
    if (summary.timedOut)
        status = tookTooLong(m_request.timeLimitSeconds);
    outcome.error = status;
    outcome.op = summary.runningOp;
    m_info.status = outcome.status;
    m_info.hasBackward = m_request.backward.has_value();
    if (!status.isOk())
        describeFailure(summary, status, outcome);
    outcome.summary = Value::object({{"calls", summary.calls},
                                     {"tensors", summary.tensors},
                                     {"seconds", static_cast<double>(summary.durationNs) * 1e-9},
                                     {"first_bad_op", summary.firstBadOp}});
    if (!m_comparison.isNull())
        outcome.summary.set("plain", m_comparison);
    if (!m_timing.isNull())
        outcome.summary.set("timing", m_timing);
    m_info.totals = outcome.summary;
    if (Status closed = writer.close(m_info); !closed && outcome.error.isOk()) {
        outcome.status = TraceStatus::failed;
        outcome.error = std::move(closed);
    }
    outcome.summary.set("bytes", writer.bytesWritten());
    outcome.summary.set("warnings", warnings(summary));
    return outcome;
}

Value ModelCapture::warnings(const RunSummary &summary) const
{
    Value list = Value::list();
    for (const std::string &device : summary.mappedDevices)
        list.append("device " + device + " is not here: cpu was used");
    for (const ModelInput &input : m_model.inputs())
        if (input.origin.starts_with(kGuessedOrigin))
            list.append("input " + input.name +
                        " was guessed: " + input.origin.substr(kGuessedOrigin.size()));
    for (const auto &note : m_report.notes())
        list.append(note.message);
    return list;
}

} // namespace core
