// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/payload_reason.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/rerun_reports.h"
#include "core/analysis/visit_elements.h"
#include "core/base/element_codec.h"
#include "core/trace/op_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace core {
namespace {

struct Limits
{
    double rtol = 0.0;
    double atol = 0.0;
};

// How far one op is from the reference. Errors are over the elements that are finite on both sides.
struct Errors
{
    double maxAbs = 0.0;
    double maxRel = 0.0;
    bool diverged = false;
};

struct PrecisionRow
{
    OpId op;
    DType dtype = DType::unknown;
    Errors errors;
    Limits limits;
    bool stochastic = false;
};

class ErrorSum
{
public:
    ErrorSum(DType native, DType reference, Limits limits)
        : m_native(native), m_reference(reference), m_limits(limits)
    {
    }

    void add(const std::byte *native, const std::byte *reference, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            const double n = elementAsDouble(m_native, native, i);
            const double r = elementAsDouble(m_reference, reference, i);
            if (std::isfinite(n) != std::isfinite(r))
                errors.diverged = true;
            if (!std::isfinite(n) || !std::isfinite(r))
                continue;
            const double apart = std::fabs(n - r);
            errors.maxAbs = std::max(errors.maxAbs, apart);
            errors.maxRel =
                std::max(errors.maxRel, apart / std::max(std::fabs(r), std::numeric_limits<double>::min()));
            if (!(apart <= m_limits.atol + m_limits.rtol * std::fabs(r)))
                errors.diverged = true;
        }
    }

    Errors errors;

private:
    DType m_native;
    DType m_reference;
    Limits m_limits;
};

// Why a floating comparison cannot be made of a tensor; "ok" when it can.
std::string_view floatingReason(const Trace &trace, TensorId tensor)
{
    const std::string_view reason = payloadReason(trace, tensor);
    if (reason != "ok")
        return reason;
    const DType dtype = trace.tensor(tensor).dtype;
    return isComplex(dtype) ? "complex" : isFloating(dtype) ? "ok" : "non-floating";
}

class Precision
{
public:
    Precision(const PrecisionRequest &request, const JobContext &job)
        : m_request(request), m_native(*request.native), m_reference(*request.reference), m_job(job)
    {
        for (const DiagnosticRow &row : m_reference.diagnostics())
            if (m_reference.string(row.token) == kOwnDtypeToken)
                m_ownDtype.emplace(row.call.value(), m_reference.string(row.message));
    }

    Status run()
    {
        const std::vector<OpId> partners = alignment();
        const auto ops = m_native.computeOps();
        for (std::size_t i = 0; i < ops.size(); ++i) {
            m_job.report("comparing ops", i + 1, ops.size());
            if (Status status = visit(ops[i], partners[i]); !status)
                return status;
        }
        return Status::ok();
    }

    Report report() const;

private:
    // The op of the reference run for every op of the native one. By position where both ran the same
    // functions in the same order: labels may differ, since dtypes are part of what makes two ops passes of
    // one layer.
    std::vector<OpId> alignment() const
    {
        const auto native = m_native.computeOps();
        const auto reference = m_reference.computeOps();
        const auto sameOp = [this](OpId a, OpId b) {
            return m_native.op(a).slot == m_reference.op(b).slot &&
                   m_native.string(m_native.callOf(a).func) == m_reference.string(m_reference.callOf(b).func);
        };
        if (std::equal(native.begin(), native.end(), reference.begin(), reference.end(), sameOp))
            return {reference.begin(), reference.end()};
        std::unordered_map<std::string_view, OpId> byLabel;
        for (const OpId op : reference)
            byLabel.emplace(m_reference.label(op), op);
        std::vector<OpId> partners;
        for (const OpId op : native) {
            const auto found = byLabel.find(m_native.label(op));
            partners.push_back(found == byLabel.end() ? OpId() : found->second);
        }
        return partners;
    }

    void skip(OpId op, std::string reason)
    {
        m_skipped.append(Value::list({m_native.label(op), std::move(reason)}));
    }

    Limits limitsOf(DType dtype) const
    {
        const double epsilon = floatLimits(dtype).epsilon;
        return {m_request.rtol.value_or(std::sqrt(epsilon)), m_request.atol.value_or(10.0 * epsilon)};
    }

    Status visit(OpId op, OpId other)
    {
        const TensorId tensor = m_native.op(op).tensor;
        if (!tensor.isValid() || m_native.tensor(tensor).payload.state == PayloadState::uninitialised)
            return Status::ok(); // bookkeeping without a tensor, memory that nobody wrote
        if (const std::string_view reason = floatingReason(m_native, tensor); reason != "ok") {
            skip(op, std::string(reason));
            return Status::ok();
        }
        if (!other.isValid()) {
            skip(op, "missing in reference run (dtype-dependent path?)");
            return Status::ok();
        }
        const TensorId second = m_reference.op(other).tensor;
        if (const auto own = m_ownDtype.find(m_reference.op(other).call.value()); own != m_ownDtype.end()) {
            skip(op, std::string(own->second));
            return Status::ok();
        }
        if (const std::string_view reason = floatingReason(m_reference, second); reason != "ok") {
            skip(op, "reference " + std::string(reason));
            return Status::ok();
        }
        return compare(op, tensor, second);
    }

    Status compare(OpId op, TensorId tensor, TensorId second)
    {
        const auto shape = m_native.shape(tensor);
        const auto otherShape = m_reference.shape(second);
        if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
            skip(op, "empty tensor");
            return Status::ok();
        }
        PrecisionRow row;
        row.op = op;
        row.dtype = m_native.tensor(tensor).dtype;
        row.limits = limitsOf(row.dtype);
        row.stochastic = isStochasticName(m_native.string(m_native.callOf(op).func));
        if (!std::equal(shape.begin(), shape.end(), otherShape.begin(), otherShape.end())) {
            constexpr double kInfinite = std::numeric_limits<double>::infinity();
            row.errors = {kInfinite, kInfinite, true};
        } else {
            ErrorSum sum(row.dtype, m_reference.tensor(second).dtype, row.limits);
            const Status read = visitPairs(m_native, tensor, m_reference, second, m_job,
                                           [&sum](const std::byte *a, const std::byte *b, std::size_t count) {
                                               sum.add(a, b, count);
                                               return true;
                                           });
            if (!read)
                return read;
            row.errors = sum.errors;
        }
        if (row.errors.diverged && !m_first)
            m_first = m_rows.size();
        m_rows.push_back(row);
        return Status::ok();
    }

    std::string message() const;
    ReportRow tableRow(const PrecisionRow &row) const;
    ReportFinding findingOf(const PrecisionRow &row) const;

    const PrecisionRequest &m_request;
    const Trace &m_native;
    const Trace &m_reference;
    const JobContext &m_job;
    std::vector<PrecisionRow> m_rows;
    // Calls of the reference run that were not made in its dtype, and why.
    std::unordered_map<std::uint32_t, std::string_view> m_ownDtype;
    Value m_skipped = Value::list();
    std::optional<std::size_t> m_first;
};

std::string Precision::message() const
{
    std::string text;
    if (m_rows.empty()) {
        text = "nothing comparable: no op has floating values in both runs";
    } else if (!m_first) {
        text = fmt::format("no op of {} is further from the {} run than its tolerance", m_rows.size(),
                           m_request.referenceDtype);
    } else {
        const PrecisionRow &row = m_rows[*m_first];
        text = fmt::format("{}{} is the first op beyond tolerance: largest error {:.3g}, relative {:.3g} "
                           "(rtol {:.3g}, atol {:.3g})",
                           m_native.label(row.op), whereText(m_native, row.op), row.errors.maxAbs,
                           row.errors.maxRel, row.limits.rtol, row.limits.atol);
        if (row.stochastic)
            text += "; it draws random numbers, which the two precisions may draw differently: run the model "
                    "in eval mode";
    }
    if (const std::size_t skipped = m_skipped.toList().size(); skipped > 0)
        text += fmt::format("; {} {} not compared", skipped, skipped == 1 ? "op was" : "ops were");
    return text;
}

ReportRow Precision::tableRow(const PrecisionRow &row) const
{
    ReportRow out;
    out.op = row.op;
    out.cells = {m_native.label(row.op),
                 m_native.string(m_native.callOf(row.op).func),
                 torchDTypeName(row.dtype),
                 row.errors.maxAbs,
                 row.errors.maxRel,
                 row.limits.rtol,
                 row.limits.atol,
                 row.errors.diverged,
                 row.stochastic,
                 sourceLineValue(m_native, row.op)};
    return out;
}

ReportFinding Precision::findingOf(const PrecisionRow &row) const
{
    ReportFinding finding;
    finding.severity = row.stochastic ? Severity::info : Severity::warning;
    finding.check = "bisect_precision";
    finding.code = "precision_divergence";
    finding.message = fmt::format("{}{}: largest error {:.3g}, relative {:.3g}", m_native.label(row.op),
                                  whereText(m_native, row.op), row.errors.maxAbs, row.errors.maxRel);
    finding.ops = {row.op};
    finding.opLabels = {std::string(m_native.label(row.op))};
    if (const Value module = moduleValue(m_native, row.op); !module.isNull())
        finding.modules = {module.toString()};
    finding.values = Value::object({{"max_abs_err", row.errors.maxAbs}, {"max_rel_err", row.errors.maxRel}});
    return finding;
}

Report Precision::report() const
{
    Report report = startReport("bisect_precision", std::string(m_native.subject()));
    report.table.columns = {{"label", CellKind::op, {}},           {"func_name", CellKind::text, {}},
                            {"native_dtype", CellKind::text, {}},  {"max_abs_err", CellKind::number, {}},
                            {"max_rel_err", CellKind::number, {}}, {"rtol", CellKind::number, {}},
                            {"atol", CellKind::number, {}},        {"diverged", CellKind::boolean, {}},
                            {"stochastic", CellKind::boolean, {}}, {"source_line", CellKind::text, {}}};
    Value rows = Value::list();
    for (const PrecisionRow &row : m_rows) {
        ReportRow made = tableRow(row);
        Value object = Value::object();
        for (std::size_t i = 0; i < made.cells.size(); ++i)
            object.set(report.table.columns[i].name, made.cells[i]);
        rows.append(std::move(object));
        report.table.rows.push_back(std::move(made));
        if (row.errors.diverged)
            report.findings.push_back(findingOf(row));
    }
    const PrecisionRow *first = m_first ? &m_rows[*m_first] : nullptr;
    FirstBadThing bad;
    bad.found = first != nullptr;
    bad.tool = "bisect_precision";
    bad.kind = first != nullptr ? "precision_divergence" : "none";
    bad.label = first != nullptr ? Value(m_native.label(first->op)) : Value();
    bad.labelStatus = first != nullptr ? "final" : "none";
    bad.module = first != nullptr ? moduleValue(m_native, first->op) : Value();
    bad.sourceLine = first != nullptr ? sourceLineValue(m_native, first->op) : Value();
    bad.detectionBasis = "double_run";
    bad.message = message();
    report.result = Value::object(
        {{"found", first != nullptr},
         {"label", bad.label},
         {"func_name", first != nullptr ? Value(m_native.string(m_native.callOf(first->op).func)) : Value()},
         {"source_line", bad.sourceLine},
         {"module_address", bad.module},
         {"max_abs_err", first != nullptr ? Value(first->errors.maxAbs) : Value()},
         {"max_rel_err", first != nullptr ? Value(first->errors.maxRel) : Value()},
         {"rows", std::move(rows)},
         {"skipped", m_skipped},
         {"message", bad.message},
         {"reference_dtype", m_request.referenceDtype},
         {"first_bad_thing", bad.toValue()}});
    report.found = first != nullptr;
    report.status = report.found ? "found" : m_skipped.toList().empty() ? "clean" : "clean_among_checked";
    report.coverage = fmt::format(
        "{} ops compared, {} skipped; the reference run is in {} throughout{}, casts of the model included",
        m_rows.size(), m_skipped.toList().size(), m_request.referenceDtype,
        m_ownDtype.empty() ? "" : fmt::format(" but for {} calls", m_ownDtype.size()));
    return report;
}

} // namespace

Result<Report> precisionReport(const PrecisionRequest &request, const JobContext &job)
{
    Precision precision(request, job);
    if (Status status = precision.run(); !status)
        return status;
    return precision.report();
}

} // namespace core
