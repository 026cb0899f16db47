// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_backward.h"
#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/nonfinite_why.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace core {
namespace {

constexpr std::string_view kRecipe =
    "# for NaN born in the backward pass and exceptions of custom autograd functions, which this report does "
    "not "
    "cover:\n"
    "import torch\n"
    "with torch.autograd.set_detect_anomaly(True):\n"
    "    loss = model(inputs).sum()\n"
    "    loss.backward()  # raises at the backward op that made the NaN and shows its forward op\n"
    "# a second execution: it can change state and follow another random path, so it is never run for you";

struct Coverage
{
    std::string basis;
    std::uint64_t checked = 0;
    std::uint64_t unchecked = 0;
    std::uint64_t unexamined = 0;
    std::vector<std::string> nonFinite;
};

Coverage coverageOf(const TraceStatistics &statistics)
{
    const Trace &trace = statistics.trace();
    Coverage coverage;
    bool recorded = false;
    for (std::size_t i = 0; i < trace.ops().size(); ++i) {
        const TensorId tensor = trace.op(OpId(i)).tensor;
        const Unavailable why = statistics.unavailable(tensor);
        if (why == Unavailable::nonTensor)
            continue;
        if (const TensorStats *stats = statistics.find(tensor)) {
            // As in the original an empty payload is nothing that was looked at; recorded statistics say that
            // it was.
            if (stats->elements == 0 && !statistics.isRecorded(tensor))
                continue;
            ++coverage.checked;
            recorded = recorded || statistics.isRecorded(tensor);
            if (stats->nonFinite() > 0)
                coverage.nonFinite.emplace_back(trace.label(OpId(i)));
        } else if (why == Unavailable::meta || why == Unavailable::sparse || why == Unavailable::quantized) {
            ++coverage.unchecked;
        } else {
            ++coverage.unexamined;
        }
    }
    coverage.basis = recorded ? "recorded_statistics" : "saved_payloads";
    return coverage;
}

Value ampDisclosure(const Trace &trace)
{
    std::set<std::string> narrow;
    for (const OpRow &row : trace.ops())
        if (row.tensor.isValid())
            if (const DType dtype = trace.tensor(row.tensor).dtype;
                dtype == DType::float16 || dtype == DType::bfloat16)
                narrow.insert(std::string(dtypeName(dtype)));
    if (narrow.empty())
        return {};
    return fmt::format(
        "op outputs are {}: a clean forward says nothing about scaled gradients, which can overflow in "
        "the backward pass",
        joined({narrow.begin(), narrow.end()}, " and "));
}

Value sourcesValue(const NonFiniteScan &scan, const Trace &trace)
{
    Value list = Value::list();
    for (const NonFiniteSource &source : scan.sources) {
        std::int64_t first = -1;
        for (const std::int64_t index :
             {source.counts.firstNan, source.counts.firstPosInf, source.counts.firstNegInf})
            if (index >= 0 && (first < 0 || index < first))
                first = index;
        list.append(Value::object(
            {{"what", source.role == TensorRole::input ? "input" : "state"},
             {"name", source.name},
             {"kind", nonFiniteKindName(source.kind)},
             {"first_index", first < 0 ? Value() : shapeValue(unravelled(first, trace.shape(source.tensor)))},
             {"nan", source.counts.nan},
             {"pinf", source.counts.posInf},
             {"ninf", source.counts.negInf},
             {"elements", source.counts.elements},
             {"by_design", source.byDesign}}));
    }
    return list;
}

Value withWhy(const NonFiniteEntry &entry, const TraceStatistics &statistics)
{
    Value value = entryValue(entry, statistics.trace());
    value.set("why", forwardWhy(entry, statistics));
    return value;
}

Value entries(const std::vector<NonFiniteEntry> &list, const TraceStatistics &statistics)
{
    Value values = Value::list();
    for (const NonFiniteEntry &entry : list)
        values.append(withWhy(entry, statistics));
    return values;
}

Value optionalEntry(const std::optional<NonFiniteEntry> &entry, const TraceStatistics &statistics)
{
    return entry ? withWhy(*entry, statistics) : Value();
}

void addForwardLife(Value &result, const NonFiniteScan &scan, const TraceStatistics &statistics)
{
    const Trace &trace = statistics.trace();
    Value sinks = Value::list();
    for (const NonFiniteEntry &sink : scan.sinks)
        sinks.append(sinkValue(sink, trace));
    result.set("verdict", scan.verdict());
    result.set("sources", sourcesValue(scan, trace));
    result.set("births", entries(scan.births, statistics));
    result.set("first_inf", optionalEntry(scan.firstInf, statistics));
    result.set("first_nan", optionalEntry(scan.firstNan, statistics));
    result.set("nan_birth", optionalEntry(scan.nanBirth, statistics));
    result.set("sinks", std::move(sinks));
    result.set("reached", entries(scan.reached, statistics));
}

std::string headlineText(const NonFiniteScan &scan, const Trace &trace)
{
    if (const NonFiniteEntry *headline = scan.headline())
        return fmt::format("{} of {}{}", nonFiniteKindName(headline->kind), trace.publicLabel(headline->op),
                           whereText(trace, headline->op));
    if (const std::size_t masks = scan.byDesignBirths())
        return fmt::format("no finding; -Inf by design in {} mask{}", masks, masks == 1 ? "" : "s");
    return "no finding";
}

// The birth that a person should look at, as a row of its own for the table of the window.
ReportTable entryTable(const NonFiniteScan &scan, const Trace &trace)
{
    ReportTable table;
    table.columns = {{"op", CellKind::op, {}},        {"what", CellKind::text, {}},
                     {"kind", CellKind::text, {}},    {"nan", CellKind::integer, {}},
                     {"pinf", CellKind::integer, {}}, {"ninf", CellKind::integer, {}},
                     {"module", CellKind::text, {}},  {"source_line", CellKind::text, {}}};
    const auto add = [&](const NonFiniteEntry &entry, std::string_view what, bool counted) {
        ReportRow row;
        row.cells = {trace.label(entry.op),
                     what,
                     nonFiniteKindName(entry.kind),
                     counted ? Value(entry.counts.nan) : Value(),
                     counted ? Value(entry.counts.posInf) : Value(),
                     counted ? Value(entry.counts.negInf) : Value(),
                     moduleValue(trace, entry.op),
                     sourceLineValue(trace, entry.op)};
        row.op = entry.op;
        table.rows.push_back(std::move(row));
    };
    if (scan.nanBirth)
        add(*scan.nanBirth, "nan_birth", true);
    for (const NonFiniteEntry &birth : scan.births)
        if (!scan.nanBirth || birth.op != scan.nanBirth->op)
            add(birth, birth.byDesign ? "birth by design" : "birth", true);
    for (const NonFiniteEntry &sink : scan.sinks)
        add(sink, sink.byDesign ? "sink by design" : "sink", false);
    for (const NonFiniteEntry &reached : scan.reached)
        add(reached, "reached", true);
    return table;
}

} // namespace

std::string_view anomalyRecipe()
{
    return kRecipe;
}

Result<Report> nonfiniteOrigin(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    auto scan = scanNonFinite(*request.statistics, job);
    if (!scan)
        return scan.error();
    const SavedFinding finding = findSavedNonFinite(*request.statistics);
    const Coverage coverage = coverageOf(*request.statistics);
    const bool found = finding.op.isValid();
    Report report = startReport("nonfinite_origin", std::string(trace.subject()));
    report.result =
        Value::object({{"found", found},
                       {"phase", "forward"},
                       {"kind", nonFiniteKindName(finding.kind)},
                       {"origin_label", found ? Value(trace.publicLabel(finding.op)) : Value()},
                       {"module_address", found ? moduleValue(trace, finding.op) : Value()},
                       {"source_line", found ? sourceLineValue(trace, finding.op) : Value()},
                       {"tensor_role", found ? Value("output") : Value()},
                       {"nonfinite_labels", labelList(coverage.nonFinite)},
                       {"coverage_basis", coverage.basis},
                       {"checked", coverage.checked},
                       {"unchecked", coverage.unchecked},
                       {"unexamined", coverage.unexamined},
                       {"capture_status", captureStatusWord(trace.info().status)},
                       {"cost_tier", "free (after the run, on the trace that is there)"},
                       {"amp_disclosure", ampDisclosure(trace)},
                       {"scope_note", finding.scope},
                       {"uncertainty_zone", labelList(finding.zone)},
                       {"defer_recipe", kRecipe},
                       {"by_design", found ? Value(bool(scan->byDesign[finding.tensor.index()])) : Value()},
                       {"headline", headlineText(*scan, trace)}});
    addForwardLife(report.result, *scan, *request.statistics);
    addScanFindings(report, *scan, trace);
    if (trace.info().source == TraceSource::own) {
        auto backward = backwardAnswers(*request.statistics, report, job);
        if (!backward)
            return backward.error();
        const std::string verdict = backward->at("verdict").toString();
        report.found = report.found || verdict == "birth" || verdict == "root_seed";
        report.result.set("backward", *std::move(backward));
        std::stable_sort(report.findings.begin(), report.findings.end(),
                         [](const auto &a, const auto &b) { return a.severity < b.severity; });
    }
    report.table = entryTable(*scan, trace);
    const bool complete = coverage.unexamined == 0 && coverage.unchecked == 0;
    report.status = report.found ? "found" : (complete ? "clean" : "clean_among_checked");
    report.coverage = fmt::format("{}: {} rows checked, {} without a kernel, {} without values; {}",
                                  coverage.basis, coverage.checked, coverage.unchecked, coverage.unexamined,
                                  trace.info().source == TraceSource::own && !trace.backwards().empty()
                                      ? "forward and backward"
                                      : "forward only");
    return report;
}

} // namespace core
