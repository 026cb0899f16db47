// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/nonfinite_scan.h"
#include "core/graph/node_state.h"
#include "core/trace/trace.h"

#include <QString>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace views {

// One event in the life of NaN and Inf, worded: forward in execution order, then each backward pass in the
// order of its firings.
struct TrailStep
{
    core::NodeState state = core::NodeState::clean;
    QString title; // "Origin: first NaN"
    QString name;  // "softmax_8_345", "SqrtBackward0"
    QString value; // "18,432", "by design", empty
    core::OpId op; // none for what came in bad
    core::GradNodeId node;
    int pass = 0; // 0: forward
};

// A parameter or an input whose gradient came out bad.
struct BadLeaf
{
    core::GradNodeId node;
    QString name;
    QString value; // "3", of its elements
    int pass = 0;
};

// The events of a trace, and why the births happened (core/analysis/nonfinite_why.h), as tokens.
struct NanTrail
{
    std::shared_ptr<const core::Trace> trace; // it is of
    std::vector<TrailStep> steps;
    std::size_t leftOut = 0; // beyond the ceiling of steps
    core::Status failure;    // why it was not followed; ok when it was
    std::unordered_map<core::OpId, std::string> whys;
    std::unordered_map<core::GradNodeId, std::string> gradWhys;
    std::vector<BadLeaf> badLeaves; // in the order of their firings
};

// Measures the gradients of every backward pass that has firings. SCAN and MARKS are those of the trace's
// facts. cancelled when the job was.
core::Result<std::shared_ptr<const NanTrail>> makeNanTrail(std::shared_ptr<const core::Trace> trace,
                                                           const core::NonFiniteScan &scan,
                                                           const core::GraphMarks &marks,
                                                           const core::JobContext &job);

// The trail of a trace that was not followed, and FAILURE says why.
std::shared_ptr<const NanTrail> missingTrail(std::shared_ptr<const core::Trace> trace,
                                             const core::Status &failure);

// What a token says to a person: the rule that was broken, its formula, and a remedy with what it protects;
// empty texts where there is nothing to say.
struct WhyWords
{
    QString rule;
    QString formula;
    QString remedy;
};
WhyWords whyWords(const std::string &token);

} // namespace views
