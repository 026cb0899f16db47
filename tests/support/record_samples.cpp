// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/record_samples.h"

#include <cmath>
#include <limits>

using namespace core;

namespace test {
namespace {

void must(const Status &status)
{
    if (!status)
        throw status.message();
}

void addFrames(RecordSink &sink)
{
    must(sink.add(FrameRecord{0, "/usr/lib/python3/torch/nn/module.py", 1501, "_call_impl", "return f(*args)",
                              FrameOrigin::torch}));
    must(sink.add(FrameRecord{1, "model.py", 14, "forward", "x = \"\xc3\xa4\" + self.lin(x)\t# \\",
                              FrameOrigin::user}));
    must(sink.add(FrameRecord{2, "<eval_with_key>.0", 0, "", "", FrameOrigin::generated}));
    must(sink.add(FrameRecord{3, "torchvision/ops.py", 3, "nms", "", FrameOrigin::package}));
    must(sink.add(FrameRecord{4, "functools.py", 9, "wrapper", "", FrameOrigin::standardLibrary}));
    must(sink.add(StackRecord{0, {0, 1, 2}}));
    must(sink.add(StackRecord{1, {4, 3}}));
    must(sink.add(StackRecord{2, {}}));
}

void addModules(RecordSink &sink)
{
    ModuleRecord root;
    root.id = 0;
    root.className = "Net";
    root.training = false;
    root.attributes = Value::object({{"note", Value::list({1, 2.5, "x", nullptr, true})}});
    must(sink.add(root));
    ModuleRecord lin;
    lin.id = 1;
    lin.address = "lin";
    lin.className = "Linear";
    lin.parent = 0;
    lin.training = true;
    lin.aliases = {"tied.lin", "other"};
    must(sink.add(lin));
    ModuleCallRecord call;
    call.id = 0;
    call.module = 0;
    call.inputs = {0};
    call.outputs = {5};
    call.method = "forward";
    call.durationNs = 1234;
    must(sink.add(call));
    call = {};
    call.id = 1;
    call.module = 1;
    call.index = 2;
    call.parent = 0;
    call.stack = 0;
    call.outputs = {3};
    must(sink.add(call));
}

TensorRecord tensor(RecordId id, RecordId call, std::vector<std::int64_t> shape)
{
    TensorRecord record;
    record.id = id;
    record.dtype = DType::float32;
    record.shape = std::move(shape);
    record.call = call;
    return record;
}

TensorStats statsWithNaN()
{
    TensorStats stats;
    stats.elements = 6;
    stats.nan = 1;
    stats.posInf = 1;
    stats.negInf = 1;
    stats.zero = 1;
    stats.subnormal = 1;
    stats.min = -0.1;
    stats.max = 3.5e38;
    stats.absMin = 1e-310;
    stats.absMax = 3.5e38;
    stats.mean = 1.0 / 3.0;
    stats.std = 2.0;
    stats.firstNan = 2;
    stats.firstPosInf = 3;
    stats.firstNegInf = 4;
    return stats;
}

PayloadRecord payload(TraceSink *sink, DType dtype, std::vector<std::int64_t> shape, std::size_t bytes)
{
    if (sink == nullptr)
        return {};
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        data[i] = static_cast<std::byte>(i * 7 + bytes);
    auto written = sink->writePayload(dtype, shape, data);
    must(written.status());
    return *written;
}

void addTensors(RecordSink &sink, TraceSink *payloads)
{
    TensorRecord input = tensor(0, 0, {2, 3});
    input.role = TensorRole::input;
    input.address = "x";
    input.storage = 7;
    input.payload = payload(payloads, DType::float32, {2, 3}, 24);
    must(sink.add(input));
    TensorRecord weight = tensor(1, kNoRecord, {3, 3});
    weight.role = TensorRole::parameter;
    weight.address = "lin.weight";
    weight.strides = {1, 3};
    weight.storageOffset = 2;
    weight.requiresGrad = true;
    weight.payload = payload(payloads, DType::float32, {30000}, 120000);
    weight.payload.contiguous = false;
    must(sink.add(weight));
    TensorRecord buffer = tensor(2, kNoRecord, {});
    buffer.role = TensorRole::buffer;
    buffer.dtype = DType::int64;
    buffer.payload.state = PayloadState::notSaved;
    must(sink.add(buffer));
    TensorRecord out = tensor(3, 1, {2, 3});
    out.stats = statsWithNaN();
    out.sample = {
        1.5,  std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        -0.0, 1e300};
    out.gradNode = 0;
    out.operandsAtFirst = OperandsAt{2, {Value(1.5), Value(), Value(3)}};
    out.operandsAtFirstNan = OperandsAt{4, {Value(std::nan("")), Value(-1)}};
    out.gradNodeOutput = 1;
    out.storage = 8;
    must(sink.add(out));
    TensorRecord written = tensor(4, 2, {2, 3});
    written.dtype = DType::bfloat16;
    written.storage = 8;
    written.slot = 2;
    written.device = "cuda:1";
    written.payload = {PayloadState::tooLarge, "", 0, 0, true};
    must(sink.add(written));
    TensorRecord last = tensor(5, 4, {0, 3});
    last.shapeKnown = true;
    must(sink.add(last));
    TensorRecord unknown = tensor(6, kNoRecord, {});
    unknown.shapeKnown = false;
    unknown.role = TensorRole::gradient;
    unknown.dtype = DType::unknown;
    must(sink.add(unknown));
}

CallRecord call(RecordId id, CallKind kind, std::string func, std::vector<RecordId> outputs,
                std::vector<RecordId> parents)
{
    CallRecord record;
    record.id = id;
    record.kind = kind;
    record.op = kind == CallKind::compute ? "aten." + func + ".default" : "none";
    record.func = kind == CallKind::compute ? func : "none";
    record.outputs = std::move(outputs);
    record.parents = std::move(parents);
    return record;
}

void addCalls(RecordSink &sink)
{
    CallRecord input = call(0, CallKind::input, "", {0}, {});
    input.address = "x";
    must(sink.add(input));
    CallRecord linear = call(1, CallKind::compute, "linear", {3}, {0});
    linear.moduleCall = 1;
    linear.stack = 0;
    linear.arguments = {{"input", {0}, false, false, {}},
                        {"weight", {1}, false, false, {}},
                        {"list", {0, kNoRecord, 3}, true, false, {}},
                        {"none", {}, true, false, {}},
                        {"scale", {}, false, false, Value(0.1)},
                        {"dims", {}, false, false, Value::list({-1, 9007199254740993LL})},
                        {"bias", {}, false, false, {}}};
    linear.startNs = 0;
    linear.durationNs = 88;
    linear.thread = 3;
    linear.gradEnabled = true;
    linear.consumesRng = true;
    linear.autocast = "bfloat16";
    linear.flopsForward = 36;
    linear.gradNodes = {0, 1};
    must(sink.add(linear));
    CallRecord relu = call(2, CallKind::compute, "relu_", {kNoRecord, kNoRecord, 4}, {3});
    relu.inPlace = true;
    relu.view = true;
    relu.uninitialised = true;
    relu.moduleCall = 0;
    relu.controlFlow = "while_loop_1/body[3]";
    must(sink.add(relu));
    CallRecord item = call(3, CallKind::compute, "item", {}, {4});
    item.value = Value(std::nan(""));
    item.nodeName = "item_1";
    must(sink.add(item));
    CallRecord output = call(4, CallKind::output, "", {5}, {4});
    output.address = "logits";
    output.valueParents = {3};
    output.value = Value();
    output.finished = false;
    output.stack = 1;
    must(sink.add(output));
}

void addBackward(RecordSink &sink)
{
    GradNodeRecord node;
    node.id = 0;
    node.className = "AddmmBackward0";
    node.sequence = 4;
    node.call = 1;
    node.next = {{1, 0}, {kNoRecord, 2}};
    node.label = "addmm_back_1";
    node.opLabel = "linear_1_1";
    node.module = "lin";
    node.attributes = Value::object({{"a", 1}});
    must(sink.add(node));
    node = {};
    node.id = 1;
    node.className = "AccumulateGrad";
    node.parameter = "lin.weight";
    must(sink.add(node));
    BackwardRecord pass;
    pass.id = 0;
    pass.loss = 5;
    pass.lossRule = "sum";
    pass.roots = {0};
    pass.lossScale = 1024.0;
    pass.savePolicy = "all";
    pass.durationNs = 5;
    pass.message = "none";
    pass.attributes = Value::list({1});
    must(sink.add(pass));
    must(sink.add(GradFireRecord{0, 0, 1, 1, {6}, {kNoRecord}, false, 10, 20}));
    must(sink.add(GradFireRecord{1, 0, 0, 0, {}, {6}, true, -1, -1}));
    must(sink.add(GradientRecord{3, 0, 6, "overwritten in place"}));
    must(sink.add(GradientRecord{0, 0, kNoRecord, ""}));
}

} // namespace

TraceInfo sampleInfo()
{
    TraceInfo info;
    info.producer = "opscope 0.1";
    info.createdUtc = "2026-11-29T12:00:00Z";
    info.modelName = "model.pt2";
    info.modelPath = "/srv/models/model.pt2";
    info.modelKind = "pt2";
    info.modelClass = "Net";
    info.modelHash = "00ff";
    info.status = TraceStatus::finished;
    info.request = Value::object({{"seed", 1}, {"inputs", Value::list({"f32[2,3]=randn"})}});
    info.environment = Value::object({{"torch", "2.15.0"}});
    info.totals = Value::object({{"duration_ns", 12345}});
    return info;
}

void addEveryKind(RecordSink &sink, TraceSink *payloads)
{
    addFrames(sink);
    if (payloads != nullptr)
        must(payloads->writeSource("model.py", "import torch\n").status());
    else
        must(sink.add(SourceRecord{0, "model.py", "", "abc"}));
    addModules(sink);
    addTensors(sink, payloads);
    must(sink.add(ParamRecord{0, false, "lin.weight", {"tied.weight"}, 1, true, Value::object({{"k", 2}})}));
    must(sink.add(ParamRecord{1, true, "steps", {}, 2, false, {}}));
    addCalls(sink);
    addBackward(sink);
    must(sink.add(DiagnosticRecord{"unsupported", "a sparse tensor", 2}));
    must(sink.add(NoteRecord{"bookmark", "linear_1_1", "look here\nand here"}));
}

void addImported(RecordSink &sink)
{
    addFrames(sink);
    addModules(sink);
    must(sink.add(tensor(0, 0, {2, 3})));
    must(sink.add(tensor(1, 1, {2, 4})));
    must(sink.add(tensor(3, 1, {2, 4})));
    must(sink.add(tensor(5, 2, {2, 4})));
    CallRecord input = call(0, CallKind::input, "", {0}, {});
    input.imported = {{"input_1:1",
                       "input_1",
                       "input",
                       "raw",
                       1,
                       0,
                       1,
                       1,
                       0,
                       {},
                       {"linear_1_1:1"},
                       {},
                       {},
                       {},
                       {},
                       "",
                       {},
                       {}}};
    must(sink.add(input));
    CallRecord linear = call(1, CallKind::compute, "linear", {1, 3}, {0});
    linear.imported = {{"linear_1_1:1",
                        "linear_1_1",
                        "linear",
                        "",
                        1,
                        1,
                        1,
                        2,
                        1,
                        {"input_1"},
                        {"output_1:1"},
                        5,
                        6,
                        7,
                        0,
                        "lin",
                        {"lin:2"},
                        Value::object({{"x", 1}})},
                       {"linear_1_1:2",
                        "linear_1_1",
                        "linear",
                        "",
                        1,
                        1,
                        2,
                        2,
                        2,
                        {"input_1"},
                        {},
                        {},
                        {},
                        {},
                        {},
                        "",
                        {":1", "lin:2"},
                        {}}};
    must(sink.add(linear));
    CallRecord output = call(2, CallKind::output, "", {5}, {1});
    output.imported = {{"output_1:1",
                        "output_1",
                        "output",
                        "",
                        1,
                        0,
                        1,
                        1,
                        2,
                        {"linear_1_1:1"},
                        {},
                        {},
                        {},
                        {},
                        {},
                        "",
                        {},
                        {}}};
    must(sink.add(output));
}

} // namespace test
