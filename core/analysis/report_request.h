// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/analysis/trace_statistics.h"
#include "core/base/job_context.h"
#include "core/base/value.h"
#include "core/trace/trace.h"

#include <memory>

namespace core {

// What a report is asked about: one trace (or two), option values by name, already checked and completed with
// defaults by the registry, and the statistics of the traces, shared between reports of the same trace.
struct ReportRequest
{
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const Trace> other; // second trace of a comparison; null otherwise
    Value options;
    std::shared_ptr<TraceStatistics> statistics;
    std::shared_ptr<TraceStatistics> otherStatistics;

    const Value &option(std::string_view name) const { return options.at(name); }
};

// A typed refusal is a Report with `error`; a Status says that the question could not be worked on
// (cancelled, unreadable).
using ReportFunction = Result<Report> (*)(const ReportRequest &, const JobContext &);

} // namespace core
