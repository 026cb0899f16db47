// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/cost_reports.h"
#include "core/analysis/report_parts.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace core {
namespace {

struct Metric
{
    std::string_view name;
    std::string_view unit;
    std::optional<double> (*value)(const Trace &, OpId);
};

std::optional<double> known(std::int64_t value, double scale = 1.0)
{
    return value == kUnknown ? std::nullopt : std::optional<double>(static_cast<double>(value) * scale);
}

constexpr Metric kMetrics[] = {
    {"flops", "FLOPs", [](const Trace &trace, OpId op) { return known(trace.op(op).flopsForward); }},
    {"memory", "bytes", [](const Trace &trace, OpId op) { return known(trace.op(op).bytes); }},
    {"duration", "seconds",
     [](const Trace &trace, OpId op) {
         // Pseudo rows take no time.
         return trace.op(op).kind == CallKind::compute ? known(trace.callOf(op).durationNs, 1e-9)
                                                       : std::optional<double>(0.0);
     }},
};

struct Line
{
    std::string place;
    std::int64_t ops = 0;
    double cost = 0.0;
    OpId first;
};

std::string costText(const Metric &metric, double cost)
{
    if (metric.name == "flops")
        return formatFlops(cost);
    if (metric.name == "memory")
        return formatBytes(static_cast<std::uint64_t>(cost));
    return formatNanoseconds(static_cast<std::int64_t>(cost * 1e9));
}

Result<Report> rank(std::string reportType, const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    const std::string subject(trace.subject());
    const std::string &by = request.option("by").toString();
    if (by == "device_time")
        return refusedReport(
            reportType, subject,
            {"ProfilerSessionError", "device_time_unavailable",
             fmt::format("{} holds no device times: no profiler session was joined to it", subject),
             "rank by flops, memory or duration, or open the profile of the same run"});
    const auto *metric = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                      [&](const Metric &candidate) { return candidate.name == by; });
    if (metric == std::end(kMetrics))
        return refusedReport(reportType, subject,
                             invalidArgument("hot_path_metric_invalid", fmt::format("by is '{}'", by),
                                             "pass flops, memory, duration or device_time"));
    if (Status status = job.checkpoint("hot_path"); !status)
        return status;
    std::unordered_map<std::string, std::size_t> index;
    std::vector<Line> lines;
    std::int64_t excluded = 0;
    double total = 0.0;
    for (const OpId op : trace.computeOps()) {
        const auto value = metric->value(trace, op);
        if (!value) {
            ++excluded;
            continue;
        }
        const std::string place = trace.sourceLine(op).value_or("<unknown>");
        const auto [found, isNew] = index.try_emplace(place, lines.size());
        if (isNew)
            lines.push_back({place, 0, 0.0, op});
        Line &line = lines[found->second];
        ++line.ops;
        line.cost += *value;
        total += *value;
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line &a, const Line &b) { return a.cost > b.cost; });
    Report report = startReport(std::move(reportType), subject);
    report.isTabular = true;
    report.status = lines.empty() ? "empty" : "ranked";
    report.table.columns = {{"source_file:line", CellKind::text, {}},
                            {"op_count", CellKind::integer, {}},
                            {"total_cost", CellKind::number, std::string(metric->unit)},
                            {"pct_total", CellKind::number, "%"}};
    for (const Line &line : lines) {
        const double share = total == 0.0 ? 0.0 : 100.0 * line.cost / total;
        report.table.rows.push_back({{line.place, line.ops, line.cost, share}, line.first, {}});
        ReportFinding finding;
        finding.check = report.reportType;
        finding.message = fmt::format("{}: {} ({:.1f} %) in {} ops", line.place, costText(*metric, line.cost),
                                      share, line.ops);
        finding.ops = {line.first};
        report.findings.push_back(std::move(finding));
    }
    report.attrs = Value::object({{"excluded_missing_metric_count", excluded},
                                  {"metric", by},
                                  {"torchlens_capture_honesty", honestyValue(trace)}});
    report.coverage =
        fmt::format("{} of {} rows have a known {} value", trace.computeOps().size() - std::size_t(excluded),
                    trace.computeOps().size(), by);
    return report;
}

} // namespace

Result<Report> hotPath(const ReportRequest &request, const JobContext &job)
{
    return rank("hot_path", request, job);
}

Result<Report> hotPathRows(const ReportRequest &request, const JobContext &job)
{
    return rank("hot_path_rows", request, job);
}

} // namespace core
