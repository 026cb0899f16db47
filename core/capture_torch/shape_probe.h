// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/capture_torch/dispatch_tap.h"
#include "core/capture_torch/silent_observer.h"

#include <ATen/core/ivalue.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace core {

// The first op of a run that asks something of the shape of what comes in.
struct InputConstraint
{
    enum class Kind { conv, linear, matmul, embedding };
    Kind kind = Kind::linear;
    std::string label;                     // "linear_1_1", numbered as if no layer before it ran twice
    std::optional<std::string> moduleCall; // "fc:1"; none: the root
    std::string sourceLine;
    std::vector<std::int64_t> inputShape;
    std::int64_t needed = 0; // features, channels or rows of the table
};

// What one trial run said.
struct ProbeResult
{
    bool ok = false;
    std::string message; // the model's words when it failed
    // Of the linear op that failed: the size that came and the size it wants.
    std::optional<std::int64_t> got;
    std::optional<std::int64_t> target;
    std::optional<InputConstraint> constraint;
    bool ranAdaptivePool = false;
    // The inputs that the op that failed was given, each with the rows of the table it was to be looked up in
    // (0: in none).
    std::map<std::string, std::int64_t> refused;
    // The first recurrent or transformer layer that was called before any constraint; else, without one, a
    // group norm inside the model. Path and class name.
    std::optional<std::pair<std::string, std::string>> layer;
};

// Watches one trial run. Stops it when the job is stopped or DEADLINE is over.
class ProbeWatcher final : public SilentObserver, public OpListener
{
public:
    using Clock = std::chrono::steady_clock;
    ProbeWatcher(const JobContext &job, std::optional<Clock::time_point> deadline)
        : m_job(job), m_deadline(deadline)
    {
    }

    // SECONDS from now; none for 0.
    static std::optional<Clock::time_point> deadlineIn(double seconds);

    // Lets refused inputs be told by name. INPUTS must outlive the run.
    void knows(const std::vector<std::pair<std::string, at::Tensor>> &inputs) { m_inputs = &inputs; }

    // Takes what was seen into RESULT.
    void finish(ProbeResult &result) const;

    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                  const OpMode &mode) override;
    void opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack) override;
    void opFailed(const c10::OperatorHandle &op) noexcept override;

    void moduleCallStarted(const ModuleCallInfo &call) override;
    void nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall) override;

private:
    void look(std::string_view func, const c10::IValue *arguments, std::size_t count);
    void noteInputs(const c10::IValue *arguments, std::size_t count);
    void constrain(InputConstraint::Kind kind, const at::Tensor &input, std::int64_t needed);

    const JobContext &m_job;
    std::optional<Clock::time_point> m_deadline;
    std::unordered_map<std::uint32_t, std::string> m_calls;
    std::unordered_map<std::string, int> m_typeCounts;
    int m_total = 0;
    std::string m_type;
    const NodeInfo *m_node = nullptr;
    std::optional<std::uint32_t> m_moduleCall;
    std::optional<InputConstraint> m_constraint;
    std::optional<std::pair<std::int64_t, std::int64_t>> m_features; // of the running linear op
    std::optional<std::pair<std::int64_t, std::int64_t>> m_failed;
    const std::vector<std::pair<std::string, at::Tensor>> *m_inputs = nullptr;
    std::map<std::string, std::int64_t> m_given; // inputs of the running op
    std::map<std::string, std::int64_t> m_refused;
    bool m_adaptivePool = false;
    std::optional<std::pair<std::string, std::string>> m_sequenceLayer;
    std::optional<std::pair<std::string, std::string>> m_normLayer;
};

// The first layer saw more dimensions than SHAPE has, and more that are wider than 1.
bool isInflated(const std::vector<std::int64_t> &shape, const std::optional<InputConstraint> &constraint);

// What the words of a failure say (reports.md section 11.17).
std::optional<std::pair<std::int64_t, std::int64_t>> linearSizes(const std::string &message);
std::optional<std::pair<std::int64_t, std::int64_t>> channelSizes(const std::string &message); // wanted, got
// How many CHANNELS an image is to have instead, as the layer that failed says, or the tensor that it was
// combined with before one.
std::optional<std::int64_t> wantedChannels(const std::string &message, std::int64_t channels);
std::optional<at::ScalarType> suggestedDtype(const std::string &message);
bool isDeviceMessage(const std::string &message);
// A layer that wants another number of dimensions, which no size cures.
bool isRankMessage(const std::string &message);
// A failure that another size may cure.
bool isSkippable(const std::string &message);

} // namespace core
