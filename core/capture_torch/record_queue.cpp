// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/record_queue.h"

#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/quiet_scope.h"
#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <cmath>

namespace core {

namespace {

constexpr std::size_t kMostEvents = 256;

template <class... Each>
struct ByKind : Each...
{
    using Each::operator()...;
};
template <class... Each>
ByKind(Each...) -> ByKind<Each...>;

bool isDeviceElsewhere(const c10::IValue &value)
{
    return value.isDevice() && !value.toDevice().is_cpu();
}

} // namespace

void RecordQueue::finish()
{
    try {
        flush();
    } catch (const StopRun &) {
        // The recorder knows why.
    }
}

void RecordQueue::moduleDeclared(const ModuleInfo &module)
{
    flush();
    m_recorder.moduleDeclared(module);
}

void RecordQueue::namedTensor(TensorRole role, const std::vector<std::string> &names,
                              const at::Tensor &tensor)
{
    flush();
    m_recorder.namedTensor(role, names, tensor);
}

void RecordQueue::moduleCallStarted(const ModuleCallInfo &call)
{
    if (mayWait()) {
        m_events.emplace_back(ModuleStart{call, PastOp::Time::clock::now()});
        return;
    }
    flush();
    m_recorder.moduleCallStarted(call);
    m_begun = true;
}

void RecordQueue::moduleCallEnded(const ModuleCallInfo &call, const std::vector<c10::IValue> &outputs)
{
    if (mayWait()) {
        m_events.emplace_back(ModuleEnd{call, outputs, PastOp::Time::clock::now()});
        return;
    }
    flush();
    m_recorder.moduleCallEnded(call, outputs);
}

void RecordQueue::nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall)
{
    if (mayWait()) {
        m_stack = m_recorder.nodeStack(node); // at once: of a process that dies the place is told
        m_events.emplace_back(NodeStart{&node, moduleCall});
        return;
    }
    flush();
    m_recorder.nodeStarts(node, moduleCall);
    m_stack = m_recorder.nodeStack(node);
    m_begun = true;
}

void RecordQueue::nodeEnds(const NodeInfo &node)
{
    if (mayWait()) {
        m_events.emplace_back(NodeEnd{&node});
        if (m_events.size() > kMostEvents)
            flush();
        return;
    }
    flush();
    m_recorder.nodeEnds(node);
}

void RecordQueue::numberComputed(const NodeInfo &node, const RunNumber &value,
                                 const std::vector<std::uint32_t> &sources)
{
    if (mayWait()) {
        m_events.emplace_back(Number{&node, value, sources, PastOp::Time::clock::now()});
        return;
    }
    flush();
    m_recorder.numberComputed(node, value, sources);
}

void RecordQueue::regionEntered(const RegionInfo &region)
{
    flush();
    m_recorder.regionEntered(region);
}

void RecordQueue::regionLeft(const RegionInfo &region)
{
    flush();
    m_recorder.regionLeft(region);
}

void RecordQueue::internalOpsBegin(const NodeInfo *node)
{
    flush();
    ++m_internal;
    m_recorder.internalOpsBegin(node);
}

void RecordQueue::internalOpsEnd()
{
    --m_internal;
    m_recorder.internalOpsEnd();
}

void RecordQueue::graphOutput(const std::string &path, const c10::IValue &value)
{
    flush();
    m_recorder.graphOutput(path, value);
}

void RecordQueue::opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack, const OpMode &mode)
{
    m_passes = !mayWait() || m_internal > 0 || m_recorder.mustStop();
    FiniteWatch::Forecast forecast;
    const OpFacts &facts = m_recorder.factsOf(op);
    const Arguments arguments = Arguments(stack).last(facts.arguments.size());
    if (!m_passes) {
        forecast = m_recorder.watch()->forecast(facts, arguments);
        m_passes = !mayWait(facts, arguments, forecast);
    }
    if (m_passes) {
        flush();
        m_recorder.opStarts(op, stack, mode);
        return;
    }
    if (m_count == m_ops.size())
        m_ops.emplace_back();
    PastOp &past = m_ops[m_count];
    past.op = op;
    past.mode = mode;
    past.arguments.assign(arguments.begin(), arguments.end());
    past.forecast = forecast;
    m_events.emplace_back(m_count++);
    const auto call = static_cast<RecordId>(m_recorder.nextCall() + m_count - 1);
    m_recorder.out().sink().markRunning(facts.name, call, m_stack);
    m_rngBefore = facts.mayDraw ? generatorState() : 0;
    past.start = PastOp::Time::clock::now();
}

void RecordQueue::opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack)
{
    if (m_passes) {
        m_recorder.opEnded(op, stack);
        return;
    }
    PastOp &past = m_ops[m_count - 1];
    past.end = PastOp::Time::clock::now();
    m_recorder.out().sink().markEnded();
    const OpFacts &facts = m_recorder.factsOf(op);
    past.drew = facts.mayDraw && generatorState() != m_rngBefore;
    takeResults(past, facts, stack);
    m_bytes += bytesOf(past.arguments) + bytesOf(past.results);
    if (past.isFinite && m_count < kOps && m_bytes < kBytes && past.end - m_ops.front().start < kTime)
        return;
    flush();
    // Its number is known now, so that nobody takes it for an op that still runs.
    m_recorder.out().sink().markRunning(facts.name, m_recorder.nextCall() - 1, m_stack);
    m_recorder.out().sink().markEnded();
    m_recorder.reportProgress();
}

void RecordQueue::takeResults(PastOp &past, const OpFacts &facts, const std::vector<c10::IValue> &stack)
{
    past.results.assign(stack.end() - static_cast<std::ptrdiff_t>(facts.returns), stack.end());
    FiniteWatch &watch = *m_recorder.watch();
    for (std::size_t i = 0; facts.writes && i < past.arguments.size(); ++i)
        if (facts.arguments[i].written)
            watch.written(past.arguments[i].toTensor());
    past.isFinite = true;
    bool first = true;
    for (const c10::IValue &result : past.results)
        forEachTensor(result, [&](const at::Tensor &tensor) {
            past.isFinite =
                past.isFinite && (!tensor.defined() || watch.isFinite(tensor, past.forecast, first));
            first = false;
        });
}

// The op that failed is told as running, behind what waits.
void RecordQueue::opFailed(const c10::OperatorHandle &op) noexcept
{
    if (m_passes) {
        m_recorder.opFailed(op);
        return;
    }
    try {
        const PastOp failed = m_ops[m_count - 1];
        m_events.pop_back();
        m_ops[--m_count].arguments.clear();
        flush();
        std::vector<c10::IValue> stack = failed.arguments;
        m_recorder.setTime(failed.start);
        m_recorder.opStarts(op, stack, failed.mode);
    } catch (...) {
        // The recorder was to stop, or there is no memory: then this op has no row.
    }
    m_recorder.setTime({});
    m_recorder.opFailed(op);
}

// Whether an op with these ARGUMENTS, about to run, can be told later as it would be now.
bool RecordQueue::mayWait(const OpFacts &facts, Arguments arguments,
                          const FiniteWatch::Forecast &forecast) const
{
    if (facts.metadataOnly || facts.uninitialised ||
        std::any_of(arguments.begin(), arguments.end(), isDeviceElsewhere))
        return false;
    const auto isSet = [&](std::size_t flag) { return arguments[flag].isBool() && arguments[flag].toBool(); };
    if (!facts.hiddenWrites.empty() && (!facts.hiddenFlag || isSet(*facts.hiddenFlag)))
        return false;
    return !facts.writes || overwritesLast(facts, arguments, forecast);
}

// Whether the op writes nothing but what the op just before it made, which can be made again from what that
// one read; so nobody needs to see it before it is written, nor what is read with it.
bool RecordQueue::overwritesLast(const OpFacts &facts, Arguments arguments,
                                 const FiniteWatch::Forecast &forecast) const
{
    std::size_t written = 0;
    const auto isPlain = [&](const c10::IValue &value, bool isWritten) {
        if (value.isDouble())
            return std::isfinite(value.toDouble());
        if (!value.isTensor() || !value.toTensor().defined())
            return !value.isTensorList() && !isWritten;
        const at::Tensor &tensor = value.toTensor();
        if (!isWritten) {
            const KnownTensor *const known = m_recorder.tracker().find(tensor);
            return known == nullptr || known->named < 0;
        }
        ++written;
        return (!facts.keepsBefore || forecast.isBoundedIn(fromScalarType(tensor.scalar_type()))) &&
               madeByLast(tensor);
    };
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (!isPlain(arguments[i], facts.arguments[i].written))
            return false;
    return written == 1 && facts.returns == 1;
}

bool RecordQueue::madeByLast(const at::Tensor &tensor) const
{
    if (m_count == 0 || !hasBytes(tensor))
        return false;
    const PastOp &last = m_ops[m_count - 1];
    if (last.drew || !last.mode.autocast.empty() || !canRunAgain(m_recorder.factsOf(*last.op), last.results))
        return false;
    const bool isResult =
        std::any_of(last.results.begin(), last.results.end(),
                    [&](const c10::IValue &result) { return result.toTensor().is_same(tensor); });
    bool isRead = false;
    const auto *const storage = tensor.storage().unsafeGetStorageImpl();
    for (const c10::IValue &argument : last.arguments)
        forEachTensor(argument, [&](const at::Tensor &read) {
            isRead = isRead || (hasBytes(read) && read.storage().unsafeGetStorageImpl() == storage);
        });
    return isResult && !isRead;
}

void RecordQueue::flush()
{
    if (m_events.empty())
        return;
    const QuietScope quiet;
    // Also when the recorder stops the run: what waits behind that is not part of it.
    struct Emptied
    {
        RecordQueue &queue;
        ~Emptied()
        {
            for (std::size_t i = 0; i < queue.m_count; ++i) {
                queue.m_ops[i].arguments.clear();
                queue.m_ops[i].results.clear();
            }
            queue.m_events.clear();
            queue.m_count = 0;
            queue.m_bytes = 0;
            queue.m_recorder.setTime({});
        }
    } const emptied{*this};
    for (const Event &event : m_events)
        tell(event);
}

void RecordQueue::tell(const Event &event)
{
    std::visit(ByKind{
                   [this](const NodeStart &start) { m_recorder.nodeStarts(*start.node, start.moduleCall); },
                   [this](const NodeEnd &end) { m_recorder.nodeEnds(*end.node); },
                   [this](const ModuleStart &start) {
                       m_recorder.setTime(start.time);
                       m_recorder.moduleCallStarted(start.call);
                   },
                   [this](const ModuleEnd &end) {
                       m_recorder.setTime(end.time);
                       m_recorder.moduleCallEnded(end.call, end.outputs);
                   },
                   [this](const Number &number) {
                       m_recorder.setTime(number.time);
                       m_recorder.numberComputed(*number.node, number.value, number.sources);
                   },
                   [this](std::size_t op) {
                       m_recorder.setTime(m_ops[op].start);
                       m_recorder.opRan(m_ops[op]);
                   },
               },
               event);
}

} // namespace core
