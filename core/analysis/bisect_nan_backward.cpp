// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/backward_ledger.h"
#include "core/analysis/gradient_reports.h"
#include "core/analysis/nonfinite_words.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

namespace core {
namespace {

class Ledger
{
public:
    Ledger(const ReportRequest &request, std::optional<double> scale)
        : m_trace(*request.trace), m_statistics(*request.statistics), m_scale(scale)
    {
    }

    Result<Report> run(BackwardId pass, std::int64_t passIndex, const JobContext &job)
    {
        auto rows = backwardTransitions(m_statistics, pass, job);
        if (!rows)
            return rows.error();
        m_rows = *std::move(rows);
        m_fault = rootFault(m_trace, pass);
        return report(passIndex);
    }

private:
    std::string nodeLabel(const GradientTransition &row) const
    {
        if (!row.node.isValid())
            return "unknown";
        const GradNodeRow &node = m_trace.gradNode(row.node);
        const std::string_view label = m_trace.string(node.label);
        return label.empty() ? fmt::format("{}_{}", m_trace.string(node.className), row.node.value())
                             : std::string(label);
    }

    static std::string kindOf(const GradientSide &side, const GradientTransition &row)
    {
        return row.arriving.leaves + row.emitted.leaves == 0 ? "unchecked"
                                                             : std::string(nonFiniteKindName(side.kind));
    }

    std::vector<Value> cells(const GradientTransition &row) const
    {
        return {row.fire,
                nodeLabel(row),
                row.node.isValid() ? Value(m_trace.string(m_trace.gradNode(row.node).className)) : Value(),
                row.opLabel,
                row.module,
                row.sourceLine,
                row.verdict,
                kindOf(row.arriving, row),
                kindOf(row.emitted, row),
                row.checked(),
                row.unchecked()};
    }

    Value object(const ReportTable &table, const GradientTransition &row) const
    {
        Value value = Value::object();
        const std::vector<Value> values = cells(row);
        for (std::size_t i = 0; i < values.size(); ++i)
            value.set(table.columns[i].name, values[i]);
        return value;
    }

    const GradientTransition *find(std::initializer_list<std::string_view> verdicts) const
    {
        for (const GradientTransition &row : m_rows)
            for (const std::string_view verdict : verdicts)
                if (row.verdict == verdict)
                    return &row;
        return nullptr;
    }

    Value ampHint() const
    {
        if (m_scale)
            return {};
        for (const GradientTransition &row : m_rows)
            for (const GradientSide &side : {row.arriving, row.emitted})
                if (side.kind != NonFiniteKind::none)
                    return side.kind == NonFiniteKind::inf ? Value(ampHintText(true)) : Value();
        return {};
    }

    FirstBadThing firstBadThing(const GradientTransition *headline, std::int64_t pass,
                                const std::string &scope, const std::vector<std::string> &zone) const
    {
        FirstBadThing first;
        first.tool = "bisect_nan_backward";
        first.found = headline != nullptr || !m_fault.empty();
        first.detectionBasis = "saved_gradients";
        first.backwardPass = pass;
        first.uncertaintyZone = zone;
        first.labelStatus = headline != nullptr && !headline->opLabel.isNull() ? "final" : "unavailable";
        first.coverage = scope.ends_with("complete")
                             ? "complete"
                             : (headline != nullptr ? "found_first_among_checked" : "partial");
        if (headline == nullptr)
            return first;
        first.kind = nonFiniteKindName(
            headline->emitted.kind != NonFiniteKind::none ? headline->emitted.kind : headline->arriving.kind);
        first.label = headline->opLabel;
        first.module = headline->module;
        first.sourceLine = headline->sourceLine;
        return first;
    }

    std::string messageOf(const GradientTransition *headline, std::int64_t pass,
                          std::int64_t uncheckedCalls) const
    {
        if (!m_fault.empty() && (headline == nullptr || headline->verdict == "root_seed"))
            return m_fault;
        if (headline == nullptr)
            return fmt::format(
                "no non-finite gradient in backward pass {}{}", pass,
                uncheckedCalls == 0
                    ? std::string()
                    : fmt::format(" among those checked; {} of {} firings have no gradients saved",
                                  uncheckedCalls, m_rows.size()));
        const std::string what =
            headline->verdict == "birth"
                ? fmt::format("{} is born in the backward of", nonFiniteKindWords(headline->emitted.kind))
                : fmt::format("the first non-finite gradient seen ({}) is at", headline->verdict);
        return fmt::format("{} {}{}{}", what,
                           headline->opLabel.isNull() ? nodeLabel(*headline) : headline->opLabel.toString(),
                           headline->sourceLine.isNull() ? "" : " at " + headline->sourceLine.toString(),
                           headline->module.isNull() ? "" : " in " + headline->module.toString());
    }

    Result<Report> report(std::int64_t pass)
    {
        Report report = startReport("bisect_nan_backward", std::string(m_trace.subject()));
        report.table.columns = {{"fire_index", CellKind::integer, {}},
                                {"grad_fn_label", CellKind::text, {}},
                                {"grad_fn_class", CellKind::text, {}},
                                {"op_label", CellKind::op, {}},
                                {"module", CellKind::text, {}},
                                {"source_line", CellKind::text, {}},
                                {"verdict", CellKind::text, {}},
                                {"arriving", CellKind::text, {}},
                                {"emitted", CellKind::text, {}},
                                {"checked_leaves", CellKind::integer, {}},
                                {"unchecked_leaves", CellKind::integer, {}}};
        const GradientTransition *birth = find({"birth"});
        std::int64_t uncheckedCalls = 0;
        bool uncheckedBefore = false;
        bool found = !m_fault.empty();
        bool afterBirth = false;
        Value transitions = Value::list();
        std::vector<std::string> healed;
        std::vector<std::string> zone;
        for (const GradientTransition &row : m_rows) {
            const bool open = row.verdict == "unchecked" && row.checked() == 0;
            uncheckedCalls += open ? 1 : 0;
            afterBirth = afterBirth || &row == birth;
            if (open || row.unchecked() > 0) {
                zone.push_back(nodeLabel(row));
                uncheckedBefore = uncheckedBefore || !afterBirth;
            }
            found = found || row.isBad();
            if (row.verdict == "healed")
                healed.push_back(nodeLabel(row));
            transitions.append(object(report.table, row));
            report.table.rows.push_back({cells(row), row.op, {}});
        }
        const std::string scope = found ? (uncheckedBefore ? "found_first_among_checked" : "complete")
                                        : (uncheckedCalls == 0 ? "clean_complete" : "clean_among_checked");
        const GradientTransition *headline =
            birth != nullptr ? birth : find({"root_seed", "propagated", "healed"});
        const std::string message = messageOf(headline, pass, uncheckedCalls);
        FirstBadThing first = firstBadThing(headline, pass, scope, zone);
        first.message = message;
        report.result =
            Value::object({{"found", found},
                           {"birth", birth == nullptr ? Value() : object(report.table, *birth)},
                           {"verdict_scope", scope},
                           {"transitions", std::move(transitions)},
                           {"healed", labelList(healed)},
                           {"backward_pass", pass},
                           {"checked_calls", static_cast<std::int64_t>(m_rows.size()) - uncheckedCalls},
                           {"unchecked_calls", uncheckedCalls},
                           {"uncertainty_zone", labelList(zone)},
                           {"grad_scale", m_scale ? Value(*m_scale) : Value()},
                           {"amp_hint", found ? ampHint() : Value()},
                           {"message", message},
                           {"first_bad_thing", first.toValue()}});
        if (headline != nullptr || !m_fault.empty())
            addFinding(report, headline, message);
        report.found = found;
        report.status = found ? "found" : (uncheckedCalls == 0 ? "clean" : "clean_among_checked");
        report.coverage =
            fmt::format("backward pass {}: {} of {} firings checked", pass,
                        m_rows.size() - static_cast<std::size_t>(uncheckedCalls), m_rows.size());
        return report;
    }

    void addFinding(Report &report, const GradientTransition *headline, const std::string &message) const
    {
        ReportFinding finding;
        finding.severity = Severity::critical;
        finding.check = "bisect_nan_backward";
        finding.code = headline == nullptr ? "root_seed" : headline->verdict;
        finding.message = message;
        if (headline != nullptr && headline->op.isValid())
            finding.ops = {headline->op};
        if (headline != nullptr && !headline->opLabel.isNull())
            finding.opLabels = {headline->opLabel.toString()};
        if (headline != nullptr && !headline->module.isNull())
            finding.modules = {headline->module.toString()};
        finding.followUp = "grad_health";
        report.findings.push_back(std::move(finding));
    }

    const Trace &m_trace;
    TraceStatistics &m_statistics;
    std::optional<double> m_scale;
    std::vector<GradientTransition> m_rows;
    std::string m_fault; // of the loss or the seed
};

} // namespace

Result<Report> bisectNanBackward(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    const std::string subject(trace.subject());
    const auto refuse = [&](std::string code, std::string message, std::string remedy) {
        return refusedReport("bisect_nan_backward", subject,
                             invalidArgument(std::move(code), std::move(message), std::move(remedy)));
    };
    const auto scale = positiveScale(request.option("grad_scale"), "grad_scale");
    if (!scale)
        return refuse(scale.error().detail(), scale.error().message(), scale.error().remedy());
    const Value &bwd = request.option("bwd");
    const auto passes = trace.backwards();
    if (passes.empty())
        return refuse("backward_capture_required", fmt::format("{} holds no backward pass", subject),
                      "capture backward-ready with gradients saved and run the backward pass");
    if (bwd.isNull() && passes.size() > 1)
        return refuse("bwd_selector_required",
                      fmt::format("{} holds {} backward passes", subject, passes.size()),
                      "select one with bwd=");
    std::vector<std::string> captured;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        if (bwd.isNull() || bwd.toInt() == static_cast<std::int64_t>(passes[i].index))
            return Ledger(request, *scale ? *scale : recordedLossScale(trace, BackwardId(i)))
                .run(BackwardId(i), passes[i].index, job);
        captured.push_back(std::to_string(passes[i].index));
    }
    return refuse(
        "bwd_selector_unknown",
        fmt::format("backward pass {} was not captured (captured: {})", bwd.toInt(), joined(captured)),
        "pass one of the captured passes");
}

} // namespace core
