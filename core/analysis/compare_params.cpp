// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/parameter_reports.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/value_difference.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace core {
namespace {

struct Pair
{
    const ParamRow *a = nullptr;
    const ParamRow *b = nullptr;
};

struct Counts
{
    std::int64_t matched = 0;
    std::int64_t diverged = 0;
    std::int64_t shapeMismatch = 0;
    std::int64_t onlyA = 0;
    std::int64_t onlyB = 0;
    std::int64_t incomparable = 0;
};

std::string_view incomparableReason(const Trace &trace, TensorId tensor)
{
    if (!tensor.isValid())
        return "not-a-tensor";
    const TensorRow &row = trace.tensor(tensor);
    switch (row.payload.state) {
    case PayloadState::saved:
        return isQuantized(row.dtype) ? "quantized" : "";
    case PayloadState::meta:
        return "meta-tensor-has-no-data";
    case PayloadState::sparse:
        return "sparse";
    case PayloadState::quantized:
        return "quantized";
    default:
        return "unsaved";
    }
}

class Weights
{
public:
    Weights(const ReportRequest &request, const JobContext &job)
        : m_a(*request.trace), m_b(*request.other),
          m_job(job), m_tolerance{request.option("rtol").toDouble(), request.option("atol").toDouble(), true}
    {
    }

    Result<Report> run(bool includeBuffers)
    {
        std::map<std::string, Pair> pairs;
        collect(m_a, includeBuffers, pairs, &Pair::a);
        collect(m_b, includeBuffers, pairs, &Pair::b);
        for (const auto &[name, pair] : pairs)
            if (Status status = add(name, pair); !status)
                return status;
        return report();
    }

private:
    static void collect(const Trace &trace, bool includeBuffers, std::map<std::string, Pair> &pairs,
                        const ParamRow *Pair::*side)
    {
        const bool mapping = isTensorFile(trace);
        for (const ParamRow &row : trace.params())
            if (mapping || includeBuffers || !row.isBuffer)
                pairs[std::string(trace.string(row.address))].*side = &row;
    }

    std::string kindOf(const Pair &pair) const
    {
        const auto word = [](const ParamRow *row) {
            return std::string(row->isBuffer ? "buffer" : "parameter");
        };
        if (pair.a == nullptr || pair.b == nullptr)
            return word(pair.a != nullptr ? pair.a : pair.b);
        return pair.a->isBuffer == pair.b->isBuffer ? word(pair.a) : word(pair.a) + "/" + word(pair.b);
    }

    Status add(const std::string &name, const Pair &pair)
    {
        ReportRow row;
        row.cells = {name, kindOf(pair), "present-in-both", {}, {}, {}, {}, {}, ""};
        Status status;
        if (pair.a == nullptr || pair.b == nullptr) {
            const std::string word = pair.a != nullptr ? "only-a" : "only-b";
            row.cells[2] = word;
            row.cells[8] = word;
            ++(pair.a != nullptr ? m_counts.onlyA : m_counts.onlyB);
            addFinding(name, fmt::format("{} is in {} only", name, pair.a != nullptr ? "a" : "b"));
        } else {
            status = compare(row, name, pair.a->tensor, pair.b->tensor);
        }
        m_rows.push_back(std::move(row));
        return status;
    }

    Status compare(ReportRow &row, const std::string &name, TensorId a, TensorId b)
    {
        if (a.isValid() && b.isValid()) {
            const auto shapeA = m_a.shape(a);
            const auto shapeB = m_b.shape(b);
            const bool shape = std::equal(shapeA.begin(), shapeA.end(), shapeB.begin(), shapeB.end());
            const bool dtype = m_a.tensor(a).dtype == m_b.tensor(b).dtype;
            row.cells[3] = shape;
            row.cells[4] = dtype;
            if (!shape || !dtype) {
                row.cells[8] = "shape-or-dtype-mismatch";
                ++m_counts.shapeMismatch;
                addFinding(name, fmt::format("{}: {} {} against {} {}", name, dtypeName(m_a.tensor(a).dtype),
                                             toJson(shapeValue(shapeA)), dtypeName(m_b.tensor(b).dtype),
                                             toJson(shapeValue(shapeB))));
                return Status::ok();
            }
        }
        std::string_view reason = incomparableReason(m_a, a);
        if (reason.empty())
            reason = incomparableReason(m_b, b);
        if (!reason.empty()) {
            row.cells[8] = reason;
            ++m_counts.incomparable;
            return Status::ok();
        }
        const auto difference = differenceOf(m_a, a, m_b, b, m_tolerance, m_job);
        if (!difference)
            return difference.error();
        row.cells[5] = difference->maxAbs;
        row.cells[6] = difference->meanAbs;
        row.cells[7] = difference->allClose;
        ++(difference->allClose ? m_counts.matched : m_counts.diverged);
        if (!difference->allClose)
            addFinding(name,
                       fmt::format("{}: values differ by up to {}", name, formatNumber(difference->maxAbs)));
        return Status::ok();
    }

    void addFinding(const std::string &name, std::string message)
    {
        ReportFinding finding;
        finding.severity = Severity::warning;
        finding.check = "compare_params";
        finding.message = std::move(message);
        finding.opLabels = {name};
        m_findings.push_back(std::move(finding));
    }

    Report report()
    {
        Report report = startReport("compare_params", fmt::format("{} vs {}", m_a.subject(), m_b.subject()));
        report.isTabular = true;
        report.table.columns = {
            {"name", CellKind::text, {}},           {"kind", CellKind::text, {}},
            {"status", CellKind::text, {}},         {"shape_match", CellKind::boolean, {}},
            {"dtype_match", CellKind::boolean, {}}, {"max_abs", CellKind::number, {}},
            {"mean_abs", CellKind::number, {}},     {"allclose", CellKind::boolean, {}},
            {"reason", CellKind::text, {}}};
        report.table.rows = std::move(m_rows);
        report.findings = std::move(m_findings);
        report.found = !report.findings.empty();
        report.attrs = Value::object({{"matched", m_counts.matched},
                                      {"value_diverged", m_counts.diverged},
                                      {"shape_mismatch", m_counts.shapeMismatch},
                                      {"only_a", m_counts.onlyA},
                                      {"only_b", m_counts.onlyB},
                                      {"incomparable", m_counts.incomparable}});
        const std::int64_t compared = m_counts.matched + m_counts.diverged;
        report.status = report.found ? "diverged" : (compared > 0 ? "match" : "incomparable");
        report.coverage =
            fmt::format("{} tensors compared, {} incomparable", compared, m_counts.incomparable);
        return report;
    }

    const Trace &m_a;
    const Trace &m_b;
    const JobContext &m_job;
    Tolerance m_tolerance;
    Counts m_counts;
    std::vector<ReportRow> m_rows;
    std::vector<ReportFinding> m_findings;
};

} // namespace

Result<Report> compareParams(const ReportRequest &request, const JobContext &job)
{
    return Weights(request, job).run(request.option("include_buffers").toBool());
}

} // namespace core
