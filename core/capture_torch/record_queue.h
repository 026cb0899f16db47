// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/op_recorder.h"

#include <cstddef>
#include <variant>
#include <vector>

namespace core {

// Stands before the recorder of a tripwire run: looks at results as they come, and tells the recorder of a
// few ops at once what happened. Recording between two large ops would run from a cold cache each time, which
// costs several times as much. What cannot be told later (an op that writes memory somebody may still look
// at, one that fails, whatever comes once a value was not finite) goes to the recorder at once, behind what
// waits. Of a process that is killed the ops that wait are lost; the one that ran is named. One object a run;
// the recorder stays the caller's.
class RecordQueue final : public RunObserver, public OpListener
{
public:
    static constexpr std::size_t kOps = 16;
    static constexpr std::size_t kBytes = std::size_t(64) << 20; // of what the waiting ops read and made
    static constexpr auto kTime = std::chrono::milliseconds(50);

    explicit RecordQueue(OpRecorder &recorder) : m_recorder(recorder), m_waits(recorder.mayHearLater()) {}

    // After the run, before the recorder's finish(): what waits is told.
    void finish();

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
    void nodesEnd() override { flush(); }
    void internalOpsEnd() override;
    void graphOutput(const std::string &path, const c10::IValue &value) override;

    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                  const OpMode &mode) override;
    void opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack) override;
    void opFailed(const c10::OperatorHandle &op) noexcept override;

private:
    using Arguments = std::span<const c10::IValue>;
    struct NodeStart
    {
        const NodeInfo *node;
        std::optional<std::uint32_t> moduleCall;
    };
    struct NodeEnd
    {
        const NodeInfo *node;
    };
    struct ModuleStart
    {
        ModuleCallInfo call;
        PastOp::Time time;
    };
    struct ModuleEnd
    {
        ModuleCallInfo call;
        std::vector<c10::IValue> outputs;
        PastOp::Time time;
    };
    struct Number
    {
        const NodeInfo *node;
        RunNumber value;
        std::vector<std::uint32_t> sources;
        PastOp::Time time;
    };
    // An op is told by its place in m_ops.
    using Event = std::variant<NodeStart, NodeEnd, ModuleStart, ModuleEnd, Number, std::size_t>;

    bool mayWait() const { return m_waits && m_begun && !m_recorder.waitsForValues(); }
    bool mayWait(const OpFacts &facts, Arguments arguments, const FiniteWatch::Forecast &forecast) const;
    bool overwritesLast(const OpFacts &facts, Arguments arguments,
                        const FiniteWatch::Forecast &forecast) const;
    bool madeByLast(const at::Tensor &tensor) const;
    void takeResults(PastOp &past, const OpFacts &facts, const std::vector<c10::IValue> &stack);
    void flush();
    void tell(const Event &event);

    OpRecorder &m_recorder;
    const bool m_waits;
    bool m_begun = false;
    std::size_t m_internal = 0;
    std::vector<Event> m_events;
    std::vector<PastOp> m_ops; // their memory is used again
    std::size_t m_count = 0;   // of them wait
    std::size_t m_bytes = 0;
    bool m_passes = false; // the running op goes to the recorder at once
    std::uint64_t m_rngBefore = 0;
    RecordId m_stack = kNoRecord; // of the node that runs
};

} // namespace core
