// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/capture_task.h"

#include "core/capture_torch/autograd_recorder.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/describe_task.h"
#include "core/capture_torch/doctor_probe.h"
#include "core/capture_torch/op_recorder.h"
#include "core/capture_torch/replay.h"
#include "core/capture_torch/replay_values.h"
#include "core/capture_torch/runnable_model.h"
#include "core/io/native_writer.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <filesystem>

namespace core {

namespace {

CaptureOutcome failed(Status error)
{
    CaptureOutcome outcome;
    outcome.error = std::move(error);
    return outcome;
}

std::vector<std::string> frameTexts(const std::vector<RunFrame> &frames)
{
    std::vector<std::string> texts;
    for (const RunFrame &frame : frames)
        texts.push_back(frame.file + ':' + std::to_string(frame.line) +
                        (frame.function.empty() ? "" : " in " + frame.function));
    return texts;
}

bool sameValue(const c10::IValue &left, const c10::IValue &right)
{
    if (!left.isTensor() || !right.isTensor())
        return left.isTensor() == right.isTensor() &&
               toJson(ivalueToValue(left)) == toJson(ivalueToValue(right));
    const auto plain = [](const at::Tensor &tensor) {
        if (!tensor.defined() || tensor.is_quantized())
            return tensor.defined() ? tensor.dequantize() : tensor;
        return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
    };
    const at::Tensor a = plain(left.toTensor());
    const at::Tensor b = plain(right.toTensor());
    return a.defined() == b.defined() && (!a.defined() || sameBits(a, b));
}

// How many of the outputs of a watched run are those of the plain one, bit for bit, and which are not.
Value compareOutputs(const ModelOutputs &watched, const ModelOutputs &plain)
{
    const c10::AutoGradMode noHistory(false);
    Value::List differing;
    for (std::size_t i = 0; i < std::max(watched.size(), plain.size()); ++i) {
        if (i < watched.size() && i < plain.size() && sameValue(watched[i].second, plain[i].second))
            continue;
        const bool tensors = i < watched.size() && i < plain.size() && watched[i].second.isTensor() &&
                             plain[i].second.isTensor();
        differing.push_back(
            Value::object({{"path", i < watched.size() ? watched[i].first : plain[i].first},
                           {"max_difference", tensors ? maximumDifference(watched[i].second.toTensor(),
                                                                          plain[i].second.toTensor())
                                                      : Value()}}));
    }
    return Value::object({{"outputs", std::max(watched.size(), plain.size())},
                          {"equal", std::max(watched.size(), plain.size()) - differing.size()},
                          {"differing", Value(std::move(differing))}});
}

// One capture: the model, its trace, what came of it.
class Capture
{
public:
    Capture(const CaptureRequest &request, const TaskContext &context)
        : m_request(request), m_context(context)
    {
    }

    CaptureOutcome run()
    {
        if (Status status = load(); !status)
            return failed(std::move(status));
        if (Status status = warmUp(); !status)
            return failed(std::move(status));
        runUnwatched();
        describe();
        NativeWriterOptions options;
        options.journal = m_context.journal;
        Result<std::unique_ptr<NativeWriter>> writer =
            NativeWriter::create(m_request.outputPath, m_info, options);
        if (!writer)
            return failed(writer.error());
        return record(**writer);
    }

private:
    void tell(std::string_view stage) const
    {
        if (m_context.progress)
            m_context.progress({std::string(stage), {}, 0, 0, {}});
    }

    Status load()
    {
        tell("loading");
        if (m_request.outputPath.empty())
            return {ErrorCode::invalidArgument, "capture request: output is missing"};
        seedGenerators(m_request);
        Result<std::unique_ptr<RunnableModel>> model = RunnableModel::open(m_request, m_report);
        if (!model)
            return model.error();
        m_model = std::move(*model);
        if (Status built = m_model->buildInputs(m_request); !built)
            return built;
        return requireInputGradients();
    }

    Status requireInputGradients()
    {
        if (!m_request.backward)
            return Status::ok();
        if (!m_request.gradEnabled)
            return {ErrorCode::invalidArgument, "capture request: a backward pass needs grad mode"};
        for (const std::string &name : m_request.backward->inputGradients) {
            const auto found = std::find_if(m_model->inputs().begin(), m_model->inputs().end(),
                                            [&](const ModelInput &input) { return input.name == name; });
            if (found == m_model->inputs().end() || !found->value.isTensor())
                return {ErrorCode::invalidArgument, "the model has no tensor input " + name};
            const at::Tensor &tensor = found->value.toTensor();
            if (!at::isFloatingType(tensor.scalar_type()) && !at::isComplexType(tensor.scalar_type()))
                return {ErrorCode::invalidArgument, "input " + name + " is not floating: it has no gradient"};
            tensor.set_requires_grad(true);
        }
        return Status::ok();
    }

    // On a second copy of all state, so that the captured run is the first one of its own.
    Status warmUp()
    {
        for (std::uint32_t i = 0; i < m_request.warmup; ++i) {
            tell("warming up");
            Result<std::unique_ptr<RunnableModel>> copy = m_model->copy();
            if (!copy)
                return copy.error();
            seedGenerators(m_request);
            const c10::AutoGradMode mode(m_request.gradEnabled);
            if (const auto outputs = (*copy)->run(m_request, nullptr, job()); !outputs)
                break; // the captured run says why
            if (m_context.stop.stop_requested())
                return {ErrorCode::cancelled, "cancelled while warming up"};
        }
        return Status::ok();
    }

    // The same run without anybody listening, to compare with. A model that fails does so in the captured run
    // too, which says why.
    void runUnwatched()
    {
        if (!m_request.options.at("check_plain").toBool())
            return;
        tell("running unwatched");
        seedGenerators(m_request);
        const c10::AutoGradMode mode(m_request.gradEnabled);
        if (Result<ModelOutputs> outputs = m_model->runPlain(m_request); outputs)
            m_plain = std::move(*outputs);
    }

    JobContext job() const { return JobContext(m_context.stop); }

    void describe()
    {
        m_info = captureInfo(m_request);
        m_info.modelKind = m_model->kind();
        m_info.modelClass = m_model->className();
        m_info.attributes = m_model->facts();
        Value inputs = Value::list();
        for (const ModelInput &input : m_model->inputs())
            inputs.append(Value::object({{"name", input.name}, {"origin", input.origin}}));
        m_info.request.set("effective_inputs", std::move(inputs));
    }

    CaptureOutcome record(NativeWriter &writer)
    {
        RecorderOptions options;
        options.save = m_request.save;
        options.stop = m_context.stop;
        options.timeLimitSeconds = m_request.timeLimitSeconds;
        if (const Value *call = m_request.options.find("die_at_call"); call != nullptr && call->isInt())
            options.dieAtCall = static_cast<std::uint64_t>(call->toInt());
        if (m_context.progress)
            options.progress = [this](const RunProgress &at) {
                m_context.progress({"running", at.op, at.calls, at.bytes, at.firstBadOp});
            };
        OpRecorder recorder(writer, options);
        AutogradRecorder autograd(recorder, m_request.backward.has_value());
        if (m_request.gradEnabled)
            recorder.setGradListener(&autograd);
        tell("running");
        seedGenerators(m_request);
        Status status = runModel(recorder, autograd);
        recorder.finish();
        if (status.isOk() && !recorder.status().isOk())
            status = recorder.status();
        return close(writer, recorder, std::move(status));
    }

    Status runModel(OpRecorder &recorder, AutogradRecorder &autograd)
    {
        const c10::AutoGradMode mode(m_request.gradEnabled);
        Result<ModelOutputs> outputs = ModelOutputs();
        {
            const TapScope tapped(recorder);
            outputs = m_model->run(m_request, &recorder, job());
        }
        if (!outputs)
            return outputs.error();
        if (m_plain)
            m_comparison = compareOutputs(*outputs, *m_plain);
        if (!m_request.backward)
            return Status::ok();
        tell("backward");
        return autograd.backward(*m_request.backward, *outputs, m_model->parameters());
    }

    CaptureOutcome close(NativeWriter &writer, OpRecorder &recorder, Status status)
    {
        tell("closing");
        const RunSummary &summary = recorder.summary();
        CaptureOutcome outcome;
        outcome.status = status.isOk()                           ? TraceStatus::finished
                         : status.code() == ErrorCode::cancelled ? TraceStatus::cancelled
                                                                 : TraceStatus::failed;
        if (summary.timedOut)
            status = Status(ErrorCode::limitExceeded,
                            "the run took longer than " + formatDouble(m_request.timeLimitSeconds) + " s");
        outcome.error = status;
        outcome.op = summary.runningOp;
        m_info.status = outcome.status;
        m_info.hasBackward = m_request.backward.has_value();
        if (!status.isOk()) {
            m_info.failure.op = summary.runningOp;
            m_info.failure.call = summary.runningCall;
            m_info.failure.stack = summary.runningStack;
            m_info.failure.message = status.message();
            if (const auto failure = m_model->failure())
                outcome.stack = frameTexts(failure->frames);
        }
        outcome.summary = Value::object({{"calls", summary.calls},
                                         {"tensors", summary.tensors},
                                         {"seconds", static_cast<double>(summary.durationNs) * 1e-9},
                                         {"first_bad_op", summary.firstBadOp}});
        if (!m_comparison.isNull())
            outcome.summary.set("plain", m_comparison);
        m_info.totals = outcome.summary;
        if (Status closed = writer.close(m_info); !closed) {
            if (outcome.error.isOk()) {
                outcome.status = TraceStatus::failed;
                outcome.error = std::move(closed);
            }
        }
        outcome.summary.set("bytes", writer.bytesWritten());
        outcome.summary.set("warnings", warnings(summary));
        return outcome;
    }

    Value warnings(const RunSummary &summary) const
    {
        Value list = Value::list();
        for (const std::string &device : summary.mappedDevices)
            list.append("device " + device + " is not here: cpu was used");
        for (const auto &note : m_report.notes())
            list.append(note.message);
        return list;
    }

    const CaptureRequest &m_request;
    const TaskContext &m_context;
    LoadReport m_report;
    std::unique_ptr<RunnableModel> m_model;
    std::optional<ModelOutputs> m_plain;
    Value m_comparison;
    TraceInfo m_info;
};

} // namespace

CaptureOutcome runCapture(const CaptureRequest &request, const TaskContext &context)
{
    try {
        at::set_num_threads(static_cast<int>(std::max(1U, request.threads)));
        return Capture(request, context).run();
    } catch (const std::exception &error) {
        return failed({ErrorCode::internal, std::string("capture: ") + error.what()});
    }
}

CaptureOutcome runTask(const CaptureRequest &request, const TaskContext &context)
{
    if (request.task == "capture")
        return runCapture(request, context);
    if (request.task == "doctor")
        return runDoctor(request);
    if (request.task == "replay")
        return runReplay(request, context);
    if (request.task == "describe")
        return runDescribe(request, context);
    return failed({ErrorCode::invalidArgument, "capture request: task " + request.task + " is not known"});
}

} // namespace core
