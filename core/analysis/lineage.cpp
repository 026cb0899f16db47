// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/graph_reports.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/trace_lookup.h"

#include <fmt/format.h>

#include <deque>

namespace core {
namespace {

struct Visit
{
    OpId op;
    std::int64_t depth = 0;
};

std::vector<Visit> walk(const Trace &trace, OpId start, std::string_view direction, std::int64_t maxDepth)
{
    std::vector<bool> seen(trace.ops().size(), false);
    std::vector<Visit> order;
    std::deque<Visit> queue = {{start, 0}};
    seen[start.index()] = true;
    while (!queue.empty()) {
        const Visit at = queue.front();
        queue.pop_front();
        order.push_back(at);
        if (maxDepth >= 0 && at.depth >= maxDepth)
            continue;
        const auto follow = [&](std::span<const OpId> next) {
            for (const OpId op : next)
                if (!seen[op.index()]) {
                    seen[op.index()] = true;
                    queue.push_back({op, at.depth + 1});
                }
        };
        if (direction != "descendants")
            follow(trace.parents(at.op));
        if (direction != "ancestors")
            follow(trace.children(at.op));
    }
    return order;
}

ReportRow nodeRow(const Trace &trace, const Visit &visit)
{
    const OpRow &row = trace.op(visit.op);
    const bool tensor = row.tensor.isValid() && trace.tensor(row.tensor).shapeKnown;
    ReportRow out;
    out.op = visit.op;
    out.cells =
        rowCells(trace.label(visit.op), visit.depth, sourceLineValue(trace, visit.op),
                 tensor ? shapeValue(trace.shape(row.tensor)) : Value(),
                 row.tensor.isValid() ? Value(torchDTypeName(trace.tensor(row.tensor).dtype)) : Value());
    return out;
}

std::string keyText(const Value &key)
{
    return key.isInt() ? std::to_string(key.toInt()) : key.toString();
}

} // namespace

Result<Report> lineage(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    const std::string &direction = request.option("direction").toString();
    const Value &depth = request.option("max_depth");
    Report report = startReport("lineage", std::string(trace.subject()));
    report.table.columns = {{"op", CellKind::op, {}},
                            {"depth", CellKind::integer, {}},
                            {"source_line", CellKind::text, {}},
                            {"shape", CellKind::list, {}},
                            {"dtype", CellKind::text, {}}};
    std::string start = keyText(request.option("op_or_label"));
    std::string message;
    if (direction != "ancestors" && direction != "descendants" && direction != "both") {
        message =
            fmt::format("unavailable: direction must be ancestors, descendants or both, not '{}'", direction);
    } else if (const auto op = lookUpOp(trace, request.option("op_or_label")); !op) {
        message = "unavailable: " + op.error().message();
        if (!op.error().remedy().empty())
            message += "; " + op.error().remedy();
    } else {
        start = trace.label(*op);
        const std::vector<Visit> visits = walk(trace, *op, direction, depth.isNull() ? -1 : depth.toInt());
        report.table.rows.reserve(visits.size());
        for (const Visit &visit : visits)
            report.table.rows.push_back(nodeRow(trace, visit));
        message = fmt::format("{} node(s)", report.table.rows.size());
    }
    report.status = report.table.rows.empty() ? "unavailable" : "found";
    report.coverage = message;
    report.result = Value::object({{"start_label", start}, {"direction", direction}, {"message", message}});
    report.rowsMember = "nodes";
    return job.isCancelled() ? Result<Report>(job.checkpoint("lineage")) : Result<Report>(std::move(report));
}

} // namespace core
