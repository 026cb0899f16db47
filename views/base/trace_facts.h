// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/nonfinite_scan.h"
#include "core/analysis/report.h"
#include "core/base/job_context.h"
#include "core/graph/node_state.h"
#include "core/trace/trace.h"

#include <QString>

#include <memory>
#include <utility>
#include <vector>

namespace views {

// How much of a trace was recorded. Counts are of ops, of the tensors they returned, of gradient fires, of
// source files; inputs, buffers and the rows of what the model returned are no ops.
struct TraceCoverage
{
    std::size_t outputs = 0;
    std::size_t outputsSaved = 0;     // values in the file
    std::size_t outputsMeasured = 0;  // statistics recorded, values or not
    std::size_t outputsUnchecked = 0; // neither
    std::size_t ops = 0;
    std::size_t opsFinished = 0; // all but one that was running when the run ended
    std::size_t opsWithLine = 0;
    std::size_t fires = 0;
    std::size_t firesSaved = 0;
    std::size_t sources = 0;
    std::size_t sourcesEmbedded = 0;
};
TraceCoverage coverageOf(const core::Trace &trace);

// Whether the run ended before its end: cancelled, failed or crashed.
bool stoppedShort(const core::Trace &trace);

// One line of the findings table, worded.
struct FindingRow
{
    core::Severity severity = core::Severity::info;
    core::NodeState state = core::NodeState::clean;
    QString check; // the report's command-line name: "find_nan"
    QString text;
    core::OpId op;
    QString elements; // "18,432", "1 of 1", empty
    std::uint64_t elementCount = 0;
};

// What is known about a trace beyond what it records: the life of NaN and Inf in it, in data and in words.
// Made by makeTraceFacts in a job, immutable, shared by all panes.
struct TraceFacts
{
    TraceCoverage coverage;
    core::NonFiniteScan scan;
    core::GraphMarks marks;
    std::vector<FindingRow> findings; // by severity, then execution order
    QString verdict;                  // "NaN is born in softmax_8_345"
    QString verdictDetail;
    core::OpId headline;                       // what to look at first; none when nothing was found
    std::size_t births = 0;                    // of the forward pass that are not by design
    std::size_t backwardBirths = 0;            // backward passes that made NaN or Inf themselves
    std::size_t badPasses = 0;                 // backward passes with NaN or Inf in their gradients
    double seconds = 0.0;                      // how long the checks took
    std::shared_ptr<const core::Report> audit; // its checks besides NaN and Inf are in FINDINGS; may be null
    core::Status auditFailure;                 // why there is no audit
    core::Status failure;                      // why nothing was looked for at all; ok when it was

    // Of the forward pass.
    bool hasFinding() const { return scan.hasFinding(); }
    std::size_t allBirths() const { return births + backwardBirths; }
    bool isBad() const { return hasFinding() || badPasses > 0; }
    // What the audit left out, each with the reason, but for bisect_nan_backward, which runs beside it.
    std::vector<std::pair<QString, QString>> skippedChecks() const;
    // Of other checks than those for NaN and Inf.
    bool hasOtherFinding() const;
};

// Keeps FACTS (may be null) as MINE. True when they are others and tell what the trace itself does not: what
// was drawn without them has to be drawn anew.
bool takeFacts(std::shared_ptr<const TraceFacts> facts, std::shared_ptr<const TraceFacts> &mine);

// What was recorded of TENSOR, else what FACTS (may be null) measured; nullptr when nobody knows.
const core::TensorStats *statsOf(const core::Trace &trace, const TraceFacts *facts, core::TensorId tensor);

core::Result<std::shared_ptr<const TraceFacts>> makeTraceFacts(std::shared_ptr<const core::Trace> trace,
                                                               const core::JobContext &job);
// The same with STATISTICS of the trace that others share: what they measured is not measured again.
core::Result<std::shared_ptr<const TraceFacts>>
makeTraceFacts(std::shared_ptr<const core::Trace> trace,
               const std::shared_ptr<core::TraceStatistics> &statistics, const core::JobContext &job);

// The facts of a trace whose check ended with FAILURE: its coverage, and in words that nothing was looked
// for.
std::shared_ptr<const TraceFacts> missingFacts(const core::Trace &trace, const core::Status &failure);

} // namespace views
