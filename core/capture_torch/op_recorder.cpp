// SPDX-License-Identifier: GPL-3.0-or-later
// The dispatcher's side of OpRecorder: what happens around each op. The driver's side is op_recorder_run.cpp.
#include "core/capture_torch/op_recorder.h"

#include "core/base/element_codec.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/grad_listener.h"
#include "core/capture_torch/quiet_scope.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/core/stack.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

namespace core {

namespace {

constexpr std::uint8_t kInfinite = RecordedBadness::infinite;
constexpr std::uint8_t kNaN = RecordedBadness::nan;
// Larger tensors are not copied before an op overwrites them; their operands then read as null.
constexpr std::size_t kBeforeBytes = std::size_t(1) << 20;

std::uint8_t badnessOf(const TensorRecord &record)
{
    if (!record.stats)
        return 0;
    const bool infinite = record.stats->posInf + record.stats->negInf > 0;
    return static_cast<std::uint8_t>((infinite ? kInfinite : 0) | (record.stats->nan > 0 ? kNaN : 0));
}

// Whether OP, about to run, writes TENSOR, which is its first argument.
bool writesItsFirst(const c10::OperatorHandle &op, const std::vector<c10::IValue> &stack,
                    const at::Tensor &tensor)
{
    const auto &arguments = op.schema().arguments();
    if (arguments.empty() || arguments[0].alias_info() == nullptr || !arguments[0].alias_info()->isWrite())
        return false;
    const c10::IValue &first = stack[stack.size() - arguments.size()];
    return first.isTensor() && first.toTensor().is_same(tensor);
}

} // namespace

const OpFacts &OpRecorder::factsOf(const c10::OperatorHandle &op)
{
    const auto known = m_facts.find(&op.schema());
    return known != m_facts.end() ? known->second
                                  : m_facts.emplace(&op.schema(), readOpFacts(op)).first->second;
}

bool OpRecorder::wantsPayload(const OpFacts &facts) const
{
    const SavePolicy &save = m_options.save;
    if (save.mode != SavePolicy::Mode::chosen)
        return save.mode == SavePolicy::Mode::all;
    const bool named = std::any_of(save.ops.begin(), save.ops.end(), [&](const std::string &name) {
        return name == facts.func || name == facts.name;
    });
    return named || (m_moduleCall != kNoRecord && m_moduleCalls[m_moduleCall].wanted);
}

void OpRecorder::addTensor(TensorRecord record)
{
    m_badness.push_back(static_cast<std::uint8_t>(badnessOf(record) | std::exchange(m_flags, {})));
    m_callOf.push_back(record.call);
    ++m_summary.tensors;
    m_out.add(std::move(record));
}

// A record of memory that nobody has written yet.
TensorRecord OpRecorder::unwritten(const at::Tensor &tensor)
{
    TensorRecord record;
    record.id = nextTensor();
    m_saver.describe(tensor, record);
    record.payload.state = PayloadState::uninitialised;
    return record;
}

TensorRecord OpRecorder::snapshot(const at::Tensor &tensor, TensorRole role, bool wanted)
{
    TensorRecord record;
    record.id = nextTensor();
    record.role = role;
    m_saver.describe(tensor, record);
    if (m_tripwire)
        lookAtState(tensor, record);
    else
        m_saver.measure(tensor, record);
    m_out.note(m_saver.save(tensor, wanted && !m_tripwire, record));
    return record;
}

// A model file may ask for a device that is not here: constants in TorchScript code.
void OpRecorder::mapDevices(std::vector<c10::IValue> &stack, std::size_t count)
{
    for (std::size_t i = stack.size() - count; i < stack.size(); ++i)
        if (stack[i].isDevice() && !stack[i].toDevice().is_cpu() && !stack[i].toDevice().is_meta()) {
            if (m_summary.mappedDevices.insert(stack[i].toDevice().str()).second)
                m_out.add(DiagnosticRecord{
                    "device_mapped", stack[i].toDevice().str() + " is not here: cpu instead", kNoRecord});
            stack[i] = c10::Device(c10::kCPU);
        }
}

void OpRecorder::opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack, const OpMode &mode)
{
    if (m_deferred && writesItsFirst(op, stack, m_deferred->second))
        m_deferred->first.uninitialised = true; // torch.tensor(1.0) leaves the filling to this op
    flushDeferred();
    if (mustStop())
        throw StopRun();
    stopWhenTripped(); // an input, or memory that was filled behind the dispatcher
    const OpFacts &facts = factsOf(op);
    mapDevices(stack, facts.arguments.size());
    m_pending = Pending();
    if (m_tripwire)
        m_pending.forecast =
            m_tripwire->watch().forecast(facts, std::span(stack).last(facts.arguments.size()));
    prepare(op, stack, mode);
    if (isInternal())
        return;
    const CallRecord &record = m_pending.record;
    m_out.sink().markRunning(record.op, record.id, m_stack);
    if (m_options.dieAtCall && *m_options.dieAtCall == record.id)
        std::raise(SIGKILL);
    m_pending.rngBefore = facts.mayDraw ? generatorState() : 0;
    m_pending.start = Clock::now();
}

// What is to be known of a call before it runs.
void OpRecorder::prepare(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack, const OpMode &mode)
{
    const OpFacts &facts = factsOf(op);
    m_pending.facts = &facts;
    m_pending.active = true;
    m_tracker.advance();
    takeArguments(stack);
    collectWrites(stack);
    if (isInternal())
        return;
    stopWhenTripped(); // a buffer that this op reads
    CallRecord &record = m_pending.record;
    record.kind = CallKind::compute;
    startCall(record);
    record.op = facts.name;
    record.func = facts.func;
    record.gradEnabled = mode.gradEnabled;
    record.autocast = mode.autocast;
    record.inPlace = facts.writes && !facts.metadataOnly;
    record.view = facts.view;
    record.uninitialised = facts.uninitialised;
    if (m_node != nullptr)
        for (const std::uint32_t source : m_node->numberSources)
            if (const auto call = m_callOfNode.find(source); call != m_callOfNode.end())
                record.valueParents.push_back(call->second);
}

void OpRecorder::takeArguments(std::vector<c10::IValue> &stack)
{
    const std::size_t count = m_pending.facts->arguments.size();
    const std::size_t first = stack.size() - count;
    m_pending.record.arguments.reserve(count);
    m_pending.inputs.reserve(count);
    m_pending.before.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        takeArgument(stack[first + i], i);
    // Filling in -Inf is a birth too.
    for (std::size_t i = 0; m_pending.fillsBad && i < count; ++i)
        if (m_pending.facts->arguments[i].written && !m_pending.before[i].defined() &&
            stack[first + i].isTensor())
            keepBefore(stack[first + i].toTensor(), i);
}

void OpRecorder::takeArgument(const c10::IValue &value, std::size_t index)
{
    const ArgumentFacts &facts = m_pending.facts->arguments[index];
    ArgumentRecord argument;
    argument.name = facts.name;
    argument.isWritten = facts.written;
    const bool list =
        value.isList() &&
        (value.isTensorList() || std::any_of(value.toListRef().begin(), value.toListRef().end(),
                                             [](const c10::IValue &item) { return item.isTensor(); }));
    const bool number = value.isTensor() && value.toTensor().defined() &&
                        value.toTensor().unsafeGetTensorImpl()->is_wrapped_number();
    if (number) {
        // A Python number where the op takes a tensor: it is shown, and replayed, as the number.
        const at::Tensor &element = value.toTensor();
        const std::optional<std::int64_t> whole =
            hasBytes(element) ? elementAsInteger(fromScalarType(element.scalar_type()),
                                                 static_cast<const std::byte *>(element.const_data_ptr()), 0)
                              : std::nullopt;
        if (element.scalar_type() == c10::ScalarType::Bool)
            argument.value = whole == 1;
        else
            argument.value = whole ? Value(*whole) : elementBroadcast(element, {}, 0);
    } else if (value.isTensor()) {
        if (value.toTensor().defined())
            argument.tensors.push_back(argumentVersion(value.toTensor(), facts.written));
    } else if (list) {
        argument.isTensorList = true;
        for (const c10::IValue &item : value.toListRef())
            argument.tensors.push_back(item.isTensor() && item.toTensor().defined()
                                           ? argumentVersion(item.toTensor(), facts.written)
                                           : kNoRecord);
    } else {
        argument.value = ivalueToValue(value, facts.code);
    }
    for (const RecordId tensor : argument.tensors)
        if (tensor != kNoRecord)
            takeBadness(m_badness[tensor]);
    m_pending.fillsBad =
        m_pending.fillsBad || (argument.value.isNumber() && !std::isfinite(argument.value.toDouble()));
    if (facts.written && m_pending.facts->keepsBefore && value.isTensor() &&
        !m_pending.forecast.isBoundedIn(fromScalarType(value.toTensor().scalar_type())))
        keepBefore(value.toTensor(), index);
    m_pending.inputs.push_back(value);
    m_pending.record.arguments.push_back(std::move(argument));
}

void OpRecorder::keepBefore(const at::Tensor &tensor, std::size_t index)
{
    if (hasBytes(tensor) && at::isFloatingType(tensor.scalar_type()) && tensor.nbytes() <= kBeforeBytes)
        m_pending.before[index] = tensor.clone();
}

// The version that an argument is, its makers added to the call's parents. A tensor whose bytes changed since
// it was made (by a write through a view, or behind the dispatcher) gets a version of its own.
RecordId OpRecorder::argumentVersion(const at::Tensor &tensor, bool written)
{
    KnownTensor *known = m_tracker.find(tensor);
    if (known != nullptr && known->named >= 0) {
        Named &named = m_named[static_cast<std::size_t>(known->named)];
        if (named.role == TensorRole::buffer && !named.rowDone && !isInternal())
            bufferRow(named, "none", {});
    }
    std::vector<RecordId> makers; // also those that another argument has already
    std::uint64_t latest = 0;
    m_tracker.parents(tensor, makers, latest);
    std::vector<RecordId> &parents = m_pending.record.parents;
    for (const RecordId maker : makers)
        if (std::find(parents.begin(), parents.end(), maker) == parents.end())
            parents.push_back(maker);
    const StorageState *state = m_tracker.findStorage(tensor);
    const bool unknownMemory = state == nullptr || state->creator == kNoRecord;
    const bool readsBytes = written ? m_pending.facts->readsWhatItWrites : !m_pending.facts->view;
    const bool garbage = readsBytes && m_tracker.isUninitialised(tensor);
    if (known != nullptr && known->shown != kNoRecord && latest <= known->shownTime && !garbage)
        return known->shown;
    if (garbage)
        m_tracker.initialised(tensor); // what is read now is what counts
    const bool constant = known == nullptr && unknownMemory;
    TensorRecord record = m_tracker.isUninitialised(tensor)
                              ? unwritten(tensor)
                              : snapshot(tensor, constant ? TensorRole::constant : TensorRole::output,
                                         constant ? savesEverything() : wantsPayload(*m_pending.facts));
    if (!makers.empty())
        record.call = m_callOf[makers.front()];
    const RecordId id = record.id;
    addTensor(std::move(record));
    if (known == nullptr) {
        known = &m_tracker.made(tensor, id, false);
        known->ancestors = std::move(makers);
    }
    known->shown = id;
    known->shownTime = m_tracker.now();
    return id;
}

void OpRecorder::collectWrites(const std::vector<c10::IValue> &stack)
{
    const OpFacts &facts = *m_pending.facts;
    const std::size_t first = stack.size() - facts.arguments.size();
    const auto collect = [&](std::size_t index, bool hidden) {
        forEachTensor(stack[first + index], [&](const at::Tensor &tensor) {
            if (!tensor.defined())
                return;
            m_saver.settle(tensor);
            if (m_tripwire)
                m_tripwire->beforeWrite(tensor);
            if (hidden)
                keepBefore(tensor, index);
            m_pending.writes.push_back({tensor, hidden, index});
        });
    };
    if (facts.writes)
        for (std::size_t i = 0; i < facts.arguments.size(); ++i)
            if (facts.arguments[i].written)
                collect(i, false);
    const auto isSet = [](const c10::IValue &value) { return value.isBool() && value.toBool(); };
    if (!facts.hiddenFlag || isSet(stack[first + *facts.hiddenFlag]))
        for (const std::size_t index : facts.hiddenWrites)
            collect(index, true);
}

void OpRecorder::opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack)
{
    const Clock::time_point end = Clock::now();
    m_pending.active = false;
    if (!m_pending.facts->metadataOnly)
        for (const Write &write : m_pending.writes) {
            m_tracker.written(write.tensor, !m_pending.facts->writesPartly);
            if (m_tripwire)
                m_tripwire->watch().written(write.tensor);
        }
    if (isInternal()) {
        internalOpEnded(stack);
        return;
    }
    m_pending.record.consumesRng = m_pending.facts->mayDraw && generatorState() != m_pending.rngBefore;
    complete(op, stack, end);
    m_out.sink().markEnded();
    if (!m_deferred)
        reportProgress();
}

void OpRecorder::opRan(PastOp &op)
{
    m_pending = Pending();
    m_pending.forecast = op.forecast;
    prepare(*op.op, op.arguments, op.mode);
    m_pending.active = false;
    m_pending.isFinite = op.isFinite;
    m_pending.start = op.start;
    m_pending.record.consumesRng = op.drew;
    for (const Write &write : m_pending.writes)
        m_tracker.written(write.tensor, !m_pending.facts->writesPartly);
    complete(*op.op, op.results, op.end);
}

// The call ended at END; its results are the last items of STACK.
void OpRecorder::complete(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                          Clock::time_point end)
{
    CallRecord &record = m_pending.record;
    using std::chrono::duration_cast;
    using std::chrono::nanoseconds;
    record.startNs = duration_cast<nanoseconds>(m_pending.start - m_begin).count();
    record.durationNs = duration_cast<nanoseconds>(end - m_pending.start).count();
    if (m_moduleCall != kNoRecord)
        m_moduleCalls[m_moduleCall].lastOp = end;
    takeOutputs(stack);
    if (m_deferred)
        return;
    nameWrites(stack);
    const bool hit = m_tripwire && (m_summary.tripped || wroteBad());
    if (hit || (m_tripwire && m_pending.madeMask))
        keepHit(hit);
    Tripwire::Recipe recipe = m_tripwire ? this->recipe(op, stack) : Tripwire::Recipe();
    finishCall();
    if (m_tripwire)
        m_tripwire->callEnded(std::move(recipe), std::move(m_pending.inputs));
    stopWhenTripped();
    m_pending = Pending();
}

void OpRecorder::takeOutputs(const std::vector<c10::IValue> &stack)
{
    CallRecord &record = m_pending.record;
    const OpFacts &facts = *m_pending.facts;
    const std::size_t first = stack.size() - facts.returns;
    // torch.tensor(...) of TorchScript fills this memory itself once the op is done.
    if (facts.uninitialised && m_node != nullptr && m_node->target == "aten::tensor" && facts.returns == 1) {
        record.uninitialised = false;
        record.func = "tensor";
        m_deferred.emplace(std::move(record), stack.back().toTensor());
        return;
    }
    for (std::size_t i = first; i < stack.size(); ++i) {
        forEachTensor(stack[i], [&](const at::Tensor &tensor) {
            record.outputs.push_back(tensor.defined() ? output(tensor, TensorRole::output) : kNoRecord);
        });
        if (!stack[i].isTensor() && !stack[i].isList() && facts.returns == 1)
            record.value = ivalueToValue(stack[i]);
    }
}

RecordId OpRecorder::output(const at::Tensor &tensor, TensorRole role)
{
    CallRecord &call = m_pending.record;
    const OpFacts &facts = *m_pending.facts;
    const bool uninitialised =
        facts.uninitialised || ((facts.view || facts.writesPartly) && m_tracker.isUninitialised(tensor));
    TensorRecord record;
    if (uninitialised) {
        record = unwritten(tensor);
        if (facts.uninitialised)
            m_tracker.madeUninitialised(tensor);
    } else {
        record = rowSnapshot(tensor, role, wantsPayload(facts));
    }
    record.role = role;
    record.call = call.id;
    record.slot = static_cast<std::uint32_t>(call.outputs.size());
    attachOperands(record);
    if (m_gradListener != nullptr && tensor.requires_grad())
        m_gradListener->outputMade(tensor, call.id, record, call.gradNodes);
    if (m_summary.firstBadOp.empty() && badnessOf(record) != 0)
        m_summary.firstBadOp = call.op;
    const RecordId id = record.id;
    m_tracker.made(tensor, id, true);
    addTensor(std::move(record));
    return id;
}

void OpRecorder::attachOperands(TensorRecord &record) const
{
    const std::uint8_t bad = badnessOf(record);
    const std::uint8_t came = m_pending.inputBadness & (kInfinite | kNaN);
    if (bad == 0 || (came != 0 && !((bad & kNaN) != 0 && (came & kNaN) == 0)))
        return;
    const TensorStats &stats = *record.stats;
    std::int64_t first = -1;
    for (const std::int64_t at : {stats.firstNan, stats.firstPosInf, stats.firstNegInf})
        if (at >= 0 && (first < 0 || at < first))
            first = at;
    record.operandsAtFirst = operandsAt(record, first);
    if (stats.firstNan >= 0 && stats.firstNan != first)
        record.operandsAtFirstNan = operandsAt(record, stats.firstNan);
}

std::optional<OperandsAt> OpRecorder::operandsAt(const TensorRecord &record, std::int64_t at) const
{
    OperandsAt operands;
    operands.at = at;
    for (std::size_t i = 0; i < m_pending.inputs.size(); ++i) {
        const c10::IValue &input = m_pending.inputs[i];
        const ArgumentFacts &facts = m_pending.facts->arguments[i];
        if (facts.keywordOnly || facts.code != CodeKind::none)
            continue;
        if (input.isTensor() && input.toTensor().defined()) {
            const at::Tensor &before = m_pending.before[i];
            if (facts.written && !before.defined())
                operands.values.emplace_back();
            else
                operands.values.push_back(
                    elementBroadcast(before.defined() ? before : input.toTensor(), record.shape, at));
        } else if (input.isScalar()) {
            operands.values.push_back(ivalueToValue(input));
        }
    }
    return operands;
}

// Arguments that were written: those that came back as results have their version; the others get one.
void OpRecorder::nameWrites(const std::vector<c10::IValue> &stack)
{
    CallRecord &record = m_pending.record;
    if (m_pending.facts->metadataOnly)
        return;
    for (const Write &write : m_pending.writes) {
        bool returned = false;
        for (std::size_t i = stack.size() - m_pending.facts->returns; i < stack.size(); ++i)
            forEachTensor(stack[i], [&](const at::Tensor &tensor) {
                returned = returned || tensor.is_same(write.tensor);
            });
        const KnownTensor *known = m_tracker.find(write.tensor);
        const bool namedBuffer = known != nullptr && known->named >= 0 &&
                                 m_named[static_cast<std::size_t>(known->named)].role == TensorRole::buffer;
        if (!returned && !(write.hidden && namedBuffer))
            record.outputs.push_back(output(write.tensor, TensorRole::output));
        if (returned || !(write.hidden && namedBuffer))
            m_tracker.nameWrite(write.tensor, m_tracker.known(write.tensor).record);
    }
}

void OpRecorder::finishCall()
{
    const std::vector<RecordId> &outputs = m_pending.record.outputs;
    const RecordId firstOutput = outputs.empty() ? kNoRecord : outputs.front();
    const std::vector<Write> writes = std::move(m_pending.writes);
    const bool wrote = !m_pending.facts->metadataOnly;
    if (m_node != nullptr)
        m_callOfNode[m_node->id] = m_pending.record.id;
    ++m_summary.calls;
    if (m_gradListener != nullptr) {
        std::vector<at::Tensor> written;
        for (const Write &write : writes)
            if (wrote)
                written.push_back(write.tensor);
        m_gradListener->callEnded(m_pending.record, m_node, m_pending.inputs, written);
    }
    m_out.add(std::move(m_pending.record));
    m_summary.runningOp.clear();
    if (!wrote)
        return;
    for (const Write &write : writes)
        writtenBuffers(write, write.hidden ? firstOutput : m_tracker.known(write.tensor).record);
}

// The buffers that a write reached get a row of their new version.
void OpRecorder::writtenBuffers(const Write &write, RecordId made)
{
    if (!hasBytes(write.tensor))
        return;
    const auto found = m_buffersByStorage.find(write.tensor.storage().unsafeGetStorageImpl());
    if (found == m_buffersByStorage.end())
        return;
    const ByteRange range = byteRange(write.tensor);
    for (const std::size_t index : found->second) {
        Named &named = m_named[index];
        if (!byteRange(named.tensor).overlaps(range))
            continue;
        m_bufferMaker = made;
        bufferRow(named, "identity", {made});
        m_bufferMaker = kNoRecord;
        m_tracker.nameWrite(named.tensor, m_tracker.known(named.tensor).record);
    }
}

void OpRecorder::bufferRow(Named &named, std::string_view func, std::vector<RecordId> parents)
{
    CallRecord call;
    call.kind = CallKind::buffer;
    startCall(call);
    call.op = "none";
    call.func = func;
    call.address = named.address;
    call.parents = std::move(parents);
    call.startNs = sinceBegin();
    call.durationNs = 0;
    TensorRecord record = rowSnapshot(named.tensor, TensorRole::buffer, savesEverything());
    record.address = named.address;
    record.call = call.id;
    const RecordId id = record.id;
    call.outputs.push_back(id);
    m_tracker.made(named.tensor, id, true);
    named.rowDone = true;
    addTensor(std::move(record));
    m_out.add(std::move(call));
}

// An op of the driver's own: no row; what it made descends from what went in.
void OpRecorder::internalOpEnded(const std::vector<c10::IValue> &stack)
{
    const std::vector<RecordId> parents = m_pending.record.parents;
    for (std::size_t i = stack.size() - m_pending.facts->returns; i < stack.size(); ++i)
        forEachTensor(stack[i], [&](const at::Tensor &tensor) {
            if (!tensor.defined())
                return;
            KnownTensor &known = m_tracker.made(tensor, kNoRecord, false);
            known.ancestors = parents;
        });
    const std::vector<Write> writes = std::move(m_pending.writes);
    const bool wrote = !m_pending.facts->metadataOnly;
    m_pending = Pending();
    if (!wrote)
        return;
    for (const Write &write : writes) {
        // copy_(buffer, value): the value's maker made the new version.
        const RecordId maker = parents.empty() ? kNoRecord : parents.back();
        m_tracker.nameWrite(write.tensor, maker);
        writtenBuffers(write, maker);
    }
}

void OpRecorder::flushDeferred()
{
    if (!m_deferred)
        return;
    const QuietScope quiet;
    auto [record, tensor] = std::move(*m_deferred);
    m_deferred.reset();
    m_pending.record = std::move(record);
    m_pending.record.outputs.push_back(kNoRecord);
    const bool filled = !m_pending.record.uninitialised;
    TensorRecord made =
        filled ? rowSnapshot(tensor, TensorRole::output, savesEverything()) : unwritten(tensor);
    made.role = TensorRole::output;
    made.call = m_pending.record.id;
    m_pending.record.outputs.back() = made.id;
    if (!filled)
        m_tracker.madeUninitialised(tensor);
    m_tracker.made(tensor, made.id, true);
    addTensor(std::move(made));
    finishCall();
    m_pending = Pending();
}

void OpRecorder::opFailed(const c10::OperatorHandle &) noexcept
{
    if (!m_pending.active || isInternal())
        return;
    m_pending.active = false;
    CallRecord &record = m_pending.record;
    m_summary.runningOp = record.op;
    m_summary.runningCall = record.id;
    m_summary.runningStack = record.stack;
    record.finished = false;
    record.startNs = std::chrono::duration_cast<std::chrono::nanoseconds>(m_pending.start - m_begin).count();
    m_out.add(std::move(record));
    m_pending = Pending();
}

} // namespace core
