// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/complex_magnitudes.h"
#include "core/analysis/graph_reports.h"
#include "core/analysis/nonfinite_words.h"
#include "core/analysis/report_parts.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace core {
namespace {

struct Measured
{
    NonFiniteKind kind = NonFiniteKind::none;
    bool anyFinite = false;
    double absMax = 0.0;
    std::uint64_t elements = 0;
    std::uint64_t subnormal = 0;
};

Result<Measured> measure(const TraceStatistics &statistics, TensorId tensor, const JobContext &job)
{
    const TensorStats &stats = *statistics.find(tensor);
    Measured measured{nonFiniteKind(stats), stats.hasFinite(), stats.absMax, stats.elements, stats.subnormal};
    const TensorRow &row = statistics.trace().tensor(tensor);
    // Recorded statistics are of the parts; whole magnitudes need the values.
    if (!isComplex(row.dtype) || row.payload.state != PayloadState::saved)
        return measured;
    const auto whole = complexMagnitudes(statistics.trace(), tensor, job);
    if (!whole)
        return whole.error();
    measured.anyFinite = whole->elements > whole->nan + whole->inf;
    measured.absMax = whole->largest;
    measured.elements = whole->elements;
    measured.subnormal = whole->subnormal;
    return measured;
}

double largestValue(DType dtype)
{
    if (canBeNonFinite(dtype))
        return floatLimits(dtype).max;
    if (!isIntegral(dtype))
        return 0.0;
    const bool isSigned =
        dtype == DType::int8 || dtype == DType::int16 || dtype == DType::int32 || dtype == DType::int64;
    return std::ldexp(1.0, static_cast<int>(itemSize(dtype)) * 8 - (isSigned ? 1 : 0)) - 1.0;
}

// 1: float, 2: complex, 3: integer, 0: none to compare.
int category(DType dtype)
{
    return isFloating(dtype) ? 1 : (isComplex(dtype) ? 2 : (isIntegral(dtype) ? 3 : 0));
}

std::vector<DType> inputTypes(const Trace &trace, OpId op)
{
    std::vector<DType> types;
    const auto add = [&](TensorId tensor) {
        if (!tensor.isValid())
            return;
        const DType dtype = trace.tensor(tensor).dtype;
        if (std::find(types.begin(), types.end(), dtype) == types.end())
            types.push_back(dtype);
    };
    for (const OpId parent : trace.parents(op))
        add(trace.op(parent).tensor);
    if (types.empty())
        for (const ArgumentRow &argument : trace.arguments(trace.op(op).call))
            for (const TensorId tensor : trace.tensorIds(argument.tensors))
                add(tensor);
    return types;
}

class Audit
{
public:
    Audit(const Trace &trace, double maxFraction, double subnormalThreshold)
        : m_trace(trace), m_maxFraction(maxFraction), m_subnormalThreshold(subnormalThreshold)
    {
    }

    std::vector<ReportFinding> findings;

    void look(OpId op, const Measured &measured)
    {
        const DType dtype = m_trace.tensor(m_trace.op(op).tensor).dtype;
        if (measured.kind != NonFiniteKind::none)
            add(op, Severity::critical, "dtype_nonfinite", "find_nan",
                fmt::format("{} ({}) holds {}", m_trace.label(op), torchDTypeName(dtype),
                            nonFiniteKindWords(measured.kind)),
                Value::object({{"kind", nonFiniteKindName(measured.kind)}}));
        const double limit = largestValue(dtype);
        if (limit > 0.0 && measured.anyFinite && measured.absMax >= m_maxFraction * limit)
            add(op, Severity::warning, "dtype_near_max", "find_nan",
                fmt::format("{} ({}) reaches {}, {} of the largest value {}", m_trace.label(op),
                            torchDTypeName(dtype), formatNumber(measured.absMax),
                            formatNumber(measured.absMax / limit), formatNumber(limit)),
                Value::object({{"abs_max", measured.absMax}, {"dtype_max", limit}}));
        if (canBeNonFinite(dtype) && measured.elements > 0 && measured.subnormal > 0)
            subnormal(op, torchDTypeName(dtype), measured);
        downcasts(op, dtype);
    }

private:
    void subnormal(OpId op, const std::string &name, const Measured &measured)
    {
        const double fraction =
            static_cast<double>(measured.subnormal) / static_cast<double>(measured.elements);
        if (fraction < m_subnormalThreshold)
            return;
        add(op, Severity::warning, "dtype_subnormal", "bisect_precision",
            fmt::format("{} of the values of {} ({}) are subnormal", formatNumber(fraction),
                        m_trace.label(op), name),
            Value::object({{"subnormal_fraction", fraction}}));
    }

    void downcasts(OpId op, DType dtype)
    {
        const int kind = category(dtype);
        for (const DType from : inputTypes(m_trace, op)) {
            if (kind == 0 || category(from) != kind || itemSize(from) <= itemSize(dtype))
                continue;
            const std::string name = torchDTypeName(dtype);
            add(op, Severity::warning, "dtype_downcast", "bisect_precision",
                fmt::format("{} makes {} of {}", m_trace.label(op), name, torchDTypeName(from)),
                Value::object({{"from", torchDTypeName(from)}, {"to", name}}));
            return;
        }
    }

    void add(OpId op, Severity severity, std::string check, std::string followUp, std::string message,
             Value values)
    {
        ReportFinding finding;
        finding.severity = severity;
        finding.code = check;
        finding.check = std::move(check);
        finding.message = std::move(message);
        finding.ops = {op};
        finding.opLabels = {std::string(m_trace.label(op))};
        if (const Value module = moduleValue(m_trace, op); !module.isNull())
            finding.modules = {module.toString()};
        finding.followUp = std::move(followUp);
        finding.values = std::move(values);
        findings.push_back(std::move(finding));
    }

    const Trace &m_trace;
    double m_maxFraction;
    double m_subnormalThreshold;
};

bool isFraction(const Value &value)
{
    return value.isNumber() && value.toDouble() >= 0.0 && value.toDouble() <= 1.0;
}

} // namespace

Result<Report> dtypeRange(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    TraceStatistics &statistics = *request.statistics;
    for (const std::string_view name : {"max_fraction", "subnormal_fraction_threshold"})
        if (!isFraction(request.option(name)))
            return refusedReport(
                "dtype_range", std::string(trace.subject()),
                {"ValueError", "",
                 fmt::format("{} is {}, it must lie in [0, 1]", name, toJson(request.option(name))),
                 "pass a fraction from 0 to 1"});
    std::vector<OpId> ops;
    for (const OpId op : trace.computeOps())
        if (trace.op(op).kind == CallKind::compute && trace.op(op).tensor.isValid())
            ops.push_back(op);
    if (Status status = statistics.prepareOps(ops, job); !status)
        return status;
    Audit look(trace, request.option("max_fraction").toDouble(),
               request.option("subnormal_fraction_threshold").toDouble());
    std::int64_t audited = 0;
    for (const OpId op : ops) {
        const TensorId tensor = trace.op(op).tensor;
        if (statistics.find(tensor) == nullptr)
            continue;
        const auto measured = measure(statistics, tensor, job);
        if (!measured)
            return measured.error();
        ++audited;
        look.look(op, *measured);
    }
    Report report = startReport("dtype_range", std::string(trace.subject()));
    report.findings = std::move(look.findings);
    report.found = !report.findings.empty();
    report.status = report.found ? "findings" : (audited > 0 || ops.empty() ? "ok" : "incomplete");
    report.coverage = fmt::format("{} of {} ops audited", audited, ops.size());
    const double coverage =
        ops.empty() ? 0.0 : static_cast<double>(audited) / static_cast<double>(ops.size());
    report.findingsMember = "findings";
    report.result =
        Value::object({{"num_audited_ops", audited}, {"num_ops", ops.size()}, {"coverage", coverage}});
    return report;
}

} // namespace core
