// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/nonfinite_scan.h"
#include "core/analysis/report_request.h"

#include <string>
#include <vector>

namespace core {

// What trace.find_nan() of the page finds: the first row in execution order with NaN or Inf among those whose
// values are known, inputs left out.
struct SavedFinding
{
    OpId op;         // none: nothing found
    TensorId tensor; // what holds the values: of OP, or a buffer that its call wrote (hiddenWriter())
    NonFiniteKind kind = NonFiniteKind::none;
    std::string scope; // "first non-finite tensor", "first among saved tensors", "saved tensors"
    std::vector<std::string>
        zone; // rows that could hide an earlier one, canonical labels, in execution order
    std::string message;
};
// The statistics of all rows must have been prepared.
SavedFinding findSavedNonFinite(const TraceStatistics &statistics);
// ROW is what was found, or the call that wrote it where ROW only shows that.
void takeRow(SavedFinding &finding, const Trace &trace, OpId row);
// " in the buffer "NAME"" for values that the op wrote there besides its results; else "".
std::string writtenText(const SavedFinding &finding, const Trace &trace);
// The fields that find_nan gives of FINDING, saved or live. An input or a buffer, which has no public label,
// is not NAMED.
Value findNanResult(const SavedFinding &finding, const Trace &trace, bool isNamed);

// Rows whose values nobody looked at, as far as a non-finite value could hide in them.
bool isUnexamined(const TraceStatistics &statistics, OpId op);

// Findings of SCAN for cards and exit codes: what to look at first, then the notes by design.
void addScanFindings(Report &report, const NonFiniteScan &scan, const Trace &trace);
// {file, line, func, text} of the op's user frame; null without one.
Value sourceObject(const Trace &trace, OpId op);
// An entry in the form of the corpus: op, func, module, source, kind, counts, first_index.
Value entryValue(const NonFiniteEntry &entry, const Trace &trace);
Value sinkValue(const NonFiniteEntry &entry, const Trace &trace);

// What nonfinite_origin does not cover and how to look for it, verbatim.
std::string_view anomalyRecipe();

Result<Report> findNan(const ReportRequest &request, const JobContext &job);
Result<Report> bisectNan(const ReportRequest &request, const JobContext &job);
Result<Report> nonfiniteOrigin(const ReportRequest &request, const JobContext &job);

} // namespace core
