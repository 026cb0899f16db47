// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_reports.h"

#include "core/analysis/report_parts.h"

#include <fmt/format.h>

namespace core {
namespace {

Value commonValue(const NonFiniteEntry &entry, const Trace &trace)
{
    const CallRow &call = trace.call(entry.call);
    const std::string_view node = trace.string(call.nodeName);
    return Value::object({{"label", trace.label(entry.op)},
                          {"call", entry.call.value()},
                          {"op", trace.string(call.op)},
                          {"func", trace.string(call.func)},
                          {"name", node.empty() ? Value() : Value(node)},
                          {"module", trace.moduleAddress(entry.op)},
                          {"source", sourceObject(trace, entry.op)}});
}

// What the capture kept of the operands at the element that ENTRY names; null when it kept none.
Value operandsValue(const NonFiniteEntry &entry, const TensorRow &tensor, const Trace &trace)
{
    for (const StringId id : {tensor.operandsAtFirst, tensor.operandsAtFirstNan}) {
        if (!id.isValid())
            continue;
        const auto kept = parseJson(trace.string(id), "operands");
        if (kept && kept->at("at").isInt() && kept->at("at").toInt() == entry.firstIndex)
            return kept->at("values");
    }
    return {};
}

// The buffer that holds the values of ENTRY, where the call wrote it besides its results.
std::string_view writtenState(const NonFiniteEntry &entry, const Trace &trace)
{
    return entry.tensor.isValid() && entry.tensor != trace.op(entry.op).tensor
               ? trace.string(trace.tensor(entry.tensor).address)
               : std::string_view();
}

std::string countsText(const TensorStats &counts)
{
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view word) {
        if (count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
    };
    add(counts.nan, "NaN");
    add(counts.posInf, "+Inf");
    add(counts.negInf, "-Inf");
    return fmt::format("{} of {} values", text, counts.elements);
}

ReportFinding findingOf(const NonFiniteEntry &entry, const Trace &trace, Severity severity,
                        std::string_view what)
{
    ReportFinding finding;
    finding.severity = severity;
    finding.check = "nonfinite_origin";
    const std::string_view state = writtenState(entry, trace);
    finding.message = fmt::format("{} {}{}{}: {}", trace.publicLabel(entry.op), what,
                                  state.empty() ? std::string() : fmt::format(" in the buffer \"{}\"", state),
                                  whereText(trace, entry.op), countsText(entry.counts));
    finding.ops = {entry.op};
    finding.opLabels = {std::string(trace.publicLabel(entry.op))};
    if (const Value module = moduleValue(trace, entry.op); !module.isNull())
        finding.modules = {module.toString()};
    finding.values = Value::object({{"nan", entry.counts.nan},
                                    {"pinf", entry.counts.posInf},
                                    {"ninf", entry.counts.negInf},
                                    {"elements", entry.counts.elements}});
    return finding;
}

void add(Report &report, ReportFinding finding, std::string_view code)
{
    finding.code = code;
    report.findings.push_back(std::move(finding));
}

bool isSame(const NonFiniteEntry &a, const std::optional<NonFiniteEntry> &b)
{
    return b && a.op == b->op;
}

} // namespace

Value sourceObject(const Trace &trace, OpId op)
{
    const FrameId id = trace.sourceFrame(trace.callOf(op).stack);
    if (!id.isValid())
        return {};
    const FrameRow &frame = trace.frame(id);
    const std::string_view text = trace.string(frame.text);
    return Value::object({{"file", trace.string(frame.file)},
                          {"line", frame.line.oneBased()},
                          {"func", trace.string(frame.function)},
                          {"text", text.empty() ? Value() : Value(text)}});
}

Value entryValue(const NonFiniteEntry &entry, const Trace &trace)
{
    Value value = commonValue(entry, trace);
    const std::string_view state = writtenState(entry, trace);
    value.set("kind", nonFiniteKindName(entry.kind));
    value.set("counts", Value::object({{"nan", entry.counts.nan},
                                       {"pinf", entry.counts.posInf},
                                       {"ninf", entry.counts.negInf},
                                       {"elements", entry.counts.elements}}));
    value.set("output", state.empty() ? Value(entry.slot) : Value());
    if (!state.empty())
        value.set("buffer", state);
    value.set("first_index", entry.firstIndex < 0
                                 ? Value()
                                 : shapeValue(unravelled(entry.firstIndex, trace.shape(entry.tensor))));
    value.set("shape", shapeValue(trace.shape(entry.tensor)));
    value.set("operands_at_first_index", operandsValue(entry, trace.tensor(entry.tensor), trace));
    value.set("by_design", entry.byDesign);
    return value;
}

Value sinkValue(const NonFiniteEntry &entry, const Trace &trace)
{
    Value value = commonValue(entry, trace);
    value.set("swallowed", nonFiniteKindName(entry.kind));
    return value;
}

void addScanFindings(Report &report, const NonFiniteScan &scan, const Trace &trace)
{
    if (scan.nanBirth)
        add(report, findingOf(*scan.nanBirth, trace, Severity::critical, "makes the first NaN"), "nan_birth");
    for (const NonFiniteEntry &birth : scan.births)
        if (!birth.byDesign && !isSame(birth, scan.nanBirth))
            add(report,
                findingOf(birth, trace, Severity::critical, "makes non-finite values from finite inputs"),
                "birth");
    for (const NonFiniteEntry &reached : scan.reached)
        add(report,
            findingOf(reached, trace, Severity::critical, "receives values that were masked by design"),
            "reached");
    for (const NonFiniteSource &source : scan.sources) {
        if (source.byDesign)
            continue;
        ReportFinding finding;
        finding.severity = Severity::critical;
        finding.check = "nonfinite_origin";
        finding.code = "source";
        finding.message = fmt::format("{} \"{}\" is not finite before the first op: {}",
                                      source.role == TensorRole::input ? "input" : "state", source.name,
                                      countsText(source.counts));
        report.findings.push_back(std::move(finding));
    }
    if (report.findings.empty())
        if (const NonFiniteEntry *headline = scan.headline())
            add(report, findingOf(*headline, trace, Severity::critical, "holds non-finite values"), "first");
    for (const NonFiniteEntry &birth : scan.births)
        if (birth.byDesign)
            add(report, findingOf(birth, trace, Severity::info, "holds -Inf by design"), "by_design");
    report.found = scan.hasFinding();
}

} // namespace core
