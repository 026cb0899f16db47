// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {

TraceBuilder::TraceBuilder() = default;
TraceBuilder::~TraceBuilder() = default;

bool TraceBuilder::IdMap::insert(RecordId id, std::uint32_t row)
{
    // A hostile file may number its records anywhere: only ids near the rows they make are kept in the
    // vector.
    constexpr std::size_t kSlack = 4096;
    if (id < m_dense.size() || id < row * std::size_t(2) + kSlack) {
        if (id >= m_dense.size())
            m_dense.resize(std::max<std::size_t>(id + 1, m_dense.size() * 2), kNoRecord);
        if (m_dense[id] != kNoRecord)
            return false;
        m_dense[id] = row;
        return true;
    }
    return m_sparse.emplace(id, row).second;
}

std::uint32_t TraceBuilder::IdMap::find(RecordId id) const
{
    if (id < m_dense.size() && m_dense[id] != kNoRecord)
        return m_dense[id];
    const auto found = m_sparse.find(id);
    return found == m_sparse.end() ? kNoRecord : found->second;
}

StringId TraceBuilder::json(const Value &value)
{
    return value.isNull() ? StringId() : text(toJson(value));
}

Status TraceBuilder::duplicate(std::string_view kind, RecordId id)
{
    return {ErrorCode::corrupt, fmt::format("{} record {} stands twice", kind, id)};
}

Range TraceBuilder::addIds(std::vector<TensorId> &pool, const std::vector<RecordId> &ids)
{
    const Range range{static_cast<std::uint32_t>(pool.size()), static_cast<std::uint32_t>(ids.size())};
    for (const RecordId id : ids)
        pool.emplace_back(id);
    return range;
}

Range TraceBuilder::addStrings(const std::vector<std::string> &values)
{
    const Range range{static_cast<std::uint32_t>(m_tables.stringIds.size()),
                      static_cast<std::uint32_t>(values.size())};
    for (const std::string &value : values)
        m_tables.stringIds.push_back(text(value));
    return range;
}

// While records come in, id fields of rows hold record ids; resolveReferences() turns them into rows at the
// end.

namespace {

Value operandsValue(const std::optional<OperandsAt> &operands)
{
    if (!operands)
        return {};
    return Value::object({{"at", operands->at}, {"values", Value(Value::List(operands->values))}});
}

// A second record of a tensor gives statistics and values that the first one (INDEX) left out; false when it
// is another tensor or there is nothing left out.
bool completeTensor(TraceTables &tables, std::uint32_t index, const TensorRecord &record, StringId entry)
{
    TensorRow &row = tables.tensors[index];
    const auto shape = std::span(tables.integers).subspan(row.shape.begin, row.shape.count);
    if (row.dtype != record.dtype ||
        !std::equal(shape.begin(), shape.end(), record.shape.begin(), record.shape.end()) ||
        row.stats != kNoRecord || row.payload.state == PayloadState::saved)
        return false;
    if (record.stats) {
        row.stats = static_cast<std::uint32_t>(tables.stats.size());
        tables.stats.push_back(*record.stats);
    }
    if (record.payload.state != PayloadState::saved)
        return true;
    row.strides = {static_cast<std::uint32_t>(tables.integers.size()),
                   static_cast<std::uint32_t>(record.strides.size())};
    tables.integers.insert(tables.integers.end(), record.strides.begin(), record.strides.end());
    row.storageOffset = record.storageOffset;
    row.payload = {record.payload.state, record.payload.contiguous, entry, record.payload.offset,
                   record.payload.bytes};
    return true;
}

} // namespace

Status TraceBuilder::add(FrameRecord record)
{
    if (!m_frames.insert(record.id, static_cast<std::uint32_t>(m_tables.frames.size())))
        return duplicate("frame", record.id);
    FrameRow row;
    row.file = text(record.file);
    row.function = text(record.function);
    row.text = textOrNone(record.text);
    row.line = LineNumber::fromOneBased(record.line);
    row.origin = record.origin;
    m_tables.frames.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(StackRecord record)
{
    if (!m_stacks.insert(record.id, static_cast<std::uint32_t>(m_tables.stacks.size())))
        return duplicate("stack", record.id);
    StackRow row;
    row.frames = {static_cast<std::uint32_t>(m_tables.frameIds.size()),
                  static_cast<std::uint32_t>(record.frames.size())};
    for (const RecordId id : record.frames)
        m_tables.frameIds.emplace_back(id);
    m_tables.stacks.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(SourceRecord record)
{
    m_tables.sources.push_back({text(record.file), textOrNone(record.entry), textOrNone(record.hash)});
    return Status::ok();
}

Status TraceBuilder::add(ModuleRecord record)
{
    if (!m_modules.insert(record.id, static_cast<std::uint32_t>(m_tables.modules.size())))
        return duplicate("module", record.id);
    ModuleRow row;
    row.address = text(record.address);
    row.className = text(record.className);
    row.attributesJson = json(record.attributes);
    row.parent = ModuleId(record.parent);
    row.aliases = addStrings(record.aliases);
    row.training = record.training ? (*record.training ? 1 : 0) : -1;
    m_tables.modules.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(ModuleCallRecord record)
{
    const auto index = static_cast<std::uint32_t>(m_tables.moduleCalls.size());
    if (!m_moduleCalls.insert(record.id, index)) {
        // The record that completes a call.
        ModuleCallRow &known = m_tables.moduleCalls[m_moduleCalls.find(record.id)];
        if (known.outputs.count != 0 || known.durationNs != kUnknown)
            return duplicate("module call", record.id);
        known.outputs = addIds(m_tables.tensorIds, record.outputs);
        known.durationNs = record.durationNs;
        return Status::ok();
    }
    ModuleCallRow row;
    row.module = ModuleId(record.module);
    row.index = record.index;
    row.parent = ModuleCallId(record.parent);
    row.stack = StackId(record.stack);
    row.method = textOrNone(record.method);
    row.inputs = addIds(m_tables.tensorIds, record.inputs);
    row.outputs = addIds(m_tables.tensorIds, record.outputs);
    row.durationNs = record.durationNs;
    m_tables.moduleCalls.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(TensorRecord record)
{
    if (!m_tensors.insert(record.id, static_cast<std::uint32_t>(m_tables.tensors.size())))
        return completeTensor(m_tables, m_tensors.find(record.id), record, textOrNone(record.payload.entry))
                   ? Status::ok()
                   : duplicate("tensor", record.id);
    TensorRow row;
    row.role = record.role;
    row.dtype = record.dtype;
    row.shapeKnown = record.shapeKnown;
    row.requiresGrad = record.requiresGrad;
    if (record.storage != kNoRecord) {
        std::uint32_t storage = m_storages.find(record.storage);
        if (storage == kNoRecord) {
            storage = m_storageCount++;
            m_storages.insert(record.storage, storage);
        }
        row.storage = StorageId(storage);
    }
    row.device = text(record.device);
    row.address = textOrNone(record.address);
    auto &integers = m_tables.integers;
    row.shape = {static_cast<std::uint32_t>(integers.size()),
                 static_cast<std::uint32_t>(record.shape.size())};
    integers.insert(integers.end(), record.shape.begin(), record.shape.end());
    row.strides = {static_cast<std::uint32_t>(integers.size()),
                   static_cast<std::uint32_t>(record.strides.size())};
    integers.insert(integers.end(), record.strides.begin(), record.strides.end());
    row.sample = {static_cast<std::uint32_t>(m_tables.doubles.size()),
                  static_cast<std::uint32_t>(record.sample.size())};
    m_tables.doubles.insert(m_tables.doubles.end(), record.sample.begin(), record.sample.end());
    row.storageOffset = record.storageOffset;
    row.call = CallId(record.call);
    row.slot = record.slot;
    if (record.stats) {
        row.stats = static_cast<std::uint32_t>(m_tables.stats.size());
        m_tables.stats.push_back(*record.stats);
    }
    row.payload = {record.payload.state, record.payload.contiguous, textOrNone(record.payload.entry),
                   record.payload.offset, record.payload.bytes};
    row.gradNode = GradNodeId(record.gradNode);
    row.gradNodeOutput = record.gradNodeOutput;
    row.operandsAtFirst = json(operandsValue(record.operandsAtFirst));
    row.operandsAtFirstNan = json(operandsValue(record.operandsAtFirstNan));
    m_tables.tensors.push_back(row);
    return Status::ok();
}

void TraceBuilder::addRows(const CallRecord &record, CallId call)
{
    const auto begin = static_cast<std::uint32_t>(m_tables.ops.size());
    for (std::uint32_t slot = 0; slot < record.outputs.size(); ++slot) {
        if (record.outputs[slot] == kNoRecord && slot >= record.imported.size())
            continue;
        OpRow row;
        row.kind = record.kind;
        row.call = call;
        row.slot = slot;
        row.tensor = TensorId(record.outputs[slot]);
        if (record.flopsForward)
            row.flopsForward = *record.flopsForward;
        if (slot < record.imported.size())
            m_imported.push_back({record.imported[slot], static_cast<std::uint32_t>(m_tables.ops.size())});
        m_tables.ops.push_back(row);
    }
    if (m_tables.ops.size() == begin) {
        OpRow row;
        row.kind = record.kind;
        row.call = call;
        if (!record.imported.empty())
            m_imported.push_back({record.imported.front(), begin});
        m_tables.ops.push_back(row);
    }
    m_tables.calls.back().rows = {begin, static_cast<std::uint32_t>(m_tables.ops.size()) - begin};
}

Status TraceBuilder::add(CallRecord record)
{
    const auto index = static_cast<std::uint32_t>(m_tables.calls.size());
    if (!m_calls.insert(record.id, index))
        return duplicate("op", record.id);
    CallRow row;
    row.kind = record.kind;
    row.inPlace = record.inPlace;
    row.view = record.view;
    row.consumesRng = record.consumesRng;
    row.uninitialised = record.uninitialised;
    row.gradEnabled = record.gradEnabled;
    row.finished = record.finished;
    row.op = text(record.op);
    row.func = text(record.func);
    row.autocast = textOrNone(record.autocast);
    row.controlFlow = textOrNone(record.controlFlow);
    row.nodeName = textOrNone(record.nodeName);
    row.address = textOrNone(record.address);
    row.valueJson = record.value ? text(toJson(*record.value)) : StringId();
    row.moduleCall = ModuleCallId(record.moduleCall);
    row.stack = StackId(record.stack);
    row.arguments = {static_cast<std::uint32_t>(m_tables.arguments.size()),
                     static_cast<std::uint32_t>(record.arguments.size())};
    for (const ArgumentRecord &argument : record.arguments) {
        ArgumentRow out;
        out.name = text(argument.name);
        out.isTensorList = argument.isTensorList;
        out.isWritten = argument.isWritten;
        out.tensors = addIds(m_tables.tensorIds, argument.tensors);
        if (argument.tensors.empty() && !argument.isTensorList)
            out.valueJson = text(toJson(argument.value));
        m_tables.arguments.push_back(out);
    }
    row.valueParents = {static_cast<std::uint32_t>(m_tables.callIds.size()),
                        static_cast<std::uint32_t>(record.valueParents.size())};
    for (const RecordId id : record.valueParents)
        m_tables.callIds.emplace_back(id);
    row.gradNodes = {static_cast<std::uint32_t>(m_tables.gradNodeIds.size()),
                     static_cast<std::uint32_t>(record.gradNodes.size())};
    for (const RecordId id : record.gradNodes)
        m_tables.gradNodeIds.emplace_back(id);
    row.startNs = record.startNs;
    row.durationNs = record.durationNs;
    row.thread = record.thread;
    m_tables.calls.push_back(row);
    m_parents.push_back(std::move(record.parents));
    addRows(record, CallId(index));
    return Status::ok();
}

Status TraceBuilder::add(ParamRecord record)
{
    ParamRow row;
    row.isBuffer = record.isBuffer;
    row.trainable = record.trainable;
    row.address = text(record.address);
    row.aliases = addStrings(record.aliases);
    row.tensor = TensorId(record.tensor);
    row.attributesJson = json(record.attributes);
    m_tables.params.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(GradNodeRecord record)
{
    if (!m_gradNodes.insert(record.id, static_cast<std::uint32_t>(m_tables.gradNodes.size())))
        return duplicate("grad node", record.id);
    GradNodeRow row;
    row.className = text(record.className);
    row.label = textOrNone(record.label);
    row.opLabel = textOrNone(record.opLabel);
    row.parameter = textOrNone(record.parameter);
    row.module = textOrNone(record.module);
    row.attributesJson = json(record.attributes);
    row.sequence = record.sequence;
    row.call = CallId(record.call);
    row.next = {static_cast<std::uint32_t>(m_tables.gradEdges.size()),
                static_cast<std::uint32_t>(record.next.size())};
    for (const GradEdge &edge : record.next)
        m_tables.gradEdges.push_back({GradNodeId(edge.node), edge.input});
    m_tables.gradNodes.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(GradFireRecord record)
{
    GradFireRow row;
    row.backward = BackwardId(record.backward);
    row.order = record.order;
    row.node = GradNodeId(record.node);
    row.arriving = addIds(m_tables.tensorIds, record.arriving);
    row.emitted = addIds(m_tables.tensorIds, record.emitted);
    row.payloadsRecorded = record.payloadsRecorded;
    row.startNs = record.startNs;
    row.durationNs = record.durationNs;
    m_tables.gradFires.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(GradientRecord record)
{
    m_tables.gradients.push_back({TensorId(record.tensor), BackwardId(record.backward),
                                  TensorId(record.gradient), textOrNone(record.note)});
    return Status::ok();
}

Status TraceBuilder::add(BackwardRecord record)
{
    if (!m_backwards.insert(record.id, static_cast<std::uint32_t>(m_tables.backwards.size())))
        return duplicate("backward", record.id);
    BackwardRow row;
    row.index = record.index;
    row.loss = TensorId(record.loss);
    row.lossRule = textOrNone(record.lossRule);
    row.savePolicy = textOrNone(record.savePolicy);
    row.status = text(record.status);
    row.message = textOrNone(record.message);
    row.attributesJson = json(record.attributes);
    row.roots = {static_cast<std::uint32_t>(m_tables.gradNodeIds.size()),
                 static_cast<std::uint32_t>(record.roots.size())};
    for (const RecordId id : record.roots)
        m_tables.gradNodeIds.emplace_back(id);
    row.hasLossScale = record.lossScale.has_value();
    row.lossScale = record.lossScale.value_or(0.0);
    row.durationNs = record.durationNs;
    m_tables.backwards.push_back(row);
    return Status::ok();
}

Status TraceBuilder::add(DiagnosticRecord record)
{
    m_tables.diagnostics.push_back({text(record.token), text(record.message), CallId(record.call)});
    return Status::ok();
}

Status TraceBuilder::add(NoteRecord record)
{
    m_tables.notes.push_back({text(record.kind), text(record.target), text(record.text)});
    return Status::ok();
}

Result<TraceTables> TraceBuilder::finishTables(const JobContext &job)
{
    if (Status status = derive(job); !status)
        return status;
    return std::move(m_tables);
}

Result<std::shared_ptr<const Trace>> TraceBuilder::finish(std::shared_ptr<const TensorStore> store,
                                                          const JobContext &job)
{
    if (Status status = derive(job); !status)
        return status;
    return std::shared_ptr<const Trace>(
        std::make_shared<Trace>(std::move(m_tables), std::move(store), std::move(m_report)));
}

} // namespace core
