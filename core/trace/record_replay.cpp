// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/record_replay.h"

#include <algorithm>
#include <string>

namespace core {
namespace {

// One table after the other; a member function a record kind.
class Replay
{
public:
    Replay(const TraceTables &tables, RecordSink &sink, const JobContext &job, const ReplayEdits &edits)
        : m_tables(tables), m_sink(sink), m_job(job), m_edits(edits)
    {
    }

    Status run()
    {
        for (const auto step : {&Replay::places, &Replay::modules, &Replay::tensors, &Replay::calls,
                                &Replay::params, &Replay::gradNodes, &Replay::backward, &Replay::remarks})
            if (Status status = (this->*step)(); !status)
                return status;
        return Status::ok();
    }

private:
    std::string text(StringId id) const { return std::string(m_tables.strings.view(id)); }
    Value json(StringId id) const
    {
        if (!id.isValid())
            return {};
        auto value = parseJson(m_tables.strings.view(id), "attributes");
        return value ? std::move(*value) : Value(m_tables.strings.view(id));
    }
    std::optional<OperandsAt> operands(StringId id) const;
    template <class IdType>
    static std::vector<RecordId> ids(const std::vector<IdType> &pool, Range range)
    {
        std::vector<RecordId> out;
        out.reserve(range.count);
        for (std::uint32_t i = 0; i < range.count; ++i)
            out.push_back(pool[range.begin + i].value());
        return out;
    }
    std::vector<std::string> texts(Range range) const;
    std::vector<std::string> labels(Range range) const;
    template <class T>
    static std::vector<T> numbers(const std::vector<T> &pool, Range range)
    {
        return {pool.begin() + range.begin, pool.begin() + range.begin + range.count};
    }
    static std::optional<std::int64_t> known(std::int64_t value)
    {
        return value == kUnknown ? std::nullopt : std::optional(value);
    }

    Status places();
    Status modules();
    Status tensors();
    Status calls();
    Status params();
    Status gradNodes();
    Status backward();
    Status remarks();
    TensorRecord tensorRecord(std::size_t index) const;
    CallRecord callRecord(std::size_t index) const;
    std::vector<ArgumentRecord> arguments(Range range) const;
    ImportedRow importedRow(const OpRow &row) const;
    void addOutputs(const CallRow &row, CallRecord &record) const;

    const TraceTables &m_tables;
    RecordSink &m_sink;
    const JobContext &m_job;
    const ReplayEdits &m_edits;
};

std::vector<std::string> Replay::texts(Range range) const
{
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < range.count; ++i)
        out.push_back(text(m_tables.stringIds[range.begin + i]));
    return out;
}

std::vector<std::string> Replay::labels(Range range) const
{
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < range.count; ++i)
        out.push_back(text(m_tables.ops[m_tables.opIds[range.begin + i].index()].label));
    return out;
}

std::optional<OperandsAt> Replay::operands(StringId id) const
{
    if (!id.isValid())
        return std::nullopt;
    const Value value = json(id);
    return OperandsAt{value.at("at").toInt(-1), value.at("values").toList()};
}

Status Replay::places()
{
    for (std::size_t i = 0; i < m_tables.frames.size(); ++i) {
        const FrameRow &row = m_tables.frames[i];
        FrameRecord record{static_cast<RecordId>(i), text(row.file), row.line.oneBased(),
                           text(row.function),       text(row.text), row.origin};
        if (!m_edits.frame || m_edits.frame(record))
            if (Status status = m_sink.add(std::move(record)); !status)
                return status;
    }
    for (std::size_t i = 0; i < m_tables.stacks.size(); ++i)
        if (Status status = m_sink.add(
                StackRecord{static_cast<RecordId>(i), ids(m_tables.frameIds, m_tables.stacks[i].frames)});
            !status)
            return status;
    for (std::size_t i = 0; i < m_tables.sources.size(); ++i) {
        const SourceRow &row = m_tables.sources[i];
        SourceRecord record{static_cast<RecordId>(i), text(row.file), text(row.entry), text(row.hash)};
        if (!m_edits.source || m_edits.source(record))
            if (Status status = m_sink.add(std::move(record)); !status)
                return status;
    }
    return Status::ok();
}

Status Replay::modules()
{
    for (std::size_t i = 0; i < m_tables.modules.size(); ++i) {
        const ModuleRow &row = m_tables.modules[i];
        ModuleRecord record;
        record.id = static_cast<RecordId>(i);
        record.address = text(row.address);
        record.className = text(row.className);
        record.parent = row.parent.value();
        if (row.training >= 0)
            record.training = row.training == 1;
        record.aliases = texts(row.aliases);
        record.attributes = json(row.attributesJson);
        if (Status status = m_sink.add(std::move(record)); !status)
            return status;
    }
    for (std::size_t i = 0; i < m_tables.moduleCalls.size(); ++i) {
        const ModuleCallRow &row = m_tables.moduleCalls[i];
        ModuleCallRecord record;
        record.id = static_cast<RecordId>(i);
        record.module = row.module.value();
        record.index = row.index;
        record.parent = row.parent.value();
        record.stack = row.stack.value();
        record.inputs = ids(m_tables.tensorIds, row.inputs);
        record.outputs = ids(m_tables.tensorIds, row.outputs);
        record.durationNs = row.durationNs;
        record.method = text(row.method);
        if (Status status = m_sink.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

TensorRecord Replay::tensorRecord(std::size_t index) const
{
    const TensorRow &row = m_tables.tensors[index];
    TensorRecord record;
    record.id = static_cast<RecordId>(index);
    record.storage = row.storage.value();
    record.role = row.role;
    record.dtype = row.dtype;
    record.shape = numbers(m_tables.integers, row.shape);
    record.strides = numbers(m_tables.integers, row.strides);
    record.storageOffset = row.storageOffset;
    record.shapeKnown = row.shapeKnown;
    record.requiresGrad = row.requiresGrad;
    record.device = text(row.device);
    record.address = text(row.address);
    record.call = row.call.value();
    record.slot = row.slot;
    record.payload = {row.payload.state, text(row.payload.entry), row.payload.offset, row.payload.bytes,
                      row.payload.contiguous};
    if (row.stats < m_tables.stats.size())
        record.stats = m_tables.stats[row.stats];
    record.gradNode = row.gradNode.value();
    record.gradNodeOutput = row.gradNodeOutput;
    record.sample = numbers(m_tables.doubles, row.sample);
    record.operandsAtFirst = operands(row.operandsAtFirst);
    record.operandsAtFirstNan = operands(row.operandsAtFirstNan);
    return record;
}

Status Replay::tensors()
{
    for (std::size_t i = 0; i < m_tables.tensors.size(); ++i) {
        if (i % 1024 == 0)
            if (Status status = m_job.checkpoint("copying the trace"); !status)
                return status;
        TensorRecord record = tensorRecord(i);
        if (!m_edits.tensor || m_edits.tensor(record))
            if (Status status = m_sink.add(std::move(record)); !status)
                return status;
    }
    return Status::ok();
}

std::vector<ArgumentRecord> Replay::arguments(Range range) const
{
    std::vector<ArgumentRecord> out;
    out.reserve(range.count);
    for (std::uint32_t i = 0; i < range.count; ++i) {
        const ArgumentRow &row = m_tables.arguments[range.begin + i];
        out.push_back({text(row.name), ids(m_tables.tensorIds, row.tensors), row.isTensorList, row.isWritten,
                       json(row.valueJson)});
    }
    return out;
}

ImportedRow Replay::importedRow(const OpRow &row) const
{
    ImportedRow out;
    out.label = text(row.label);
    out.layerLabel = text(row.layerLabel);
    out.type = text(row.type);
    out.typeIndex = row.typeIndex;
    out.totalIndex = row.totalIndex;
    out.pass = row.pass;
    out.passCount = row.passCount;
    out.step = row.step;
    out.parents = labels(row.parents);
    out.children = labels(row.children);
    out.flopsForward = known(row.flopsForward);
    out.flopsBackward = known(row.flopsBackward);
    out.macsForward = known(row.macsForward);
    out.memory = known(row.bytes);
    out.atomicModule = text(row.atomicModule);
    for (std::uint32_t i = 0; i < row.outputOf.count; ++i)
        out.outputOfModuleCalls.push_back(
            text(m_tables.moduleCalls[m_tables.moduleCallIds[row.outputOf.begin + i].index()].label));
    out.attributes = json(row.attributesJson);
    return out;
}

// The rows of a call: outputs by slot, and what makes the parents of an own row.
void Replay::addOutputs(const CallRow &row, CallRecord &record) const
{
    const bool isImported = m_tables.info.source != TraceSource::own;
    for (std::uint32_t i = 0; i < row.rows.count; ++i) {
        const OpRow &op = m_tables.ops[row.rows.begin + i];
        if (isImported)
            record.imported.push_back(importedRow(op));
        if (!op.tensor.isValid() && row.rows.count == 1)
            continue;
        if (record.outputs.size() <= op.slot)
            record.outputs.resize(op.slot + std::size_t(1), kNoRecord);
        record.outputs[op.slot] = op.tensor.value();
    }
    if (row.rows.count == 0 || isImported)
        return;
    const OpRow &first = m_tables.ops[row.rows.begin];
    // The builder counts what the maker did not, and then backward and MACs too.
    bool isRecorded = true;
    for (std::uint32_t i = 0; i < row.rows.count; ++i) {
        const OpRow &op = m_tables.ops[row.rows.begin + i];
        isRecorded = isRecorded && op.flopsForward == first.flopsForward && op.flopsBackward == kUnknown &&
                     op.macsForward == kUnknown;
    }
    if (isRecorded)
        record.flopsForward = known(first.flopsForward);
    for (std::uint32_t i = 0; i < first.parents.count; ++i)
        record.parents.push_back(
            m_tables.ops[m_tables.opIds[first.parents.begin + i].index()].tensor.value());
}

CallRecord Replay::callRecord(std::size_t index) const
{
    const CallRow &row = m_tables.calls[index];
    CallRecord record;
    record.id = static_cast<RecordId>(index);
    record.kind = row.kind;
    record.op = text(row.op);
    record.func = text(row.func);
    record.moduleCall = row.moduleCall.value();
    record.stack = row.stack.value();
    record.arguments = arguments(row.arguments);
    record.valueParents = ids(m_tables.callIds, row.valueParents);
    record.startNs = row.startNs;
    record.durationNs = row.durationNs;
    record.thread = row.thread;
    record.inPlace = row.inPlace;
    record.view = row.view;
    record.consumesRng = row.consumesRng;
    record.uninitialised = row.uninitialised;
    record.gradEnabled = row.gradEnabled;
    record.finished = row.finished;
    record.autocast = text(row.autocast);
    record.controlFlow = text(row.controlFlow);
    record.nodeName = text(row.nodeName);
    record.address = text(row.address);
    if (row.valueJson.isValid())
        record.value = json(row.valueJson);
    record.gradNodes = ids(m_tables.gradNodeIds, row.gradNodes);
    addOutputs(row, record);
    return record;
}

Status Replay::calls()
{
    for (std::size_t i = 0; i < m_tables.calls.size(); ++i) {
        if (i % 1024 == 0)
            if (Status status = m_job.checkpoint("copying the trace"); !status)
                return status;
        CallRecord record = callRecord(i);
        if (!m_edits.call || m_edits.call(record))
            if (Status status = m_sink.add(std::move(record)); !status)
                return status;
    }
    return Status::ok();
}

Status Replay::params()
{
    for (std::size_t i = 0; i < m_tables.params.size(); ++i) {
        const ParamRow &row = m_tables.params[i];
        ParamRecord record;
        record.id = static_cast<RecordId>(i);
        record.isBuffer = row.isBuffer;
        record.address = text(row.address);
        record.aliases = texts(row.aliases);
        record.tensor = row.tensor.value();
        record.trainable = row.trainable;
        record.attributes = json(row.attributesJson);
        if (Status status = m_sink.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

Status Replay::gradNodes()
{
    for (std::size_t i = 0; i < m_tables.gradNodes.size(); ++i) {
        const GradNodeRow &row = m_tables.gradNodes[i];
        GradNodeRecord record;
        record.id = static_cast<RecordId>(i);
        record.className = text(row.className);
        record.label = text(row.label);
        record.sequence = row.sequence;
        record.call = row.call.value();
        record.opLabel = text(row.opLabel);
        record.parameter = text(row.parameter);
        record.module = text(row.module);
        for (std::uint32_t k = 0; k < row.next.count; ++k) {
            const GradEdgeRow &edge = m_tables.gradEdges[row.next.begin + k];
            record.next.push_back({edge.node.value(), edge.input});
        }
        record.attributes = json(row.attributesJson);
        if (Status status = m_sink.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

Status Replay::backward()
{
    for (std::size_t i = 0; i < m_tables.backwards.size(); ++i) {
        const BackwardRow &row = m_tables.backwards[i];
        BackwardRecord record;
        record.id = static_cast<RecordId>(i);
        record.index = row.index;
        record.loss = row.loss.value();
        record.lossRule = text(row.lossRule);
        record.roots = ids(m_tables.gradNodeIds, row.roots);
        if (row.hasLossScale)
            record.lossScale = row.lossScale;
        record.savePolicy = text(row.savePolicy);
        record.status = text(row.status);
        record.durationNs = row.durationNs;
        record.message = text(row.message);
        record.attributes = json(row.attributesJson);
        if (Status status = m_sink.add(std::move(record)); !status)
            return status;
    }
    for (std::size_t i = 0; i < m_tables.gradFires.size(); ++i) {
        const GradFireRow &row = m_tables.gradFires[i];
        if (Status status = m_sink.add(
                GradFireRecord{static_cast<RecordId>(i), row.backward.value(), row.order, row.node.value(),
                               ids(m_tables.tensorIds, row.arriving), ids(m_tables.tensorIds, row.emitted),
                               row.payloadsRecorded, row.startNs, row.durationNs});
            !status)
            return status;
    }
    for (const GradientRow &row : m_tables.gradients)
        if (Status status = m_sink.add(GradientRecord{row.tensor.value(), row.backward.value(),
                                                      row.gradient.value(), text(row.note)});
            !status)
            return status;
    return Status::ok();
}

Status Replay::remarks()
{
    for (const DiagnosticRow &row : m_tables.diagnostics)
        if (Status status =
                m_sink.add(DiagnosticRecord{text(row.token), text(row.message), row.call.value()});
            !status)
            return status;
    for (const NoteRow &row : m_tables.notes)
        if (Status status = m_sink.add(NoteRecord{text(row.kind), text(row.target), text(row.text)}); !status)
            return status;
    return m_job.checkpoint("copying the trace");
}

} // namespace

Status replayRecords(const TraceTables &tables, RecordSink &sink, const JobContext &job,
                     const ReplayEdits &edits)
{
    return Replay(tables, sink, job, edits).run();
}

} // namespace core
