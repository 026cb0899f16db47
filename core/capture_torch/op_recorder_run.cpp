// SPDX-License-Identifier: GPL-3.0-or-later
// The driver's side of OpRecorder: names, modules, nodes, regions, outputs. The dispatcher's is
// op_recorder.cpp.
#include "core/capture_torch/op_recorder.h"

#include "core/analysis/mask_fill.h"
#include "core/capture_torch/grad_listener.h"
#include "core/capture_torch/quiet_scope.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace core {

namespace {

// "aten.sym_size.int" -> "sym_size", "_operator.mul" -> "mul"
std::string functionOf(const std::string &target)
{
    const std::size_t dot = target.find('.');
    if (dot == std::string::npos)
        return target;
    const std::size_t second = target.find('.', dot + 1);
    return target.substr(dot + 1, second == std::string::npos ? second : second - dot - 1);
}

bool isLoop(const std::string &kind)
{
    return kind == "while_loop" || kind == "scan" || kind == "map" || kind == "loop";
}

Value numberValue(const RunNumber &number)
{
    return std::visit([](auto value) { return Value(value); }, number);
}

} // namespace

OpRecorder::OpRecorder(TraceSink &sink, RecorderOptions options)
    : m_options(std::move(options)), m_out(sink), m_saver(sink, m_tracker, m_options.save.maxBytesPerTensor),
      m_context(m_out), m_begin(Clock::now()), m_lastProgress(m_begin)
{
    if (m_options.tripwire)
        m_tripwire.emplace(m_saver, m_out);
}

void OpRecorder::begin()
{
    m_begun = true;
    m_begin = now();
    m_lastProgress = m_begin;
}

std::int64_t OpRecorder::sinceBegin() const
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now() - m_begin).count();
}

void OpRecorder::moduleDeclared(const ModuleInfo &module)
{
    m_context.declare(module);
}

void OpRecorder::namedTensor(TensorRole role, const std::vector<std::string> &names, const at::Tensor &tensor)
{
    if (!tensor.defined() || names.empty())
        return;
    const QuietScope quiet;
    const bool input = role == TensorRole::input;
    TensorRecord record =
        input ? rowSnapshot(tensor, role, savesEverything()) : snapshot(tensor, role, savesEverything());
    record.address = names.front();
    const RecordId id = record.id;
    CallRecord call;
    if (input) {
        call.kind = CallKind::input;
        startCall(call);
        call.op = "none";
        call.func = "none";
        call.address = names.front();
        call.durationNs = 0;
        call.outputs.push_back(id);
        record.call = call.id;
    }
    KnownTensor &known = m_tracker.made(tensor, id, input);
    known.named = static_cast<std::int32_t>(m_named.size());
    m_named.push_back({role, names.front(), tensor, false, id});
    if (role == TensorRole::buffer && hasBytes(tensor))
        m_buffersByStorage[tensor.storage().unsafeGetStorageImpl()].push_back(m_named.size() - 1);
    addTensor(std::move(record));
    if (input)
        m_out.add(std::move(call));
    if (role != TensorRole::parameter && role != TensorRole::buffer)
        return;
    ParamRecord param;
    param.id = static_cast<RecordId>(m_named.size() - 1);
    param.isBuffer = role == TensorRole::buffer;
    param.address = names.front();
    param.aliases.assign(names.begin() + 1, names.end());
    param.tensor = id;
    param.trainable = !param.isBuffer && tensor.requires_grad();
    m_out.add(std::move(param));
}

std::string OpRecorder::nameOf(const at::Tensor &tensor)
{
    const KnownTensor *known = m_tracker.find(tensor);
    return known == nullptr || known->named < 0 ? std::string()
                                                : m_named[static_cast<std::size_t>(known->named)].address;
}

RecordId OpRecorder::firstRecordOf(const at::Tensor &tensor)
{
    const KnownTensor *known = m_tracker.find(tensor);
    return known == nullptr || known->named < 0 ? kNoRecord
                                                : m_named[static_cast<std::size_t>(known->named)].record;
}

void OpRecorder::moduleCallStarted(const ModuleCallInfo &call)
{
    flushDeferred();
    beginOnce();
    ModuleState state;
    state.parent = call.parent.value_or(kNoRecord);
    const auto &patterns = m_options.save.modules;
    state.wanted = (call.parent && m_moduleCalls[*call.parent].wanted) ||
                   std::any_of(patterns.begin(), patterns.end(), [&](const std::string &pattern) {
                       return ::fnmatch(pattern.c_str(), call.path.c_str(), 0) == 0;
                   });
    state.started = now();
    state.lastOp = state.started;
    if (m_moduleCalls.size() <= call.id)
        m_moduleCalls.resize(call.id + 1, ModuleState{kNoRecord, false, state.started, state.started, true});
    m_moduleCalls[call.id] = state;
    ModuleCallRecord record;
    record.id = call.id;
    record.module = m_context.module(call.path, call.type);
    record.index = call.number;
    record.parent = state.parent;
    record.method = call.method;
    record.stack = m_stack;
    m_out.add(std::move(record));
}

void OpRecorder::moduleCallEnded(const ModuleCallInfo &call, const std::vector<c10::IValue> &outputs)
{
    flushDeferred();
    if (call.id >= m_moduleCalls.size() || m_moduleCalls[call.id].ended)
        return;
    ModuleState &state = m_moduleCalls[call.id];
    state.ended = true;
    ModuleCallRecord record;
    record.id = call.id;
    for (const c10::IValue &value : outputs)
        forEachTensor(value, [&](const at::Tensor &tensor) {
            if (const KnownTensor *known = tensor.defined() ? m_tracker.find(tensor) : nullptr;
                known != nullptr)
                record.outputs.push_back(known->record);
        });
    record.durationNs = std::chrono::duration_cast<std::chrono::nanoseconds>(now() - state.started).count();
    m_out.add(std::move(record));
}

void OpRecorder::nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall)
{
    flushDeferred();
    beginOnce();
    m_node = &node;
    m_moduleCall = moduleCall.value_or(kNoRecord);
    m_stack = m_context.stackOf(node);
}

void OpRecorder::nodeEnds(const NodeInfo &)
{
    flushDeferred();
    m_node = nullptr;
}

void OpRecorder::startCall(CallRecord &record)
{
    record.id = m_nextCall++;
    record.moduleCall = m_moduleCall;
    record.controlFlow = m_controlFlow;
    if (record.kind == CallKind::input || record.kind == CallKind::output)
        return;
    record.stack = m_stack;
    if (m_node != nullptr && record.kind == CallKind::compute)
        record.nodeName = m_node->name;
}

void OpRecorder::numberComputed(const NodeInfo &node, const RunNumber &value,
                                const std::vector<std::uint32_t> &sources)
{
    flushDeferred();
    CallRecord record;
    startCall(record);
    record.op = node.target;
    record.func = functionOf(node.target);
    record.value = numberValue(value);
    record.startNs = sinceBegin();
    record.durationNs = 0;
    for (const std::uint32_t source : sources)
        if (const auto call = m_callOfNode.find(source); call != m_callOfNode.end())
            record.valueParents.push_back(call->second);
    m_callOfNode[node.id] = record.id;
    ++m_summary.calls;
    m_out.add(std::move(record));
}

void OpRecorder::regionEntered(const RegionInfo &region)
{
    flushDeferred();
    std::string segment;
    if (region.kind == "cond" || isLoop(region.kind) || region.kind == "if") {
        segment = region.node == nullptr ? region.kind : region.node->name;
        segment += '/' + region.part;
        if (isLoop(region.kind))
            segment += '[' + std::to_string(region.iteration) + ']';
    }
    m_regions.push_back(m_controlFlow);
    if (!segment.empty())
        m_controlFlow += (m_controlFlow.empty() ? "" : "/") + segment;
}

void OpRecorder::regionLeft(const RegionInfo &)
{
    flushDeferred();
    if (m_regions.empty())
        return;
    m_controlFlow = std::move(m_regions.back());
    m_regions.pop_back();
}

void OpRecorder::internalOpsBegin(const NodeInfo *)
{
    flushDeferred();
    ++m_internal;
}

void OpRecorder::internalOpsEnd()
{
    --m_internal;
}

void OpRecorder::graphOutput(const std::string &path, const c10::IValue &value)
{
    flushDeferred();
    if (m_summary.durationNs < 0)
        m_summary.durationNs = sinceBegin();
    if (m_summary.tripped)
        return; // it was to stop before, at an input or a last filled constant
    const QuietScope quiet;
    m_node = nullptr;
    m_moduleCall = kNoRecord;
    CallRecord call;
    call.kind = CallKind::output;
    startCall(call);
    call.op = "none";
    call.func = "none";
    call.address = path;
    call.durationNs = 0;
    if (value.isTensor() && value.toTensor().defined()) {
        const at::Tensor &tensor = value.toTensor();
        std::uint64_t latest = 0;
        m_tracker.parents(tensor, call.parents, latest);
        TensorRecord record = snapshot(tensor, TensorRole::output, savesEverything());
        m_saver.sample(tensor, record);
        record.address = path;
        record.call = call.id;
        call.outputs.push_back(record.id);
        if (m_gradListener != nullptr && tensor.requires_grad())
            m_gradListener->outputMade(tensor, kNoRecord, record, call.gradNodes);
        addTensor(std::move(record));
    } else {
        call.value = ivalueToValue(value);
    }
    m_out.add(std::move(call));
}

TensorRecord OpRecorder::rowSnapshot(const at::Tensor &tensor, TensorRole role, bool wanted)
{
    if (!m_tripwire)
        return snapshot(tensor, role, wanted);
    TensorRecord record;
    record.id = nextTensor();
    record.role = role;
    m_saver.describe(tensor, record);
    const bool made = role == TensorRole::output && m_pending.facts != nullptr;
    bool trips = false;
    const bool first = made && m_pending.record.outputs.empty();
    const FiniteWatch::Forecast forecast = made ? m_pending.forecast : FiniteWatch::Forecast();
    if (!(made && m_pending.isFinite) && m_tripwire->look(tensor, record, forecast, first)) {
        const bool design = m_options.pastMasks && isByDesign(record);
        m_flags = design ? RecordedBadness::byDesign : 0;
        m_pending.madeMask = m_pending.madeMask || (made && design && !cameInBad());
        trips = !design;
    }
    if (trips)
        m_tripwire->trip(tensor, record);
    else
        m_out.note(m_saver.save(tensor, false, record));
    m_summary.tripped = m_tripwire->tripped();
    m_tripwire->hold(tensor, record, made ? std::optional(m_pending.record.outputs.size()) : std::nullopt);
    return record;
}

void OpRecorder::takeBadness(std::uint8_t badness)
{
    m_pending.inputBadness |= badness;
    const bool bad = (badness & (RecordedBadness::infinite | RecordedBadness::nan)) != 0;
    m_pending.faultCameIn = m_pending.faultCameIn || (bad && (badness & RecordedBadness::byDesign) == 0);
}

// A tripwire has its statistics already: it held NaN or Inf when it was made.
bool OpRecorder::isMeasured(RecordId id) const
{
    return (m_badness[id] & (RecordedBadness::infinite | RecordedBadness::nan)) != 0;
}

bool OpRecorder::cameInBad() const
{
    return (m_pending.inputBadness & (RecordedBadness::infinite | RecordedBadness::nan)) != 0;
}

// State and memory that no row shows. Of a mask that is a constant a tripwire that looks past masks must
// know.
void OpRecorder::lookAtState(const at::Tensor &tensor, TensorRecord &record)
{
    if (m_options.pastMasks && record.role == TensorRole::constant && m_tripwire->look(tensor, record) &&
        isByDesign(record))
        m_flags = RecordedBadness::byDesign;
}

// By the rule of the reports (nonfinite_scan.cpp), while the model runs.
bool OpRecorder::isByDesign(const TensorRecord &record) const
{
    if (!record.stats || record.stats->nan > 0)
        return false;
    if (record.role == TensorRole::buffer && m_bufferMaker != kNoRecord && !isWrittenByDesign())
        return false;
    const bool made = record.role == TensorRole::output && m_pending.facts != nullptr;
    if (made && cameInBad())
        return !m_pending.faultCameIn;
    if (record.stats->posInf > 0 || !isFloating(record.dtype))
        return false;
    const auto holdsNegativeInfinity = [](const ArgumentRecord &argument) {
        return toJson(argument.value).find("-Infinity") != std::string::npos;
    };
    const std::vector<ArgumentRecord> &arguments = m_pending.record.arguments;
    return !made || (fillsConstants(m_pending.facts->func) &&
                     std::any_of(arguments.begin(), arguments.end(), holdsNegativeInfinity));
}

// Whether what a call wrote into a buffer can be there by design: as its result is, or, where it says nothing
// of the buffer, as what went in.
bool OpRecorder::isWrittenByDesign() const
{
    constexpr std::uint8_t bad = RecordedBadness::infinite | RecordedBadness::nan;
    if ((m_badness[m_bufferMaker] & bad) != 0)
        return (m_badness[m_bufferMaker] & RecordedBadness::byDesign) != 0;
    const bool hidden = m_pending.facts != nullptr && !m_pending.facts->hiddenWrites.empty();
    return !hidden || (cameInBad() && !m_pending.faultCameIn);
}

// Whether the pending call left NaN or Inf in what it wrote without saying so. The row that shows it comes
// behind the call's own record.
bool OpRecorder::wroteBad()
{
    return std::any_of(m_pending.writes.begin(), m_pending.writes.end(), [&](const Write &write) {
        return write.hidden && !m_tripwire->watch().isFinite(write.tensor);
    });
}

// Whether the pending call would give the same once more on RECIPE's operands.
bool OpRecorder::canRunAgain(const Tripwire::Recipe &recipe, const std::vector<c10::IValue> &stack) const
{
    const OpFacts &facts = *m_pending.facts;
    const CallRecord &record = m_pending.record;
    const std::span results = std::span(stack).last(facts.returns);
    if (record.consumesRng || !record.autocast.empty() || facts.metadataOnly)
        return false;
    if (m_pending.writes.empty())
        return core::canRunAgain(facts, results);
    return recipe.written && m_pending.writes.size() == 1 && !m_pending.writes[0].hidden &&
           results.size() == 1 && results[0].isTensor() &&
           results[0].toTensor().is_same(m_pending.writes[0].tensor);
}

// How to make what the pending call gave again; its inputs are still to be put in. Behind the op, before its
// record goes.
Tripwire::Recipe OpRecorder::recipe(const c10::OperatorHandle &op, const std::vector<c10::IValue> &stack)
{
    Tripwire::Recipe recipe;
    for (std::size_t i = 0; i < m_pending.inputs.size(); ++i) {
        const ArgumentRecord &argument = m_pending.record.arguments[i];
        std::size_t item = 0;
        const auto take = [&](const at::Tensor &tensor) {
            const RecordId id = item < argument.tensors.size() ? argument.tensors[item] : kNoRecord;
            const std::size_t at = item++;
            if (id == kNoRecord)
                return;
            if (std::optional<Tripwire::Remade> made = m_tripwire->remade(id); made) {
                recipe.operands.push_back({i, at, std::move(*made)});
                if (argument.isWritten)
                    recipe.written = i;
            } else if (m_callOf[id] != kNoRecord && hasBytes(tensor)) {
                recipe.bytes += tensor.nbytes();
            }
        };
        forEachTensor(m_pending.inputs[i], take);
    }
    if (canRunAgain(recipe, stack))
        recipe.op = op;
    return recipe;
}

void OpRecorder::stopWhenTripped()
{
    if (!m_summary.tripped)
        return;
    m_pending = Pending();
    throw StopRun();
}

// The inputs of the op that made the first bad value, or of one that filled a mask. An input that the op
// itself overwrote is kept where it was copied before.
void OpRecorder::keepHit(bool withValues)
{
    for (std::size_t i = 0; i < m_pending.inputs.size(); ++i) {
        const std::vector<RecordId> &ids = m_pending.record.arguments[i].tensors;
        const bool among = std::any_of(m_pending.writes.begin(), m_pending.writes.end(),
                                       [i](const Write &write) { return write.argument == i; });
        const bool written = (among && !m_pending.facts->metadataOnly) || m_pending.before[i].defined();
        std::size_t at = 0;
        if (written && m_pending.before[i].defined() && ids.size() == 1 && !isMeasured(ids.front()))
            m_tripwire->keep(m_pending.before[i], ids.front(), withValues);
        if (written || ids.empty())
            continue;
        const c10::IValue &input = m_pending.inputs[i];
        if (input.isTensor() && !isMeasured(ids.front()))
            m_tripwire->keep(input.toTensor(), ids.front(), withValues);
        if (!input.isTensor())
            for (const c10::IValue &item : input.toListRef()) {
                if (item.isTensor() && item.toTensor().defined() && ids[at] != kNoRecord &&
                    !isMeasured(ids[at]))
                    m_tripwire->keep(item.toTensor(), ids[at], withValues);
                ++at;
            }
    }
}

void OpRecorder::reportProgress()
{
    const Clock::time_point now = Clock::now();
    const double elapsed = std::chrono::duration<double>(now - m_begin).count();
    if (m_options.timeLimitSeconds > 0.0 && elapsed > m_options.timeLimitSeconds) {
        m_summary.timedOut = true;
        throw StopRun();
    }
    if (!m_options.progress || now - m_lastProgress < std::chrono::milliseconds(100))
        return;
    m_lastProgress = now;
    m_options.progress({{}, m_summary.calls, m_out.sink().bytesWritten(), m_summary.firstBadOp});
}

void OpRecorder::finish()
{
    flushDeferred();
    if (m_summary.durationNs < 0)
        m_summary.durationNs = sinceBegin();
    if (m_summary.runningStack == kNoRecord)
        m_summary.runningStack = m_stack;
    if (m_tripwire) {
        const QuietScope quiet;
        m_tripwire->finish();
    }
    // Children have higher ids than the call they are in.
    for (std::size_t id = m_moduleCalls.size(); id-- > 0;)
        if (const std::uint32_t parent = m_moduleCalls[id].parent; parent != kNoRecord)
            m_moduleCalls[parent].lastOp = std::max(m_moduleCalls[parent].lastOp, m_moduleCalls[id].lastOp);
    for (std::size_t id = 0; id < m_moduleCalls.size(); ++id) {
        ModuleState &state = m_moduleCalls[id];
        if (state.ended)
            continue;
        ModuleCallRecord record;
        record.id = static_cast<RecordId>(id);
        record.durationNs =
            std::chrono::duration_cast<std::chrono::nanoseconds>(state.lastOp - state.started).count();
        m_out.add(std::move(record));
    }
    m_context.writeSources();
}

} // namespace core
