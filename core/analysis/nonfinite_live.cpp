// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_live.h"

#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

namespace core {
namespace {

// What the run stopped at; without an op the run was clean.
struct LiveFinding : SavedFinding
{
    bool isSource = false;  // an input or a buffer, which has no public label
    bool isReached = false; // an output that -Inf by design arrived at: the run was not stopped
};

std::string describe(const Trace &trace, const LiveFinding &finding)
{
    const OpRow &row = trace.op(finding.op);
    const std::string_view kind = nonFiniteKindName(finding.kind);
    if (!finding.isSource)
        return fmt::format("{}: {}{} at {}{}", finding.scope, kind, writtenText(finding, trace),
                           trace.publicLabel(finding.op), whereText(trace, finding.op));
    return fmt::format("{}: {} in the {} \"{}\" before any op made one", finding.scope, kind,
                       row.kind == CallKind::input ? "input" : "buffer",
                       trace.string(trace.callOf(finding.op).address));
}

// The row that tripped: the first bad one that is not there by design, else the first bad one.
OpId trippedRow(const TraceStatistics &statistics, const NonFiniteScan &scan)
{
    const Trace &trace = statistics.trace();
    OpId first;
    for (std::size_t i = 0; i < trace.ops().size(); ++i) {
        const OpRow &row = trace.op(OpId(i));
        if (row.kind == CallKind::output || statistics.kind(row.tensor) == NonFiniteKind::none)
            continue;
        if (!scan.byDesign[row.tensor.index()])
            return OpId(i);
        if (!first.isValid())
            first = OpId(i);
    }
    return first;
}

void tell(LiveFinding &finding, OpId op, const TraceStatistics &statistics)
{
    takeRow(finding, statistics.trace(), op);
    finding.kind = statistics.kind(finding.tensor);
    finding.isSource = !finding.isReached && statistics.trace().op(finding.op).kind != CallKind::compute;
    finding.message = describe(statistics.trace(), finding);
}

LiveFinding findStop(const TraceStatistics &statistics, const NonFiniteScan &scan)
{
    const Trace &trace = statistics.trace();
    LiveFinding finding;
    finding.scope = "live operation outputs";
    finding.message = fmt::format("no NaN or Inf in the outputs of {} ops", trace.computeOps().size());
    if (const std::size_t masks = scan.byDesignBirths())
        finding.message += fmt::format(" but -Inf by design in {} mask{}", masks, masks == 1 ? "" : "s");
    // What a run went past and its statistics show afterwards is found too.
    const bool stopped = trace.info().status == TraceStatus::stoppedAtNonFinite;
    if (stopped || (scan.reached.empty() && scan.hasFinding())) {
        const OpId op = trippedRow(statistics, scan);
        if (op.isValid() && (stopped || !scan.byDesign[trace.op(op).tensor.index()])) {
            finding.scope = "first non-finite tensor";
            tell(finding, op, statistics);
        }
    } else if (!scan.reached.empty()) {
        finding.isReached = true;
        finding.scope = "values by design that reach an output";
        tell(finding, scan.reached.front().op, statistics);
    }
    return finding;
}

struct Looked
{
    LiveFinding finding;
    NonFiniteScan scan;
    bool byDesign = false;
};

Result<Looked> look(TraceStatistics &statistics, const JobContext &job)
{
    Result<NonFiniteScan> scan = scanNonFinite(statistics, job);
    if (!scan)
        return scan.error();
    Looked looked;
    looked.scan = *std::move(scan);
    looked.finding = findStop(statistics, looked.scan);
    looked.byDesign = looked.finding.op.isValid() && !looked.finding.isReached &&
                      looked.scan.byDesign[looked.finding.tensor.index()];
    return looked;
}

Value firstBadThing(const Looked &looked, const Value &result)
{
    const bool found = looked.finding.op.isValid();
    FirstBadThing first;
    first.found = found;
    first.tool = "find_nan";
    first.kind = nonFiniteKindName(looked.finding.kind);
    first.label = result.at("label");
    first.labelStatus = found ? result.at("label_status").toString() : "none";
    first.module = result.at("module_address");
    first.sourceLine = result.at("source_line");
    first.coverage = found ? "complete" : "none";
    first.detectionBasis = "live_capture";
    first.message = looked.finding.message;
    return first.toValue();
}

// What went into the op that made it: the names the trace has their values under.
Value hitInputs(const LiveFinding &finding, const TraceStatistics &statistics)
{
    const Trace &trace = statistics.trace();
    Value list = Value::list();
    if (!finding.op.isValid() || finding.isSource || finding.isReached)
        return list;
    for (const ArgumentRow &argument : trace.arguments(trace.op(finding.op).call))
        for (const TensorId tensor : trace.tensorIds(argument.tensors)) {
            if (!tensor.isValid())
                continue;
            const TensorStats *stats = statistics.find(tensor);
            const bool known = stats != nullptr && stats->hasFinite();
            const OpId producer = trace.producer(tensor);
            list.append(Value::object({{"argument", trace.string(argument.name)},
                                       {"label", producer.isValid() ? Value(trace.label(producer)) : Value()},
                                       {"address", trace.string(trace.tensor(tensor).address)},
                                       {"shape", shapeValue(trace.shape(tensor))},
                                       {"min", known ? Value(stats->min) : Value()},
                                       {"max", known ? Value(stats->max) : Value()}}));
        }
    return list;
}

void finishReport(Report &report, const Looked &looked, const Trace &trace)
{
    const bool found = looked.finding.op.isValid();
    if (looked.finding.isSource) {
        ReportFinding finding;
        finding.severity = looked.byDesign ? Severity::info : Severity::critical;
        finding.check = report.reportType;
        finding.code = "source";
        finding.message = looked.finding.message;
        finding.ops = {looked.finding.op};
        finding.opLabels = {std::string(trace.label(looked.finding.op))};
        report.findings.push_back(std::move(finding));
        report.found = !looked.byDesign;
    } else {
        addScanFindings(report, looked.scan, trace);
        report.found = report.found || (found && !looked.byDesign);
    }
    report.status = found || report.found ? "found" : "clean";
    report.coverage = looked.finding.message;
    if (found && !looked.finding.isReached)
        report.coverage += looked.byDesign ? "; by design (a mask), and nothing behind it was looked at"
                                           : "; nothing behind it was looked at";
    report.exits = {"--json", "-o OUT"};
}

} // namespace

Result<Report> findNanLive(const std::shared_ptr<const Trace> &trace, const JobContext &job)
{
    TraceStatistics statistics(trace);
    const Result<Looked> looked = look(statistics, job);
    if (!looked)
        return looked.error();
    Report report = startReport("find_nan", std::string(trace->subject()));
    report.result = findNanResult(looked->finding, *trace, !looked->finding.isSource);
    report.result.set("by_design", looked->finding.op.isValid() ? Value(looked->byDesign) : Value());
    report.result.set("inputs", hitInputs(looked->finding, statistics));
    report.result.set("first_bad_thing", firstBadThing(*looked, report.result));
    finishReport(report, *looked, *trace);
    return report;
}

Result<Report> nonfiniteOriginLive(const std::shared_ptr<const Trace> &trace, const JobContext &job)
{
    TraceStatistics statistics(trace);
    const Result<Looked> looked = look(statistics, job);
    if (!looked)
        return looked.error();
    const LiveFinding &finding = looked->finding;
    const bool found = finding.op.isValid();
    Report report = startReport("nonfinite_origin", std::string(trace->subject()));
    report.result = Value::object(
        {{"found", found},
         {"phase", "forward"},
         {"kind", nonFiniteKindName(finding.kind)},
         {"origin_label", found && !finding.isSource ? Value(trace->publicLabel(finding.op)) : Value()},
         {"module_address", found && !finding.isSource ? moduleValue(*trace, finding.op) : Value()},
         {"source_line", found ? sourceLineValue(*trace, finding.op) : Value()},
         {"tensor_role", found ? Value("output") : Value()},
         {"nonfinite_labels", Value::list()},
         {"coverage_basis", "live_tripwire_first_bad_output"},
         {"checked", 0},
         {"unchecked", 0},
         {"unexamined", 0},
         {"capture_status", captureStatusWord(trace->info().status)},
         {"cost_tier", "diagnostic (one memory-light forward that stops at the first bad output)"},
         {"amp_disclosure", nullptr},
         {"scope_note", finding.scope},
         {"uncertainty_zone", Value::list()},
         {"defer_recipe", anomalyRecipe()},
         {"by_design", found ? Value(looked->byDesign) : Value()}});
    finishReport(report, *looked, *trace);
    return report;
}

} // namespace core
