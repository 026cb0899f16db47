// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/trace_documents.h"

#include "core/base/element_codec.h"
#include "core/base/or_null.h"
#include "core/trace/failure_cause.h"
#include "core/trace/tensor_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace core {
namespace {

constexpr std::uint64_t kShownValues = 16;

Value countOrNull(std::int64_t count)
{
    return count == kUnknown ? Value() : Value(count);
}
Value integers(std::span<const std::int64_t> numbers)
{
    return Value(Value::List(numbers.begin(), numbers.end()));
}

Value labels(const Trace &trace, std::span<const OpId> ops)
{
    Value out = Value::list();
    for (const OpId op : ops)
        out.append(trace.label(op));
    return out;
}

Value sourceDocument(const Trace &trace, OpId id)
{
    const StackId stack = trace.callOf(id).stack;
    const FrameId frame = stack.isValid() ? trace.sourceFrame(stack) : FrameId();
    if (!frame.isValid())
        return Value();
    const FrameRow &row = trace.frame(frame);
    return Value::object({{"file", trace.string(row.file)},
                          {"line", row.line.isKnown() ? Value(row.line.oneBased()) : Value()},
                          {"func", orNull(trace.string(row.function))},
                          {"text", orNull(trace.string(row.text))}});
}

void addTensorMembers(Value &out, const Trace &trace, TensorId id)
{
    const TensorRow &tensor = trace.tensor(id);
    const TensorStats *stats = trace.stats(id);
    out.set("shape", tensor.shapeKnown ? integers(trace.shape(id)) : Value());
    out.set("dtype", dtypeName(tensor.dtype));
    out.set("strides", tensor.strides.count == 0 ? Value() : integers(trace.strides(id)));
    out.set("device", trace.string(tensor.device));
    out.set("requires_grad", tensor.requiresGrad);
    out.set("payload", payloadStateName(tensor.payload.state));
    out.set("stats", stats == nullptr ? Value() : statsDocument(*stats));
}

// One element as the number it is; complex elements give their two parts.
void appendElement(Value &out, DType dtype, const std::byte *data, std::size_t index)
{
    const std::optional<std::int64_t> whole = elementAsInteger(dtype, data, index);
    if (dtype == DType::boolean)
        out.append(whole == 1);
    else
        out.append(whole ? Value(*whole) : Value(elementAsDouble(dtype, data, index)));
    if (isComplex(dtype))
        out.append(elementImaginary(dtype, data, index));
}

// The first values: from the payload where it is saved, else from the sample that is always kept; null when
// there is neither.
Value firstValues(const Trace &trace, TensorId id)
{
    const DType dtype = trace.tensor(id).dtype;
    Value out = Value::list();
    if (const Result<TensorReader> reader = TensorReader::open(trace, id)) {
        const std::uint64_t shown = isComplex(dtype) ? kShownValues / 2 : kShownValues;
        const std::size_t count = std::min(shown, reader->elementCount());
        std::array<std::byte, kShownValues * 16> bytes;
        const std::span<std::byte> used(bytes.data(), count * reader->itemBytes());
        if (reader->read(0, used)) {
            for (std::size_t i = 0; i < count; ++i)
                appendElement(out, dtype, bytes.data(), i);
            return out;
        }
    }
    const std::span<const double> sample = trace.sample(id);
    if (sample.empty())
        return Value();
    for (const double value : sample) {
        if (dtype == DType::boolean)
            out.append(value != 0.0);
        else if (canBeNonFinite(dtype) || std::abs(value) >= 0x1p63)
            out.append(value);
        else
            out.append(static_cast<std::int64_t>(value));
    }
    return out;
}

struct FiniteSum
{
    double sum = 0.0;
    std::uint64_t nonFinite = 0;
};

// Reads the values themselves, for traces that hold no statistics; nothing when they are not there.
std::optional<FiniteSum> measuredSum(const Trace &trace, TensorId id)
{
    constexpr std::size_t kChunkBytes = std::size_t(64) << 10U;
    const Result<TensorReader> reader = TensorReader::open(trace, id);
    if (!reader || reader->itemBytes() == 0)
        return std::nullopt;
    FiniteSum out;
    const auto add = [&out](double value) {
        if (std::isfinite(value))
            out.sum += value;
        else
            ++out.nonFinite;
    };
    std::vector<std::byte> bytes(kChunkBytes);
    const std::uint64_t step = kChunkBytes / reader->itemBytes();
    for (std::uint64_t first = 0; first < reader->elementCount(); first += step) {
        const std::size_t count = std::min(step, reader->elementCount() - first);
        if (!reader->read(first, std::span(bytes.data(), count * reader->itemBytes())))
            return std::nullopt;
        for (std::size_t i = 0; i < count; ++i) {
            add(elementAsDouble(reader->dtype(), bytes.data(), i));
            if (isComplex(reader->dtype()))
                add(elementImaginary(reader->dtype(), bytes.data(), i));
        }
    }
    return out;
}

std::optional<FiniteSum> finiteSum(const Trace &trace, TensorId id)
{
    const TensorStats *stats = trace.stats(id);
    if (stats == nullptr)
        return measuredSum(trace, id);
    const auto finite = static_cast<double>(stats->elements - stats->nonFinite());
    return FiniteSum{stats->hasFinite() ? stats->mean * finite : 0.0, stats->nonFinite()};
}

Value outputDocument(const Trace &trace, OpId id)
{
    const CallRow &call = trace.callOf(id);
    const OpRow &op = trace.op(id);
    Value out = Value::object({{"path", trace.string(call.address)}, {"label", trace.label(id)}});
    if (!op.tensor.isValid()) {
        const std::string_view json = trace.string(call.valueJson);
        Result<Value> value = json.empty() ? Value() : parseJson(json, "value");
        out.set("shape", Value());
        out.set("dtype", Value());
        out.set("value", value ? std::move(*value) : Value());
        return out;
    }
    const std::optional<FiniteSum> sum = finiteSum(trace, op.tensor);
    out.set("shape", trace.tensor(op.tensor).shapeKnown ? integers(trace.shape(op.tensor)) : Value());
    out.set("dtype", dtypeName(trace.tensor(op.tensor).dtype));
    out.set("sum_finite", sum ? Value(sum->sum) : Value());
    out.set("nonfinite", sum ? Value(sum->nonFinite) : Value());
    out.set("first", firstValues(trace, op.tensor));
    return out;
}

std::string_view callKindName(CallKind kind)
{
    switch (kind) {
    case CallKind::input:
        return "input";
    case CallKind::output:
        return "output";
    case CallKind::buffer:
        return "buffer";
    case CallKind::compute:
        break;
    }
    return "compute";
}

std::string_view traceSourceName(TraceSource source)
{
    switch (source) {
    case TraceSource::torchLens:
        return "torchlens";
    case TraceSource::kineto:
        return "kineto";
    case TraceSource::executionTrace:
        return "execution_trace";
    case TraceSource::own:
        break;
    }
    return "opscope";
}

Value failureDocument(const TraceInfo &info)
{
    const TraceFailure &failure = info.failure;
    if (failure.op.empty() && failure.message.empty() && failure.signal.empty())
        return Value();
    return Value::object({{"op", orNull(failure.op)},
                          {"label", orNull(failure.label)},
                          {"message", orNull(failure.message)},
                          {"cause", orNull(failureCause(info))},
                          {"signal", orNull(failure.signal)}});
}

Value countsDocument(const Trace &trace)
{
    const auto isParameter = [](const ParamRow &row) { return !row.isBuffer; };
    const std::size_t params = static_cast<std::size_t>(std::ranges::count_if(trace.params(), isParameter));
    return Value::object({{"calls", trace.calls().size()},
                          {"ops", trace.ops().size()},
                          {"tensors", trace.tensors().size()},
                          {"modules", trace.modules().size()},
                          {"module_calls", trace.moduleCalls().size()},
                          {"parameters", params},
                          {"buffers", trace.params().size() - params},
                          {"sources", trace.sources().size()},
                          {"grad_nodes", trace.gradNodes().size()},
                          {"grad_fires", trace.gradFires().size()},
                          {"backward_passes", trace.backwards().size()}});
}

Value notesDocument(const Trace &trace)
{
    Value out = Value::list();
    for (const LoadReport::Note &note : trace.loadReport().notes())
        out.append(Value::object({{"token", note.token}, {"message", note.message}, {"count", note.count}}));
    return out;
}

Value diagnosticsDocument(const Trace &trace)
{
    Value out = Value::list();
    for (const DiagnosticRow &row : trace.diagnostics())
        out.append(
            Value::object({{"token", trace.string(row.token)}, {"message", trace.string(row.message)}}));
    return out;
}

} // namespace

Value statsDocument(const TensorStats &stats)
{
    const bool finite = stats.hasFinite();
    const auto number = [finite](double value) { return finite ? Value(value) : Value(); };
    return Value::object({{"elements", stats.elements},
                          {"nan", stats.nan},
                          {"pinf", stats.posInf},
                          {"ninf", stats.negInf},
                          {"zero", stats.zero},
                          {"subnormal", stats.subnormal},
                          {"min", number(stats.min)},
                          {"max", number(stats.max)},
                          {"abs_min", number(stats.absMin)},
                          {"abs_max", number(stats.absMax)},
                          {"mean", number(stats.mean)},
                          {"std", number(stats.std)}});
}

Value opDocument(const Trace &trace, OpId id)
{
    const OpRow &op = trace.op(id);
    const CallRow &call = trace.callOf(id);
    const std::optional<std::string> line = trace.sourceLine(id);
    Value out = Value::object({{"label", trace.label(id)},
                               {"op", trace.string(call.op)},
                               {"func", trace.string(call.func)},
                               {"kind", callKindName(op.kind)},
                               {"call", op.call.value()},
                               {"output", op.slot},
                               {"step", op.step},
                               {"pass", op.pass},
                               {"pass_count", op.passCount},
                               {"shape", Value()},
                               {"dtype", Value()},
                               {"parents", labels(trace, trace.parents(id))},
                               {"children", labels(trace, trace.children(id))},
                               {"module", trace.moduleAddress(id)},
                               {"module_call", trace.moduleCallLabel(id)},
                               {"flops_forward", countOrNull(op.flopsForward)},
                               {"flops_backward", countOrNull(op.flopsBackward)},
                               {"activation_bytes", countOrNull(op.bytes)},
                               {"duration_ns", countOrNull(call.durationNs)},
                               {"source_line", line ? Value(*line) : Value()},
                               {"source", sourceDocument(trace, id)},
                               {"in_place", call.inPlace},
                               {"view", call.view},
                               {"rng", call.consumesRng},
                               {"finished", call.finished},
                               {"address", orNull(trace.string(call.address))},
                               {"control_flow", orNull(trace.string(call.controlFlow))}});
    if (op.tensor.isValid())
        addTensorMembers(out, trace, op.tensor);
    return out;
}

Value opsDocument(const Trace &trace)
{
    Value ops = Value::list();
    for (const OpId id : trace.orderedOps())
        ops.append(opDocument(trace, id));
    return Value::object({{"subject", trace.subject()}, {"ops", std::move(ops)}});
}

Value outputsDocument(const Trace &trace)
{
    // As the model returned them; the order of execution sorts them by the text of their label.
    Value outputs = Value::list();
    for (std::size_t i = 0; i < trace.ops().size(); ++i)
        if (trace.ops()[i].kind == CallKind::output)
            outputs.append(outputDocument(trace, OpId(i)));
    return Value::object({{"subject", trace.subject()}, {"outputs", std::move(outputs)}});
}

Value infoDocument(const Trace &trace)
{
    const TraceInfo &info = trace.info();
    return Value::object({{"subject", trace.subject()},
                          {"source", traceSourceName(info.source)},
                          {"format_version", orNull(info.formatVersion)},
                          {"producer", orNull(info.producer)},
                          {"created", orNull(info.createdUtc)},
                          {"model", Value::object({{"name", orNull(info.modelName)},
                                                   {"path", orNull(info.modelPath)},
                                                   {"kind", orNull(info.modelKind)},
                                                   {"class", orNull(info.modelClass)},
                                                   {"hash", orNull(info.modelHash)}})},
                          {"status", traceStatusName(info.status)},
                          {"capture_status", captureStatusWord(info.status)},
                          {"failure", failureDocument(info)},
                          {"has_backward", info.hasBackward},
                          {"counts", countsDocument(trace)},
                          {"request", info.request},
                          {"environment", info.environment},
                          {"totals", info.totals},
                          {"diagnostics", diagnosticsDocument(trace)},
                          {"notes", notesDocument(trace)}});
}

} // namespace core
