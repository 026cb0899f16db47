// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_backward.h"

#include "core/analysis/backward_ledger.h"
#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/nonfinite_why.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

#include <optional>

namespace core {
namespace {

class Answers
{
public:
    Answers(const TraceStatistics &statistics, std::vector<GradientTransition> rows, std::string fault)
        : m_statistics(statistics), m_trace(statistics.trace()), m_rows(std::move(rows)),
          m_fault(std::move(fault))
    {
        pairLeaves();
        // A leaf keeps what arrives: nothing is healed there.
        for (GradientTransition &row : m_rows) {
            if (row.emitted.leaves > 0 || className(row) != "AccumulateGrad")
                continue;
            row.emitted = row.arriving;
            if (row.verdict == "healed")
                row.verdict = "propagated";
        }
    }

    std::string verdict() const
    {
        std::string verdict = m_fault.empty() ? "clean" : "root_seed";
        for (const GradientTransition &row : m_rows) {
            if (row.verdict == "birth")
                return "birth";
            if (row.verdict == "root_seed" || (verdict != "root_seed" && row.isBad()))
                verdict = row.verdict == "root_seed" ? "root_seed" : "propagated";
        }
        return verdict;
    }

    Value toValue() const
    {
        Value births = Value::list();
        Value healed = Value::list();
        Value fires = Value::list();
        Value firstInf;
        Value firstNan;
        Value nanBirth;
        for (const GradientTransition &row : m_rows) {
            if (row.verdict == "birth")
                births.append(entry(row));
            if (row.verdict == "healed")
                healed.append(fire(row));
            if (firstInf.isNull() && hasInf(row.emitted.kind))
                firstInf = entry(row);
            if (firstNan.isNull() && hasNan(row.emitted.kind))
                firstNan = entry(row);
            if (nanBirth.isNull() && hasNan(row.emitted.kind) && !hasNan(row.arriving.kind))
                nanBirth = entry(row);
            fires.append(fire(row));
        }
        return Value::object({{"verdict", verdict()},
                              {"root_seed", m_fault.empty() ? Value() : Value(m_fault)},
                              {"births", std::move(births)},
                              {"healed", std::move(healed)},
                              {"first_inf", std::move(firstInf)},
                              {"first_nan", std::move(firstNan)},
                              {"nan_birth", std::move(nanBirth)},
                              {"fires", std::move(fires)}});
    }

    void addFindings(Report &report) const
    {
        if (!m_fault.empty() || verdict() == "root_seed") {
            ReportFinding finding;
            finding.severity = Severity::critical;
            finding.check = "nonfinite_origin";
            finding.code = "backward_root_seed";
            finding.message =
                m_fault.empty() ? "the backward pass starts from a gradient that is not finite" : m_fault;
            finding.followUp = "bisect_nan_backward";
            report.findings.push_back(std::move(finding));
        }
        for (const GradientTransition &row : m_rows) {
            if (row.verdict != "birth")
                continue;
            ReportFinding finding;
            finding.severity = Severity::critical;
            finding.check = "nonfinite_origin";
            finding.code = "backward_birth";
            finding.message =
                fmt::format("the backward of {}{} ({}) emits {} of {} gradient values that are not finite",
                            row.opLabel.isNull() ? "the loss" : row.opLabel.toString(),
                            row.op.isValid() ? whereText(m_trace, row.op) : std::string(), className(row),
                            row.emitted.counts.nonFinite(), row.emitted.counts.elements);
            if (row.op.isValid())
                finding.ops = {row.op};
            if (!row.opLabel.isNull())
                finding.opLabels = {row.opLabel.toString()};
            if (!row.module.isNull())
                finding.modules = {row.module.toString()};
            finding.followUp = "bisect_nan_backward";
            report.findings.push_back(std::move(finding));
        }
    }

private:
    // A leaf collects for the op that used it first: that of the earliest node that leads there.
    void pairLeaves()
    {
        std::vector<CallId> first(m_trace.gradNodes().size());
        for (std::size_t i = 0; i < first.size(); ++i) {
            const CallId by = m_trace.gradNodes()[i].call;
            for (const GradEdgeRow &edge : m_trace.nextEdges(GradNodeId(i)))
                if (CallId &call = first[edge.node.index()];
                    by.isValid() && (!call.isValid() || by.index() < call.index()))
                    call = by;
        }
        for (GradientTransition &row : m_rows)
            if (!row.op.isValid() && row.node.isValid() && first[row.node.index()].isValid())
                if (const Range rows = m_trace.call(first[row.node.index()]).rows; rows.count > 0)
                    row.op = OpId(rows.begin);
    }

    std::string className(const GradientTransition &row) const
    {
        return row.node.isValid() ? std::string(m_trace.string(m_trace.gradNode(row.node).className)) : "?";
    }

    Value fire(const GradientTransition &row) const
    {
        const bool paired = row.op.isValid();
        Value value = Value::object({{"fire", row.fire - 1},
                                     {"node", className(row)},
                                     {"verdict", row.verdict},
                                     {"arriving", nonFiniteKindName(row.arriving.kind)},
                                     {"emitted", nonFiniteKindName(row.emitted.kind)},
                                     {"op_label", row.opLabel},
                                     {"module", paired ? Value(m_trace.moduleAddress(row.op)) : Value("")}});
        const GradNodeRow *node = row.node.isValid() ? &m_trace.gradNode(row.node) : nullptr;
        value.set("func", paired ? m_trace.string(m_trace.callOf(row.op).func) : "loss");
        if (node != nullptr && node->parameter.isValid())
            value.set("variable", m_trace.string(node->parameter));
        return value;
    }

    Value entry(const GradientTransition &row) const
    {
        Value value = fire(row);
        value.set("source", row.op.isValid() ? sourceObject(m_trace, row.op) : Value());
        value.set("emitted_counts", Value::object({{"nan", row.emitted.counts.nan},
                                                   {"pinf", row.emitted.counts.posInf},
                                                   {"ninf", row.emitted.counts.negInf},
                                                   {"elements", row.emitted.counts.elements}}));
        value.set("why", backwardWhy(row, m_statistics));
        return value;
    }

    const TraceStatistics &m_statistics;
    const Trace &m_trace;
    std::vector<GradientTransition> m_rows;
    std::string m_fault; // of the loss or the seed (rootFault())
};

} // namespace

Result<Value> backwardAnswers(TraceStatistics &statistics, Report &report, const JobContext &job)
{
    const Trace &trace = statistics.trace();
    if (trace.backwards().empty()) {
        Value value = Answers(statistics, {}, {}).toValue();
        value.set("verdict", "not_run");
        return value;
    }
    Value passes = Value::list();
    std::optional<Answers> shown;
    Value index;
    for (std::size_t i = 0; i < trace.backwards().size(); ++i) {
        auto rows = backwardTransitions(statistics, BackwardId(i), job);
        if (!rows)
            return rows.error();
        Answers answers(statistics, *std::move(rows), rootFault(trace, BackwardId(i)));
        passes.append(
            Value::object({{"backward_pass", trace.backwards()[i].index}, {"verdict", answers.verdict()}}));
        if (!shown || (shown->verdict() == "clean" && answers.verdict() != "clean")) {
            shown.emplace(std::move(answers));
            index = trace.backwards()[i].index;
        }
    }
    shown->addFindings(report);
    Value value = shown->toValue();
    value.set("backward_pass", std::move(index));
    value.set("passes", std::move(passes));
    return value;
}

} // namespace core
