// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/record_json.h"

#include "core/base/dtype.h"
#include "core/trace/tensor_reader.h"

namespace core {
namespace {

void begin(JsonText &out, std::string_view kind)
{
    out.open('{');
    out.member("t", kind);
}

void end(JsonText &out)
{
    out.close('}');
    out.newLine();
}

void id(JsonText &out, std::string_view key, RecordId id)
{
    if (id != kNoRecord)
        out.member(key, id);
}

void text(JsonText &out, std::string_view key, std::string_view text)
{
    if (!text.empty())
        out.member(key, text);
}

void flag(JsonText &out, std::string_view key, bool value, bool usual = false)
{
    if (value == usual)
        return;
    out.key(key);
    out.boolean(value);
}

void number(JsonText &out, std::string_view key, std::int64_t value, std::int64_t usual = -1)
{
    if (value == usual)
        return;
    out.key(key);
    out.integer(value);
}

void count(JsonText &out, std::string_view key, std::uint64_t value, std::uint64_t usual = 0)
{
    if (value == usual)
        return;
    out.key(key);
    out.unsignedInteger(value);
}

void ids(JsonText &out, std::string_view key, const std::vector<RecordId> &ids)
{
    if (ids.empty())
        return;
    out.key(key);
    out.open('[');
    for (const RecordId id : ids)
        if (id == kNoRecord)
            out.null();
        else
            out.unsignedInteger(id);
    out.close(']');
}

void integers(JsonText &out, std::string_view key, const std::vector<std::int64_t> &values)
{
    out.key(key);
    out.open('[');
    for (const std::int64_t value : values)
        out.integer(value);
    out.close(']');
}

void texts(JsonText &out, std::string_view key, const std::vector<std::string> &values)
{
    if (values.empty())
        return;
    out.key(key);
    out.open('[');
    for (const std::string &value : values)
        out.string(value);
    out.close(']');
}

void value(JsonText &out, std::string_view key, const Value &value)
{
    if (value.isNull())
        return;
    out.key(key);
    out.value(value);
}

void optional(JsonText &out, std::string_view key, const std::optional<std::int64_t> &value)
{
    if (!value)
        return;
    out.key(key);
    out.integer(*value);
}

void real(JsonText &out, std::string_view key, double value)
{
    out.key(key);
    out.real(value);
}

void operands(JsonText &out, std::string_view key, const std::optional<OperandsAt> &operands)
{
    if (!operands)
        return;
    out.key(key);
    out.open('{');
    number(out, "at", operands->at);
    out.key("values");
    out.open('[');
    for (const Value &each : operands->values)
        out.value(each);
    out.close(']');
    out.close('}');
}

void payload(JsonText &out, const PayloadRecord &payload)
{
    if (payload.state == PayloadState::unknown && payload.contiguous && payload.entry.empty())
        return;
    out.key("payload");
    out.open('{');
    out.member("state", payloadStateName(payload.state));
    text(out, "entry", payload.entry);
    count(out, "offset", payload.offset);
    count(out, "bytes", payload.bytes);
    flag(out, "contiguous", payload.contiguous, true);
    out.close('}');
}

void stats(JsonText &out, const TensorStats &stats)
{
    out.key("stats");
    out.open('{');
    count(out, "n", stats.elements);
    count(out, "nan", stats.nan);
    count(out, "pos_inf", stats.posInf);
    count(out, "neg_inf", stats.negInf);
    count(out, "zero", stats.zero);
    count(out, "subnormal", stats.subnormal);
    if (stats.hasFinite()) {
        real(out, "min", stats.min);
        real(out, "max", stats.max);
        real(out, "abs_min", stats.absMin);
        real(out, "abs_max", stats.absMax);
        real(out, "mean", stats.mean);
        real(out, "std", stats.std);
    }
    number(out, "first_nan", stats.firstNan);
    number(out, "first_pos_inf", stats.firstPosInf);
    number(out, "first_neg_inf", stats.firstNegInf);
    out.close('}');
}

void argument(JsonText &out, const ArgumentRecord &argument)
{
    out.open('{');
    out.member("name", argument.name);
    ids(out, "tensors", argument.tensors);
    flag(out, "list", argument.isTensorList);
    flag(out, "written", argument.isWritten);
    value(out, "value", argument.value);
    out.close('}');
}

void imported(JsonText &out, const ImportedRow &row)
{
    out.open('{');
    out.member("label", row.label);
    out.member("layer", row.layerLabel);
    text(out, "type", row.type);
    text(out, "raw_label", row.rawLabel);
    count(out, "type_index", row.typeIndex);
    count(out, "total_index", row.totalIndex);
    count(out, "pass", row.pass, 1);
    count(out, "passes", row.passCount, 1);
    count(out, "step", row.step);
    texts(out, "parents", row.parents);
    texts(out, "children", row.children);
    optional(out, "flops_forward", row.flopsForward);
    optional(out, "flops_backward", row.flopsBackward);
    optional(out, "macs_forward", row.macsForward);
    optional(out, "memory", row.memory);
    text(out, "atomic_module", row.atomicModule);
    texts(out, "output_of", row.outputOfModuleCalls);
    value(out, "attributes", row.attributes);
    out.close('}');
}

} // namespace

std::string_view frameOriginWord(FrameOrigin origin)
{
    switch (origin) {
    case FrameOrigin::package:
        return "package";
    case FrameOrigin::torch:
        return "torch";
    case FrameOrigin::standardLibrary:
        return "stdlib";
    case FrameOrigin::generated:
        return "generated";
    case FrameOrigin::user:
        break;
    }
    return "user";
}

std::string_view tensorRoleWord(TensorRole role)
{
    switch (role) {
    case TensorRole::input:
        return "input";
    case TensorRole::parameter:
        return "parameter";
    case TensorRole::buffer:
        return "buffer";
    case TensorRole::constant:
        return "constant";
    case TensorRole::gradient:
        return "gradient";
    case TensorRole::output:
        break;
    }
    return "output";
}

std::string_view callKindWord(CallKind kind)
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

void printRecord(JsonText &out, const FrameRecord &record)
{
    begin(out, "frame");
    id(out, "id", record.id);
    out.member("file", record.file);
    count(out, "line", record.line);
    text(out, "func", record.function);
    text(out, "text", record.text);
    if (record.origin != FrameOrigin::user)
        out.member("origin", frameOriginWord(record.origin));
    end(out);
}

void printRecord(JsonText &out, const StackRecord &record)
{
    begin(out, "stack");
    id(out, "id", record.id);
    ids(out, "frames", record.frames);
    end(out);
}

void printRecord(JsonText &out, const SourceRecord &record)
{
    begin(out, "source");
    id(out, "id", record.id);
    out.member("file", record.file);
    text(out, "entry", record.entry);
    text(out, "hash", record.hash);
    end(out);
}

void printRecord(JsonText &out, const ModuleRecord &record)
{
    begin(out, "module");
    id(out, "id", record.id);
    out.member("address", record.address);
    text(out, "class", record.className);
    id(out, "parent", record.parent);
    if (record.training)
        flag(out, "training", *record.training, !*record.training);
    texts(out, "aliases", record.aliases);
    value(out, "attributes", record.attributes);
    end(out);
}

void printRecord(JsonText &out, const ModuleCallRecord &record)
{
    begin(out, "module_call");
    id(out, "id", record.id);
    id(out, "module", record.module);
    count(out, "index", record.index, 1);
    id(out, "parent", record.parent);
    id(out, "stack", record.stack);
    ids(out, "inputs", record.inputs);
    ids(out, "outputs", record.outputs);
    number(out, "duration", record.durationNs);
    text(out, "method", record.method);
    end(out);
}

void printRecord(JsonText &out, const TensorRecord &record)
{
    begin(out, "tensor");
    id(out, "id", record.id);
    id(out, "storage", record.storage);
    if (record.role != TensorRole::output)
        out.member("role", tensorRoleWord(record.role));
    if (record.dtype != DType::unknown)
        out.member("dtype", dtypeName(record.dtype));
    if (record.shapeKnown)
        integers(out, "shape", record.shape);
    if (!record.strides.empty())
        integers(out, "strides", record.strides);
    number(out, "offset", record.storageOffset, 0);
    flag(out, "requires_grad", record.requiresGrad);
    if (record.device != "cpu")
        out.member("device", record.device);
    text(out, "address", record.address);
    id(out, "op", record.call);
    count(out, "slot", record.slot);
    payload(out, record.payload);
    if (record.stats)
        stats(out, *record.stats);
    id(out, "grad_node", record.gradNode);
    count(out, "grad_node_output", record.gradNodeOutput);
    if (!record.sample.empty()) {
        out.key("sample");
        out.open('[');
        for (const double element : record.sample)
            out.real(element);
        out.close(']');
    }
    operands(out, "operands_at_first", record.operandsAtFirst);
    operands(out, "operands_at_first_nan", record.operandsAtFirstNan);
    end(out);
}

void printRecord(JsonText &out, const CallRecord &record)
{
    begin(out, "op");
    id(out, "id", record.id);
    if (record.kind != CallKind::compute)
        out.member("kind", callKindWord(record.kind));
    out.member("op", record.op);
    out.member("func", record.func);
    id(out, "module_call", record.moduleCall);
    id(out, "stack", record.stack);
    if (!record.arguments.empty()) {
        out.key("args");
        out.open('[');
        for (const ArgumentRecord &each : record.arguments)
            argument(out, each);
        out.close(']');
    }
    ids(out, "outputs", record.outputs);
    ids(out, "parents", record.parents);
    ids(out, "value_parents", record.valueParents);
    number(out, "start", record.startNs);
    number(out, "duration", record.durationNs);
    count(out, "thread", record.thread);
    flag(out, "in_place", record.inPlace);
    flag(out, "view", record.view);
    flag(out, "rng", record.consumesRng);
    flag(out, "uninitialised", record.uninitialised);
    flag(out, "grad", record.gradEnabled);
    flag(out, "finished", record.finished, true);
    text(out, "autocast", record.autocast);
    text(out, "control", record.controlFlow);
    text(out, "node", record.nodeName);
    text(out, "address", record.address);
    if (record.value) {
        out.key("value");
        out.value(*record.value);
    }
    optional(out, "flops", record.flopsForward);
    ids(out, "grad_nodes", record.gradNodes);
    if (!record.imported.empty()) {
        out.key("imported");
        out.open('[');
        for (const ImportedRow &row : record.imported)
            imported(out, row);
        out.close(']');
    }
    end(out);
}

void printRecord(JsonText &out, const ParamRecord &record)
{
    begin(out, record.isBuffer ? "buffer" : "param");
    id(out, "id", record.id);
    out.member("address", record.address);
    texts(out, "aliases", record.aliases);
    id(out, "tensor", record.tensor);
    flag(out, "trainable", record.trainable);
    value(out, "attributes", record.attributes);
    end(out);
}

void printRecord(JsonText &out, const GradNodeRecord &record)
{
    begin(out, "grad_node");
    id(out, "id", record.id);
    out.member("class", record.className);
    text(out, "label", record.label);
    number(out, "sequence", record.sequence);
    id(out, "op", record.call);
    text(out, "op_label", record.opLabel);
    text(out, "parameter", record.parameter);
    text(out, "module", record.module);
    if (!record.next.empty()) {
        out.key("next");
        out.open('[');
        for (const GradEdge &edge : record.next) {
            out.open('[');
            if (edge.node == kNoRecord)
                out.null();
            else
                out.unsignedInteger(edge.node);
            out.unsignedInteger(edge.input);
            out.close(']');
        }
        out.close(']');
    }
    value(out, "attributes", record.attributes);
    end(out);
}

void printRecord(JsonText &out, const GradFireRecord &record)
{
    begin(out, "grad_fire");
    id(out, "id", record.id);
    id(out, "backward", record.backward);
    count(out, "order", record.order);
    id(out, "node", record.node);
    ids(out, "arriving", record.arriving);
    ids(out, "emitted", record.emitted);
    flag(out, "payloads_recorded", record.payloadsRecorded, true);
    number(out, "start", record.startNs);
    number(out, "duration", record.durationNs);
    end(out);
}

void printRecord(JsonText &out, const GradientRecord &record)
{
    begin(out, "gradient");
    id(out, "tensor", record.tensor);
    id(out, "backward", record.backward);
    id(out, "gradient", record.gradient);
    text(out, "note", record.note);
    end(out);
}

void printRecord(JsonText &out, const BackwardRecord &record)
{
    begin(out, "backward");
    id(out, "id", record.id);
    count(out, "index", record.index, 1);
    id(out, "loss", record.loss);
    text(out, "loss_rule", record.lossRule);
    ids(out, "roots", record.roots);
    if (record.lossScale)
        real(out, "loss_scale", *record.lossScale);
    text(out, "save_policy", record.savePolicy);
    out.member("status", record.status);
    number(out, "duration", record.durationNs);
    text(out, "message", record.message);
    value(out, "attributes", record.attributes);
    end(out);
}

void printRecord(JsonText &out, const DiagnosticRecord &record)
{
    begin(out, "diagnostic");
    out.member("token", record.token);
    out.member("message", record.message);
    id(out, "op", record.call);
    end(out);
}

void printRecord(JsonText &out, const NoteRecord &record)
{
    begin(out, "note");
    out.member("kind", record.kind);
    text(out, "target", record.target);
    text(out, "text", record.text);
    end(out);
}

} // namespace core
