// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/context_recorder.h"
#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/past_op.h"
#include "core/capture_torch/recorder_options.h"
#include "core/capture_torch/tensor_saver.h"
#include "core/capture_torch/tensor_tracker.h"
#include "core/capture_torch/tripwire.h"

namespace core {

class GradListener;

// Writes a run into a trace: hears of nodes and modules from the driver and of ops from the dispatcher. One
// object a run, on the thread that runs the model; owned by the capture task.
class OpRecorder final : public RunObserver, public OpListener
{
public:
    OpRecorder(TraceSink &sink, RecorderOptions options);

    void setGradListener(GradListener *listener) { m_gradListener = listener; }
    // After the last graphOutput, or when the run failed: what is still open is completed.
    void finish();
    // The first failure of the sink.
    const Status &status() const { return m_out.status(); }
    const RunSummary &summary() const { return m_summary; }

    void moduleDeclared(const ModuleInfo &module) override;
    void namedTensor(TensorRole role, const std::vector<std::string> &names,
                     const at::Tensor &tensor) override;
    void moduleCallStarted(const ModuleCallInfo &call) override;
    void moduleCallEnded(const ModuleCallInfo &call, const std::vector<c10::IValue> &outputs) override;
    void nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall) override;
    void nodeEnds(const NodeInfo &node) override;
    void numberComputed(const NodeInfo &node, const RunNumber &value,
                        const std::vector<std::uint32_t> &sources) override;
    void regionEntered(const RegionInfo &region) override;
    void regionLeft(const RegionInfo &region) override;
    void internalOpsBegin(const NodeInfo *node) override;
    void internalOpsEnd() override;
    void graphOutput(const std::string &path, const c10::IValue &value) override;

    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                  const OpMode &mode) override;
    void opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack) override;
    void opFailed(const c10::OperatorHandle &op) noexcept override;

    // OP ran before: it is recorded as it would have been then. May throw StopRun.
    void opRan(PastOp &op);
    // What is told next happened at TIME; none: it happens now.
    void setTime(std::optional<PastOp::Time> time) { m_time = time; }
    // What a run that is told later must know (record_queue.h).
    const OpFacts &factsOf(const c10::OperatorHandle &op);
    bool mayHearLater() const { return m_tripwire && !m_options.pastMasks && !m_options.dieAtCall; }
    FiniteWatch *watch() { return m_tripwire ? &m_tripwire->watch() : nullptr; }
    bool mustStop() const { return m_options.stop.stop_requested() || !m_out.status().isOk(); }
    bool waitsForValues() const { return m_deferred.has_value(); }
    RecordId nextCall() const { return m_nextCall; }
    void reportProgress();

    // The call between opStarts and opEnded: its record, kNoRecord for one without, and its name.
    RecordId runningCall() const { return m_pending.facts != nullptr ? m_pending.record.id : kNoRecord; }
    const std::string &runningName() const { return m_pending.record.op; }

    // For the autograd recorder, which numbers tensors in the same sequence.
    TensorTracker &tracker() { return m_tracker; }
    RecordOut &out() { return m_out; }
    // A record of TENSOR as it is now (statistics, and values if WANTED), not yet added.
    TensorRecord snapshot(const at::Tensor &tensor, TensorRole role, bool wanted);
    // The same for a row of the trace, which a tripwire looks at.
    TensorRecord rowSnapshot(const at::Tensor &tensor, TensorRole role, bool wanted);
    bool savesEverything() const { return m_options.save.mode == SavePolicy::Mode::all; }
    // The name that was declared for TENSOR, "" for none, and its record at the start.
    std::string nameOf(const at::Tensor &tensor);
    RecordId firstRecordOf(const at::Tensor &tensor);
    // Adds a record that snapshot() made.
    void addTensor(TensorRecord record);
    std::int64_t sinceBegin() const;
    RecordId nodeStack(const NodeInfo &node) { return m_context.stackOf(node); }

private:
    using Clock = std::chrono::steady_clock;
    struct Named
    {
        TensorRole role;
        std::string address;
        at::Tensor tensor;
        bool rowDone = false;
        RecordId record = kNoRecord; // at the start
    };
    struct Write
    {
        at::Tensor tensor;
        bool hidden = false;
        std::size_t argument = 0;
    };
    // The call between opStarts and opEnded.
    struct Pending
    {
        const OpFacts *facts = nullptr;
        CallRecord record;
        std::vector<Write> writes;
        std::vector<at::Tensor> before;  // by argument: copies of what will be overwritten
        std::vector<c10::IValue> inputs; // by argument, kept only to look at operands
        std::uint8_t inputBadness = 0;
        FiniteWatch::Forecast forecast;
        bool isFinite = false;    // nobody needs to look at its results
        bool fillsBad = false;    // a number that went in is not finite
        bool faultCameIn = false; // an input holds NaN or Inf that is not there by design
        bool madeMask = false;    // it filled -Inf in by design
        std::uint64_t rngBefore = 0;
        Clock::time_point start;
        bool active = false;
    };
    struct ModuleState
    {
        std::uint32_t parent;
        bool wanted;
        Clock::time_point started;
        Clock::time_point lastOp;
        bool ended = false;
    };

    void prepare(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack, const OpMode &mode);
    void complete(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack, Clock::time_point end);
    void mapDevices(std::vector<c10::IValue> &stack, std::size_t count);
    void takeArguments(std::vector<c10::IValue> &stack);
    void takeArgument(const c10::IValue &value, std::size_t index);
    RecordId argumentVersion(const at::Tensor &tensor, bool written);
    void collectWrites(const std::vector<c10::IValue> &stack);
    void keepBefore(const at::Tensor &tensor, std::size_t index);
    TensorRecord unwritten(const at::Tensor &tensor);

    void takeOutputs(const std::vector<c10::IValue> &stack);
    RecordId output(const at::Tensor &tensor, TensorRole role);
    void nameWrites(const std::vector<c10::IValue> &stack);
    void writtenBuffers(const Write &write, RecordId made);
    void bufferRow(Named &named, std::string_view func, std::vector<RecordId> parents);
    void attachOperands(TensorRecord &record) const;
    std::optional<OperandsAt> operandsAt(const TensorRecord &record, std::int64_t at) const;
    void internalOpEnded(const std::vector<c10::IValue> &stack);
    void flushDeferred();
    void finishCall();
    // The driver's own ops, and those that TorchScript's compiler runs before the first node (folded
    // constants): no rows.
    bool isInternal() const { return m_internal > 0 || !m_begun; }
    void takeBadness(std::uint8_t badness);
    bool cameInBad() const;
    bool isMeasured(RecordId id) const;
    void lookAtState(const at::Tensor &tensor, TensorRecord &record);
    bool isByDesign(const TensorRecord &record) const;
    bool isWrittenByDesign() const;
    bool wroteBad();
    void keepHit(bool withValues);
    bool canRunAgain(const Tripwire::Recipe &recipe, const std::vector<c10::IValue> &stack) const;
    Tripwire::Recipe recipe(const c10::OperatorHandle &op, const std::vector<c10::IValue> &stack);
    void stopWhenTripped();

    Clock::time_point now() const { return m_time ? *m_time : Clock::now(); }
    RecordId nextTensor() const { return static_cast<RecordId>(m_badness.size()); }
    void startCall(CallRecord &record);
    void begin(); // everything is declared; times count from here
    void beginOnce()
    {
        if (!m_begun)
            begin();
    }
    bool wantsPayload(const OpFacts &facts) const;

    RecorderOptions m_options;
    RecordOut m_out;
    TensorTracker m_tracker;
    TensorSaver m_saver;
    ContextRecorder m_context;
    std::optional<Tripwire> m_tripwire;
    GradListener *m_gradListener = nullptr;

    std::unordered_map<const c10::FunctionSchema *, OpFacts> m_facts;
    std::vector<Named> m_named;
    std::unordered_map<c10::StorageImpl *, std::vector<std::size_t>> m_buffersByStorage;
    std::vector<ModuleState> m_moduleCalls;                   // by module call id
    std::unordered_map<std::uint32_t, RecordId> m_callOfNode; // last call of each node
    std::vector<std::uint8_t> m_badness;                      // by tensor record: RecordedBadness
    std::uint8_t m_flags = 0;                                 // of the record that is added next
    std::vector<RecordId> m_callOf;                           // by tensor record

    Pending m_pending;
    std::optional<std::pair<CallRecord, at::Tensor>> m_deferred; // filled by its maker behind the dispatcher
    const NodeInfo *m_node = nullptr;
    RecordId m_moduleCall = kNoRecord;
    RecordId m_stack = kNoRecord;
    RecordId m_bufferMaker = kNoRecord; // of the version whose row is added
    std::vector<std::string> m_regions;
    std::string m_controlFlow;
    std::uint32_t m_internal = 0;
    RecordId m_nextCall = 0;
    bool m_begun = false;
    std::optional<Clock::time_point> m_time;
    Clock::time_point m_begin;
    Clock::time_point m_lastProgress;
    RunSummary m_summary;
};

} // namespace core
