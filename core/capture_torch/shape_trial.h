// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/shape_facts.h"
#include "core/capture_torch/shape_guess.h"
#include "core/capture_torch/shape_probe.h"

#include <memory>
#include <vector>

namespace core {

struct ShapePrior;

// Makes inputs and tries them on copies of a TorchScript model, in evaluation mode, without gradients, from
// the same seed each time. The model and the generators of the process stay as they are.
class ShapeTrial
{
public:
    // MODEL and FACTS must outlive it.
    ShapeTrial(const ScriptModel &model, const ShapeFacts &facts, const GuessOptions &options,
               const JobContext &job);
    ~ShapeTrial();
    ShapeTrial(const ShapeTrial &) = delete;
    ShapeTrial &operator=(const ShapeTrial &) = delete;

    // Fills value and spec of INPUT from its shape, dtype and range, in a list, tuple or dict where the
    // argument wants one; a number is left as it is.
    void fill(GuessedInput &input) const;
    ProbeResult run(const std::vector<GuessedInput> &inputs);
    // The job was stopped or the time is over.
    bool isStopped() const { return m_stopped; }

private:
    c10::IValue inContainer(c10::IValue tensor, const GuessedInput &input) const;

    const ScriptModel &m_model;
    const ShapeFacts &m_facts;
    bool m_copiesEachTime; // state is small enough for a copy of its own in each run
    std::uint64_t m_seed;
    const JobContext &m_job;
    std::optional<ProbeWatcher::Clock::time_point> m_deadline;
    std::unique_ptr<ScriptModel> m_copy;
    bool m_stopped = false;
};

// Why an input of PRIOR is not even made: what it, a copy of it and the first layer's result take is not
// there. "" where it is.
std::string tooLarge(const ShapeFacts &facts, const ShapePrior &prior);

// The text that --input takes for a tensor of this form.
std::string guessedSpec(const GuessedInput &input);

} // namespace core
