// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/cost_reports.h"
#include "core/analysis/report_parts.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {

Result<Report> recomputeCandidates(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    if (Status status = job.checkpoint("recompute_candidates"); !status)
        return status;
    struct Candidate
    {
        OpId op;
        std::int64_t bytes = 0;
        double flops = 0.0;
        double ratio = 0.0;
    };
    std::vector<Candidate> candidates;
    std::int64_t noMemory = 0;
    std::int64_t noFlops = 0;
    std::int64_t notPositive = 0;
    std::int64_t freeable = 0;
    for (const OpId op : trace.computeOps()) {
        const OpRow &row = trace.op(op);
        if (row.bytes == kUnknown)
            ++noMemory;
        else if (row.flopsForward == kUnknown)
            ++noFlops;
        else if (row.flopsForward <= 0)
            ++notPositive;
        else {
            const auto flops = static_cast<double>(row.flopsForward);
            candidates.push_back({op, row.bytes, flops, static_cast<double>(row.bytes) / flops});
            freeable += row.bytes;
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate &a, const Candidate &b) { return a.ratio > b.ratio; });
    const Value &budget = request.option("budget_gb");
    const double target = budget.isNull() ? 0.0 : budget.toDouble() * 1024.0 * 1024.0 * 1024.0;
    Report report = startReport("recompute_candidates", std::string(trace.subject()));
    report.isTabular = true;
    report.status = candidates.empty() ? "empty" : "ranked";
    report.table.columns = {{"op", CellKind::op, {}},
                            {"activation_memory", CellKind::integer, "bytes"},
                            {"flops_forward", CellKind::number, "FLOPs"},
                            {"mem_per_flop", CellKind::number, "bytes per FLOP"},
                            {"suggested", CellKind::boolean, {}}};
    report.table.rows.reserve(candidates.size());
    report.findings.reserve(candidates.size());
    double freed = 0.0;
    for (const Candidate &candidate : candidates) {
        const bool suggested = !budget.isNull() && freed < target;
        freed += suggested ? static_cast<double>(candidate.bytes) : 0.0;
        report.table.rows.push_back({rowCells(trace.label(candidate.op), candidate.bytes, candidate.flops,
                                              candidate.ratio, suggested),
                                     candidate.op,
                                     {}});
        ReportFinding finding;
        finding.check = "recompute_candidates";
        finding.message = fmt::format("{}: frees {} for {}{}", trace.label(candidate.op),
                                      formatBytes(static_cast<std::uint64_t>(candidate.bytes)),
                                      formatFlops(candidate.flops), suggested ? ", suggested" : "");
        finding.ops = {candidate.op};
        finding.opLabels = {std::string(trace.label(candidate.op))};
        report.findings.push_back(std::move(finding));
    }
    report.attrs = Value::object({{"total_freeable", freeable},
                                  {"budget_gb", budget},
                                  {"excluded_missing_activation_memory_count", noMemory},
                                  {"excluded_missing_flops_forward_count", noFlops},
                                  {"excluded_nonpositive_flops_forward_count", notPositive},
                                  {"torchlens_capture_honesty", honestyValue(trace)}});
    report.coverage =
        fmt::format("{} rows ranked, {} without memory, {} without FLOPs, {} without arithmetic",
                    candidates.size(), noMemory, noFlops, notPositive);
    return report;
}

} // namespace core
