// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace core {
namespace {

// Rows without a value in any form: calls without a tensor, undefined outputs.
bool hasNoTensor(const TraceStatistics &statistics, OpId op)
{
    return statistics.unavailable(statistics.trace().op(op).tensor) == Unavailable::nonTensor;
}

// The page's order, but a buffer that an op of the run wrote stands where that happened and not before
// everything.
std::vector<OpId> searchOrder(const Trace &trace)
{
    const auto all = trace.orderedOps();
    const auto isWritten = [&](OpId op) {
        return trace.op(op).kind == CallKind::buffer && isWrittenBuffer(trace, trace.op(op).call);
    };
    std::vector<OpId> order(all.begin(), all.end());
    std::vector<OpId> written;
    std::copy_if(order.begin(), order.end(), std::back_inserter(written), isWritten);
    if (written.empty())
        return order;
    std::erase_if(order, isWritten);
    for (const OpId op : written) {
        const auto later = [&](OpId other) { return trace.op(other).step > 0 && op.index() < other.index(); };
        order.insert(std::find_if(order.begin(), order.end(), later), op);
    }
    return order;
}

std::vector<std::string> unexaminedAncestors(const TraceStatistics &statistics, OpId start)
{
    const Trace &trace = statistics.trace();
    std::vector<bool> seen(trace.ops().size(), false);
    std::vector<OpId> stack = {start};
    seen[start.index()] = true;
    while (!stack.empty()) {
        const OpId at = stack.back();
        stack.pop_back();
        for (const OpId parent : trace.parents(at))
            if (!seen[parent.index()]) {
                seen[parent.index()] = true;
                stack.push_back(parent);
            }
    }
    seen[start.index()] = false;
    std::vector<std::string> zone;
    for (const OpId op : trace.orderedOps())
        if (seen[op.index()] && trace.op(op).kind != CallKind::input && isUnexamined(statistics, op))
            zone.emplace_back(trace.publicLabel(op));
    return zone;
}

} // namespace

Value findNanResult(const SavedFinding &finding, const Trace &trace, bool isNamed)
{
    const bool found = finding.op.isValid();
    Value result = Value::object({{"found", found},
                                  {"op", nullptr},
                                  {"label", nullptr},
                                  {"module_address", nullptr},
                                  {"func_name", nullptr},
                                  {"dtype", nullptr},
                                  {"shape", nullptr},
                                  {"bad_tensors", Value::list()},
                                  {"source_line", nullptr},
                                  {"kind", nonFiniteKindName(finding.kind)},
                                  {"scope", finding.scope},
                                  {"uncertainty_zone", labelList(finding.zone)},
                                  {"message", finding.message},
                                  {"label_status", isNamed ? "final" : "unavailable"}});
    if (!found)
        return result;
    const TensorId tensor = finding.tensor;
    if (isNamed) {
        result.set("op", trace.label(finding.op));
        result.set("label", trace.publicLabel(finding.op));
        result.set("module_address", moduleValue(trace, finding.op));
    }
    result.set("func_name", isNamed ? trace.string(trace.callOf(finding.op).func) : "none");
    result.set("dtype", torchDTypeName(trace.tensor(tensor).dtype));
    result.set("shape", shapeValue(trace.shape(tensor)));
    result.set("bad_tensors", Value::list({tensor == trace.op(finding.op).tensor
                                               ? Value("output")
                                               : Value(trace.string(trace.tensor(tensor).address))}));
    result.set("source_line", sourceLineValue(trace, finding.op));
    return result;
}

bool isUnexamined(const TraceStatistics &statistics, OpId op)
{
    const TensorId tensor = statistics.trace().op(op).tensor;
    return !hasNoTensor(statistics, op) && statistics.find(tensor) == nullptr &&
           statistics.trace().tensor(tensor).payload.state != PayloadState::uninitialised;
}

void takeRow(SavedFinding &finding, const Trace &trace, OpId row)
{
    const OpId writer = hiddenWriter(trace, row);
    finding.op = writer.isValid() ? writer : row;
    finding.tensor = trace.op(row).tensor;
}

std::string writtenText(const SavedFinding &finding, const Trace &trace)
{
    return finding.tensor == trace.op(finding.op).tensor
               ? std::string()
               : fmt::format(" in the buffer \"{}\"", trace.string(trace.tensor(finding.tensor).address));
}

SavedFinding findSavedNonFinite(const TraceStatistics &statistics)
{
    const Trace &trace = statistics.trace();
    SavedFinding finding;
    bool unexaminedBefore = false;
    for (const OpId op : searchOrder(trace)) {
        if (trace.op(op).kind == CallKind::input)
            continue;
        if (isUnexamined(statistics, op)) {
            unexaminedBefore = true;
            continue;
        }
        finding.kind = statistics.kind(trace.op(op).tensor);
        if (finding.kind == NonFiniteKind::none)
            continue;
        takeRow(finding, trace, op);
        finding.scope = unexaminedBefore ? "first among saved tensors" : "first non-finite tensor";
        if (unexaminedBefore)
            finding.zone = unexaminedAncestors(statistics, op);
        finding.message = fmt::format("{}: {}{} at {}{}", finding.scope, nonFiniteKindName(finding.kind),
                                      writtenText(finding, trace), trace.publicLabel(finding.op),
                                      whereText(trace, finding.op));
        if (!finding.zone.empty())
            finding.message += fmt::format("; an earlier one could hide in {} ops without values: {}",
                                           finding.zone.size(), joined(finding.zone));
        return finding;
    }
    finding.scope = "saved tensors";
    for (const OpId op : trace.orderedOps())
        if (trace.op(op).kind != CallKind::input && isUnexamined(statistics, op))
            finding.zone.emplace_back(trace.publicLabel(op));
    finding.message = finding.zone.empty()
                          ? "all values are finite"
                          : fmt::format("all known values are finite; {} ops have none", finding.zone.size());
    return finding;
}

Result<Report> findNan(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    auto scan = scanNonFinite(*request.statistics, job);
    if (!scan)
        return scan.error();
    const SavedFinding finding = findSavedNonFinite(*request.statistics);
    const bool found = finding.op.isValid();
    Report report = startReport("find_nan", std::string(trace.subject()));
    report.result = findNanResult(finding, request.statistics->trace(), true);
    const bool byDesign = found && scan->byDesign[finding.tensor.index()];
    report.result.set("by_design", found ? Value(byDesign) : Value());
    FirstBadThing first;
    first.found = found;
    first.tool = "find_nan";
    first.kind = nonFiniteKindName(finding.kind);
    first.label = report.result.at("label");
    first.labelStatus = found ? "final" : "none";
    first.module = report.result.at("module_address");
    first.sourceLine = report.result.at("source_line");
    first.coverage = !found ? "none" : (finding.zone.empty() ? "complete" : "found_first_among_checked");
    first.uncertaintyZone = finding.zone;
    first.message = finding.message;
    report.result.set("first_bad_thing", first.toValue());
    addScanFindings(report, *scan, trace);
    report.found = report.found || (found && !byDesign);
    report.status = report.found ? "found" : (finding.zone.empty() ? "clean" : "clean_among_checked");
    report.coverage = finding.message;
    return report;
}

Result<Report> bisectNan(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    const TraceStatistics &statistics = *request.statistics;
    auto scan = scanNonFinite(*request.statistics, job);
    if (!scan)
        return scan.error();
    SavedFinding finding;
    std::size_t unexamined = 0;
    for (const OpId op : searchOrder(trace)) {
        if (trace.op(op).kind == CallKind::input)
            continue;
        if (isUnexamined(statistics, op))
            unexamined += trace.op(op).step > 0 ? 1 : 0;
        else if (statistics.kind(trace.op(op).tensor) != NonFiniteKind::none) {
            takeRow(finding, trace, op);
            break;
        }
    }
    const OpId found = finding.op;
    const NonFiniteKind kind = found.isValid() ? statistics.kind(finding.tensor) : NonFiniteKind::none;
    std::string message = "all saved values are finite";
    if (found.isValid())
        message = fmt::format("the first non-finite values are {}{} at {}{}", nonFiniteKindName(kind),
                              writtenText(finding, trace), trace.publicLabel(found), whereText(trace, found));
    else if (unexamined > 0)
        message =
            fmt::format("no non-finite value among those saved, but {} ops of the suspect region have none; "
                        "capture again with a wider save policy",
                        unexamined);
    FirstBadThing first;
    first.found = found.isValid();
    first.tool = "bisect_nan";
    first.kind = nonFiniteKindName(kind);
    first.coverage = !found.isValid() && unexamined > 0 ? "partial" : "complete";
    first.message = message;
    Report report = startReport("bisect_nan", std::string(trace.subject()));
    report.result = Value::object({{"found", found.isValid()},
                                   {"op", nullptr},
                                   {"label", nullptr},
                                   {"source_line", nullptr},
                                   {"kind", nonFiniteKindName(kind)},
                                   {"message", message}});
    bool byDesign = false;
    if (found.isValid()) {
        byDesign = scan->byDesign[finding.tensor.index()];
        first.label = trace.publicLabel(found);
        first.labelStatus = "final"; // the page's record of this report names no module
        first.sourceLine = sourceLineValue(trace, found);
        report.result.set("op", trace.label(found));
        report.result.set("label", first.label);
        report.result.set("source_line", first.sourceLine);
    }
    report.result.set("by_design", found.isValid() ? Value(byDesign) : Value());
    report.result.set("first_bad_thing", first.toValue());
    addScanFindings(report, *scan, trace);
    report.found = report.found || (found.isValid() && !byDesign);
    report.status = report.found ? "found" : (unexamined == 0 ? "clean" : "clean_among_checked");
    report.coverage = message;
    return report;
}

} // namespace core
