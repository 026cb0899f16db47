// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/gradient_reports.h"
#include "core/analysis/graph_reports.h"
#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/report_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace core {
namespace {

class HealthCheck
{
public:
    HealthCheck(const ReportRequest &request, const JobContext &job)
        : m_request(request), m_job(job), m_trace(*request.trace)
    {
    }

    Result<Report> run()
    {
        skip("compare", "needs a second trace");
        skip("lineage", "needs a start operation");
        skip("guess_input_shape", "needs a model and a fresh execution");
        Status status = m_trace.info().status == TraceStatus::failed ||
                                m_trace.info().status == TraceStatus::crashed ||
                                m_trace.info().status == TraceStatus::stoppedAtNonFinite
                            ? partial()
                            : complete();
        if (!status)
            return status;
        return report();
    }

private:
    void skip(std::string check, std::string reason)
    {
        m_skipped.emplace_back(std::move(check), std::move(reason));
    }

    Result<Report> ask(std::string_view name)
    {
        ReportRequest request = m_request;
        request.options = Value::object();
        return runReport(*findReport(name), request, m_job);
    }

    Status nonFinite()
    {
        auto scan = scanNonFinite(*m_request.statistics, m_job);
        if (!scan)
            return scan.error();
        m_scan = std::move(*scan);
        const SavedFinding found = findSavedNonFinite(*m_request.statistics);
        m_checksRun.emplace_back("find_nan");
        if (found.op.isValid()) {
            m_remembered = found.op;
            addOp(severityOf(found.tensor), "find_nan", found.message, found.op, "find_nan");
        }
        return Status::ok();
    }

    // By-design masks are notes of own captures, never faults.
    Severity severityOf(TensorId tensor) const
    {
        return m_scan.byDesign[tensor.index()] ? Severity::info : Severity::critical;
    }

    Status partial()
    {
        const TraceFailure &failure = m_trace.info().failure;
        // A helper's run that did what it was asked to is no fault; what stopped it is a finding of its own.
        const bool isAsked = m_trace.info().source == TraceSource::own &&
                             m_trace.info().status == TraceStatus::stoppedAtNonFinite;
        m_checksRun.emplace_back("partial_capture_exception");
        ReportFinding finding;
        finding.severity = isAsked ? Severity::info : Severity::critical;
        finding.check = "partial_capture_exception";
        finding.message = isAsked ? "the run was stopped at the first value that is not finite, as was asked"
                          : failure.message.empty() ? "the run ended early"
                                                    : failure.message;
        if (!failure.signal.empty())
            finding.message += " (" + failure.signal + ")";
        if (!failure.label.empty())
            finding.opLabels = {failure.label};
        if (failure.call != 0xffffffffU && failure.call < m_trace.calls().size() &&
            m_trace.call(CallId(failure.call)).rows.count > 0) {
            const OpId op(m_trace.call(CallId(failure.call)).rows.begin);
            finding.ops = {op};
            for (const ModuleCallId call : m_trace.moduleChain(op))
                finding.modules.emplace_back(m_trace.string(m_trace.moduleCall(call).label));
        }
        m_findings.push_back(std::move(finding));
        if (Status status = nonFinite(); !status)
            return status;
        for (const std::string_view check :
             {"bisect_nan", "dead_neurons", "dtype_range", "grad_health", "hot_path", "recompute_candidates"})
            skip(std::string(check), "the run did not finish, so there is no complete trace to judge");
        return Status::ok();
    }

    Status complete()
    {
        if (Status status = nonFinite(); !status)
            return status;
        if (Status status = bisect(); !status)
            return status;
        skip("dead_neurons",
             "one trace is too small a sample for a verdict; run dead_neurons over several batches");
        if (Status status = range(); !status)
            return status;
        if (Status status = gradients(); !status)
            return status;
        skip("hot_path", "a ranking, not a health check");
        skip("recompute_candidates", "a ranking, not a health check");
        return Status::ok();
    }

    Status bisect()
    {
        for (const OpId op : m_trace.computeOps())
            if (isUnexamined(*m_request.statistics, op)) {
                skip("bisect_nan", "not every compute op has its values in the trace");
                return Status::ok();
            }
        m_checksRun.emplace_back("bisect_nan");
        const auto result = ask("bisect_nan");
        if (!result)
            return result.error();
        const OpId op = m_trace.findLabel(result->result.at("op").toString());
        if (op.isValid() && op != m_remembered)
            addOp(severityOf(m_trace.op(op).tensor), "bisect_nan", result->result.at("message").toString(),
                  op, "bisect_nan");
        return Status::ok();
    }

    Status range()
    {
        m_checksRun.emplace_back("dtype_range");
        auto result = ask("dtype_range");
        if (!result)
            return result.error();
        for (ReportFinding &finding : result->findings) {
            const OpId op = finding.ops.front();
            if (finding.check == "dtype_nonfinite") {
                if (op == m_remembered)
                    continue;
                finding.severity = severityOf(m_trace.op(op).tensor);
            }
            m_findings.push_back(std::move(finding));
        }
        return Status::ok();
    }

    Status gradients()
    {
        const std::size_t passes = m_trace.backwards().size();
        if (passes == 0) {
            skip("grad_health", "forward-only trace: no backward pass was captured");
            return Status::ok();
        }
        const std::string direct =
            fmt::format("{} backward passes were captured; select one with bwd=", passes);
        if (passes > 1) {
            skip("grad_health", direct);
            skip("bisect_nan_backward", direct);
            return Status::ok();
        }
        skip("bisect_nan_backward", "not a check of the audit; run bisect_nan_backward on this trace");
        if (m_trace.gradients().empty()) {
            skip("grad_health", "no gradients of ops were saved");
            return Status::ok();
        }
        m_checksRun.emplace_back("grad_health");
        const auto result = ask("grad_health");
        if (!result)
            return result.error();
        for (std::size_t i = 0; i < result->table.rows.size(); ++i) {
            const ReportTable &table = result->table;
            if (table.cell(i, "severity").toInt() <= 0)
                continue;
            const bool exploding = table.cell(i, "exploding").toBool();
            std::string message = table.cell(i, "reason").toString();
            if (message.empty())
                message = exploding
                              ? "exploding gradient"
                              : (table.cell(i, "dead").toBool() ? "zero gradient" : "vanishing gradient");
            ReportFinding finding;
            finding.severity = exploding ? Severity::critical : Severity::warning;
            finding.check = "grad_health";
            finding.message = table.cell(i, "op").toString() + ": " + message;
            finding.ops = {table.rows[i].op};
            finding.opLabels = {table.cell(i, "op").toString()};
            finding.followUp = "grad_health";
            m_findings.push_back(std::move(finding));
        }
        return Status::ok();
    }

    void addOp(Severity severity, std::string check, std::string message, OpId op, std::string followUp)
    {
        ReportFinding finding;
        finding.severity = severity;
        finding.check = std::move(check);
        finding.message = std::move(message);
        finding.ops = {op};
        finding.opLabels = {std::string(m_trace.publicLabel(op))};
        if (const Value module = moduleValue(m_trace, op); !module.isNull())
            finding.modules = {module.toString()};
        finding.followUp = std::move(followUp);
        m_findings.push_back(std::move(finding));
    }

    // By severity, check and op. Places are sorted, since a finding is too large to be moved about.
    void sortFindings()
    {
        std::vector<std::uint32_t> places(m_findings.size());
        std::iota(places.begin(), places.end(), 0U);
        std::stable_sort(places.begin(), places.end(), [this](std::uint32_t i, std::uint32_t k) {
            const ReportFinding &a = m_findings[i];
            const ReportFinding &b = m_findings[k];
            return std::tie(a.severity, a.check, a.opLabels) < std::tie(b.severity, b.check, b.opLabels);
        });
        std::vector<ReportFinding> sorted;
        sorted.reserve(m_findings.size());
        for (const std::uint32_t place : places)
            sorted.push_back(std::move(m_findings[place]));
        m_findings = std::move(sorted);
    }

    Report report()
    {
        sortFindings();
        Report report = startReport("audit", std::string(m_trace.subject()));
        for (const ReportFinding &finding : m_findings)
            report.found = report.found || finding.severity != Severity::info;
        Value skipped = Value::list();
        for (const auto &[check, reason] : m_skipped)
            skipped.append(Value::list({check, reason}));
        report.findings = std::move(m_findings);
        report.status = report.found ? "findings" : m_checksRun.empty() ? "incomplete" : "ok";
        report.coverage = fmt::format("{} checks run, {} skipped", m_checksRun.size(), m_skipped.size());
        report.findingsMember = "findings";
        report.result =
            Value::object({{"checks_run", labelList(m_checksRun)}, {"skipped", std::move(skipped)}});
        return report;
    }

    const ReportRequest &m_request;
    const JobContext &m_job;
    const Trace &m_trace;
    NonFiniteScan m_scan;
    OpId m_remembered;
    std::vector<ReportFinding> m_findings;
    std::vector<std::string> m_checksRun;
    std::vector<std::pair<std::string, std::string>> m_skipped;
};

} // namespace

Result<Report> audit(const ReportRequest &request, const JobContext &job)
{
    return HealthCheck(request, job).run();
}

} // namespace core
