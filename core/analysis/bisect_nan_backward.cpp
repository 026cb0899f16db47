// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/gradient_reports.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

namespace core {
namespace {

// The gradients on one side of a firing.
struct Side
{
    NonFiniteKind kind = NonFiniteKind::none;
    std::int64_t leaves = 0;
    std::int64_t unchecked = 0;
};

struct Transition
{
    std::int64_t fire = 0; // 1-based
    GradNodeId node;
    OpId op; // the paired forward op, its first pass where the pass is not known
    Value opLabel;
    Value module;
    Value sourceLine;
    std::string verdict;
    Side arriving;
    Side emitted;

    std::int64_t checked() const
    {
        return arriving.leaves + emitted.leaves - arriving.unchecked - emitted.unchecked;
    }
    std::int64_t unchecked() const { return arriving.unchecked + emitted.unchecked; }
    bool isBad() const { return arriving.kind != NonFiniteKind::none || emitted.kind != NonFiniteKind::none; }
};

class Ledger
{
public:
    Ledger(const ReportRequest &request, std::optional<double> scale)
        : m_trace(*request.trace), m_statistics(*request.statistics), m_scale(scale)
    {
        for (std::size_t i = 0; i < m_trace.ops().size(); ++i)
            m_byLayer[m_trace.op(OpId(i)).layerLabel].emplace_back(i);
    }

    Result<Report> run(BackwardId pass, std::int64_t passIndex, const JobContext &job)
    {
        std::vector<TensorId> gradients;
        for (const GradFireRow &fire : m_trace.gradFires())
            if (fire.backward == pass)
                for (const Range range : {fire.arriving, fire.emitted})
                    for (const TensorId tensor : m_trace.tensorIds(range))
                        gradients.push_back(tensor);
        if (Status status = m_statistics.prepare(gradients, job); !status)
            return status;
        for (const GradFireRow &fire : m_trace.gradFires())
            if (fire.backward == pass)
                m_rows.push_back(transition(fire));
        return report(passIndex);
    }

private:
    Side side(Range tensors) const
    {
        Side side;
        bool nan = false;
        bool inf = false;
        for (const TensorId tensor : m_trace.tensorIds(tensors)) {
            if (!tensor.isValid())
                continue;
            ++side.leaves;
            const TensorStats *stats = m_statistics.find(tensor);
            if (stats == nullptr) {
                ++side.unchecked;
                continue;
            }
            nan = nan || hasNan(nonFiniteKind(*stats));
            inf = inf || hasInf(nonFiniteKind(*stats));
        }
        side.kind = nan ? (inf ? NonFiniteKind::nanAndInf : NonFiniteKind::nan)
                        : (inf ? NonFiniteKind::inf : NonFiniteKind::none);
        return side;
    }

    // The forward op of a node. A bundle names a layer; of several passes only what they share is told.
    void pair(Transition &row) const
    {
        const GradNodeRow &node = m_trace.gradNode(row.node);
        std::vector<OpId> passes;
        if (node.opLabel.isValid()) {
            row.opLabel = m_trace.string(node.opLabel);
            if (const auto found = m_byLayer.find(node.opLabel); found != m_byLayer.end())
                passes = found->second;
            else if (const OpId op = m_trace.findLabel(m_trace.string(node.opLabel)); op.isValid())
                passes = {op};
        } else if (node.call.isValid() && m_trace.call(node.call).rows.count > 0) {
            passes = {OpId(m_trace.call(node.call).rows.begin)};
            row.opLabel = m_trace.publicLabel(passes[0]);
        }
        if (passes.empty()) {
            if (const std::string_view module = m_trace.string(node.module); !module.empty())
                row.module = module;
            return;
        }
        row.op = passes.front();
        row.module = moduleValue(m_trace, row.op);
        row.sourceLine = sourceLineValue(m_trace, row.op);
        for (const OpId op : passes)
            if (sourceLineValue(m_trace, op) != row.sourceLine)
                row.sourceLine = Value();
    }

    Transition transition(const GradFireRow &fire) const
    {
        Transition row;
        row.fire = static_cast<std::int64_t>(m_rows.size()) + 1;
        row.node = fire.node;
        if (row.node.isValid())
            pair(row);
        row.arriving = side(fire.arriving);
        row.emitted = side(fire.emitted);
        const bool arrivingBad = row.arriving.kind != NonFiniteKind::none;
        const bool emittedBad = row.emitted.kind != NonFiniteKind::none;
        if (row.arriving.leaves + row.emitted.leaves == 0)
            row.verdict = "unchecked";
        else if (arrivingBad)
            row.verdict = emittedBad ? "propagated" : "healed";
        else if (emittedBad)
            row.verdict = row.arriving.leaves > 0 && row.unchecked() == 0 ? "birth" : "root_seed";
        else
            row.verdict = row.unchecked() > 0 ? "unchecked" : "clean";
        return row;
    }

    std::string nodeLabel(const Transition &row) const
    {
        if (!row.node.isValid())
            return "unknown";
        const GradNodeRow &node = m_trace.gradNode(row.node);
        const std::string_view label = m_trace.string(node.label);
        return label.empty() ? fmt::format("{}_{}", m_trace.string(node.className), row.node.value())
                             : std::string(label);
    }

    static std::string kindOf(const Side &side, const Transition &row)
    {
        return row.arriving.leaves + row.emitted.leaves == 0 ? "unchecked"
                                                             : std::string(nonFiniteKindName(side.kind));
    }

    std::vector<Value> cells(const Transition &row) const
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

    Value object(const ReportTable &table, const Transition &row) const
    {
        Value value = Value::object();
        const std::vector<Value> values = cells(row);
        for (std::size_t i = 0; i < values.size(); ++i)
            value.set(table.columns[i].name, values[i]);
        return value;
    }

    const Transition *find(std::initializer_list<std::string_view> verdicts) const
    {
        for (const Transition &row : m_rows)
            for (const std::string_view verdict : verdicts)
                if (row.verdict == verdict)
                    return &row;
        return nullptr;
    }

    Value ampHint() const
    {
        if (m_scale)
            return {};
        for (const Transition &row : m_rows)
            for (const Side &side : {row.arriving, row.emitted})
                if (side.kind != NonFiniteKind::none)
                    return side.kind == NonFiniteKind::inf ? Value(ampHintText(true)) : Value();
        return {};
    }

    FirstBadThing firstBadThing(const Transition *headline, std::int64_t pass, const std::string &scope,
                                const std::vector<std::string> &zone) const
    {
        FirstBadThing first;
        first.tool = "bisect_nan_backward";
        first.found = headline != nullptr;
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

    std::string messageOf(const Transition *headline, std::int64_t pass, std::int64_t uncheckedCalls) const
    {
        if (headline == nullptr)
            return fmt::format(
                "no non-finite gradient in backward pass {}{}", pass,
                uncheckedCalls == 0
                    ? std::string()
                    : fmt::format(" among those checked; {} of {} firings have no gradients saved",
                                  uncheckedCalls, m_rows.size()));
        const std::string what =
            headline->verdict == "birth"
                ? fmt::format("{} is born in the backward of", nonFiniteKindName(headline->emitted.kind))
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
        const Transition *birth = find({"birth"});
        std::int64_t uncheckedCalls = 0;
        bool uncheckedBefore = false;
        bool found = false;
        bool afterBirth = false;
        Value transitions = Value::list();
        std::vector<std::string> healed;
        std::vector<std::string> zone;
        for (const Transition &row : m_rows) {
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
        const Transition *headline = birth != nullptr ? birth : find({"root_seed", "propagated", "healed"});
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
        if (headline != nullptr)
            addFinding(report, *headline, message);
        report.found = found;
        report.status = found ? "found" : (uncheckedCalls == 0 ? "clean" : "clean_among_checked");
        report.coverage =
            fmt::format("backward pass {}: {} of {} firings checked", pass,
                        m_rows.size() - static_cast<std::size_t>(uncheckedCalls), m_rows.size());
        return report;
    }

    void addFinding(Report &report, const Transition &headline, const std::string &message) const
    {
        ReportFinding finding;
        finding.severity = Severity::critical;
        finding.check = "bisect_nan_backward";
        finding.code = headline.verdict;
        finding.message = message;
        if (headline.op.isValid())
            finding.ops = {headline.op};
        if (!headline.opLabel.isNull())
            finding.opLabels = {headline.opLabel.toString()};
        if (!headline.module.isNull())
            finding.modules = {headline.module.toString()};
        finding.followUp = "grad_health";
        report.findings.push_back(std::move(finding));
    }

    const Trace &m_trace;
    TraceStatistics &m_statistics;
    std::optional<double> m_scale;
    std::unordered_map<StringId, std::vector<OpId>> m_byLayer;
    std::vector<Transition> m_rows;
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
            return Ledger(request, *scale).run(BackwardId(i), passes[i].index, job);
        captured.push_back(std::to_string(passes[i].index));
    }
    return refuse(
        "bwd_selector_unknown",
        fmt::format("backward pass {} was not captured (captured: {})", bwd.toInt(), joined(captured)),
        "pass one of the captured passes");
}

} // namespace core
