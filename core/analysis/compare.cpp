// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/graph_reports.h"
#include "core/analysis/payload_reason.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/value_difference.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace core {
namespace {

struct Counts
{
    std::int64_t matched = 0;
    std::int64_t shapeMismatch = 0;
    std::int64_t onlyA = 0;
    std::int64_t onlyB = 0;
    std::int64_t diverged = 0;
    std::int64_t unavailable = 0;
};

class Comparison
{
public:
    Comparison(const ReportRequest &request, const JobContext &job)
        : m_a(*request.trace), m_b(*request.other),
          m_job(job), m_tolerance{request.option("rtol").toDouble(), request.option("atol").toDouble()}
    {
    }

    Status run()
    {
        const auto opsA = m_a.computeOps();
        const auto opsB = m_b.computeOps();
        m_rows.reserve(std::max(opsA.size(), opsB.size()));
        m_inA.assign(m_b.ops().size(), false);
        for (std::size_t i = 0; i < opsA.size(); ++i) {
            // Two runs of one model have the same op at the same place.
            const bool inStep = i < opsB.size() && m_b.label(opsB[i]) == m_a.label(opsA[i]);
            const OpId inB = inStep ? opsB[i] : labelledInB(m_a.label(opsA[i]));
            if (!inB.isValid()) {
                only(m_a, opsA[i], "only-a");
                ++m_counts.onlyA;
            } else {
                m_inA[inB.index()] = true;
                if (Status status = both(opsA[i], inB); !status)
                    return status;
            }
            m_job.report("comparing ops", i + 1, opsA.size());
        }
        for (const OpId op : opsB)
            if (!m_inA[op.index()]) {
                only(m_b, op, "only-b");
                ++m_counts.onlyB;
            }
        return Status::ok();
    }

    Report report(std::string subject)
    {
        Report report = startReport("compare", std::move(subject));
        report.isTabular = true;
        report.table.columns = {{"op", CellKind::op, {}},
                                {"status", CellKind::text, {}},
                                {"shape_match", CellKind::boolean, {}},
                                {"dtype_match", CellKind::boolean, {}},
                                {"max_abs", CellKind::number, {}},
                                {"mean_abs", CellKind::number, {}},
                                {"allclose", CellKind::boolean, {}},
                                {"reason", CellKind::text, {}}};
        report.table.rows = std::move(m_rows);
        report.findings = std::move(m_findings);
        report.attrs = Value::object(
            {{"matched", m_counts.matched},
             {"shape_mismatch", m_counts.shapeMismatch},
             {"only_a", m_counts.onlyA},
             {"only_b", m_counts.onlyB},
             {"value_diverged", m_counts.diverged},
             {"activation_unavailable", m_counts.unavailable},
             {"rtol", m_tolerance.relative},
             {"atol", m_tolerance.absolute},
             {"torchlens_capture_honesty",
              Value::object({{"trace_a", honestyValue(m_a)}, {"trace_b", honestyValue(m_b)}})}});
        report.found = !report.findings.empty();
        const std::int64_t compared = m_counts.matched + m_counts.diverged;
        report.status = report.found ? "diverged" : (compared > 0 ? "match" : "incomparable");
        report.coverage =
            fmt::format("{} rows compared, {} without comparable values", compared, m_counts.unavailable);
        for (const auto &[alignment, count] : m_alignments)
            report.coverage += fmt::format("; {} rows {}", count, alignment);
        return report;
    }

private:
    OpId labelledInB(std::string_view label)
    {
        if (m_byLabel.empty())
            for (const OpId op : m_b.computeOps())
                m_byLabel.emplace(m_b.label(op), op);
        const auto found = m_byLabel.find(label);
        return found == m_byLabel.end() ? OpId() : found->second;
    }

    void only(const Trace &trace, OpId op, std::string_view status)
    {
        ReportRow row;
        (&trace == &m_a ? row.op : row.otherOp) = op;
        row.cells = rowCells(trace.label(op), status, Value(), Value(), Value(), Value(), Value(), status);
        addFinding(row, fmt::format("{} is in {} only", trace.label(op), &trace == &m_a ? "a" : "b"));
        m_rows.push_back(std::move(row));
    }

    void addFinding(const ReportRow &row, std::string message)
    {
        ReportFinding finding;
        finding.severity = Severity::warning;
        finding.check = "compare";
        finding.message = std::move(message);
        if (row.op.isValid())
            finding.ops = {row.op};
        finding.opLabels = {row.cells[0].toString()};
        m_findings.push_back(std::move(finding));
    }

    Status both(OpId opA, OpId opB)
    {
        const TensorId a = m_a.op(opA).tensor;
        const TensorId b = m_b.op(opB).tensor;
        ReportRow row;
        row.op = opA;
        row.otherOp = opB;
        row.cells =
            rowCells(m_a.label(opA), "present-in-both", Value(), Value(), Value(), Value(), Value(), "");
        if (a.isValid() && b.isValid()) {
            const auto shapeA = m_a.shape(a);
            const auto shapeB = m_b.shape(b);
            row.cells[2] = std::equal(shapeA.begin(), shapeA.end(), shapeB.begin(), shapeB.end());
            row.cells[3] = m_a.tensor(a).dtype == m_b.tensor(b).dtype;
        }
        Status status = values(row, a, b);
        m_rows.push_back(std::move(row));
        return status;
    }

    Status values(ReportRow &row, TensorId a, TensorId b)
    {
        const std::string_view reasonA = payloadReason(m_a, a);
        const std::string_view reasonB = payloadReason(m_b, b);
        // Shapes are known without values: where they differ, the runs differ.
        const bool shapesDiffer = row.cells[2].isBool() && !row.cells[2].toBool();
        if (shapesDiffer) {
            row.cells[7] = "shape-mismatch";
            ++m_counts.shapeMismatch;
            addFinding(row, fmt::format("{}: shape {} against {}", row.cells[0].toString(),
                                        toJson(shapeValue(m_a.shape(a))), toJson(shapeValue(m_b.shape(b)))));
        }
        const bool unavailable = reasonA != "ok" || reasonB != "ok";
        if (unavailable)
            row.cells[7] = fmt::format("a={}; b={}", reasonA, reasonB);
        if (unavailable || shapesDiffer) {
            ++m_counts.unavailable;
            return Status::ok();
        }
        const auto difference = differenceOf(m_a, a, m_b, b, m_tolerance, m_job);
        if (!difference) {
            if (difference.error().code() == ErrorCode::cancelled)
                return difference.error();
            row.cells[7] = difference.error().message();
            ++m_counts.unavailable;
            return Status::ok();
        }
        row.cells[4] = difference->maxAbs;
        row.cells[5] = difference->meanAbs;
        row.cells[6] = difference->allClose;
        align(row, a, b);
        ++(difference->allClose ? m_counts.matched : m_counts.diverged);
        if (!difference->allClose)
            addFinding(row, fmt::format("{}: values differ by up to {}{}", row.cells[0].toString(),
                                        formatNumber(difference->maxAbs),
                                        row.op.isValid() ? whereText(m_a, row.op) : std::string()));
        return Status::ok();
    }

    void align(ReportRow &row, TensorId a, TensorId b)
    {
        std::string reason;
        const std::string_view deviceA = m_a.string(m_a.tensor(a).device);
        const std::string_view deviceB = m_b.string(m_b.tensor(b).device);
        if (deviceA != deviceB) {
            reason = fmt::format("compared on cpu (a: {}, b: {})", deviceA, deviceB);
            ++m_alignments["on cpu"];
        }
        const DType typeA = m_a.tensor(a).dtype;
        const DType typeB = m_b.tensor(b).dtype;
        if (typeA != typeB) {
            const std::string_view wide = dtypeName(promotedDType(typeA, typeB));
            reason += fmt::format("{}compared in {} (a: {}, b: {})", reason.empty() ? "" : "; ", wide,
                                  dtypeName(typeA), dtypeName(typeB));
            ++m_alignments["in " + std::string(wide)];
        }
        row.cells[7] = reason;
    }

    const Trace &m_a;
    const Trace &m_b;
    const JobContext &m_job;
    Tolerance m_tolerance;
    Counts m_counts;
    std::vector<ReportRow> m_rows;
    std::vector<ReportFinding> m_findings;
    std::map<std::string, std::int64_t> m_alignments;
    std::vector<bool> m_inA;                              // by op of b
    std::unordered_map<std::string_view, OpId> m_byLabel; // of b, made when the orders differ
};

Result<Report> compareAs(std::string_view name, const ReportRequest &request, const JobContext &job)
{
    const std::string subject = fmt::format("{} vs {}", request.trace->subject(), request.other->subject());
    for (const Trace *trace : {request.trace.get(), request.other.get()})
        if (trace->info().honesty.at("poisoned").toBool())
            return refusedReport(std::string(name), subject,
                                 {"CaptureError", "trace_poisoned",
                                  fmt::format("the values of {} are no record of its run", trace->subject()),
                                  "capture the model again"});
    Comparison comparison(request, job);
    if (Status status = comparison.run(); !status)
        return status;
    return comparison.report(subject);
}

} // namespace

Result<Report> compareTraces(const ReportRequest &request, const JobContext &job)
{
    return compareAs("compare", request, job);
}

Result<Report> firstDivergence(const ReportRequest &request, const JobContext &job)
{
    auto compared = compareAs("first_divergence", request, job);
    if (!compared || compared->error)
        return compared;
    Report report = std::move(*compared);
    report.reportType = "first_divergence";
    report.isTabular = false;
    report.result = Value();
    ReportTable table;
    table.columns = report.table.columns;
    for (std::size_t i = 0; i < report.table.rows.size() && table.rows.empty(); ++i) {
        const std::string &status = report.table.cell(i, "status").toString();
        const Value &shape = report.table.cell(i, "shape_match");
        const Value &close = report.table.cell(i, "allclose");
        const bool differs = status != "present-in-both" || (shape.isBool() && !shape.toBool()) ||
                             (close.isBool() && !close.toBool());
        if (!differs)
            continue;
        report.result = Value::object();
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            report.result.set(table.columns[c].name, report.table.rows[i].cells[c]);
        table.rows.push_back(report.table.rows[i]);
    }
    report.found = !table.rows.empty();
    if (report.findings.size() > 1)
        report.findings.erase(report.findings.begin() + 1, report.findings.end());
    report.table = std::move(table);
    return report;
}

} // namespace core
