// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/backward_ledger.h"
#include "core/analysis/gradient_reports.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/rounded_value.h"
#include "core/base/or_null.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace core {
namespace {

struct Options
{
    Value bwd;
    double vanishing = 1e-7;
    double exploding = 1e4;
    std::optional<double> scale;
    bool hasScales = false;
    std::map<std::string, double> scales; // by pass index as text
    std::string basis;
};

// The refusals of the page, in its order.
std::optional<ReportError> readOptions(const ReportRequest &request, Options &options)
{
    options.bwd = request.option("bwd");
    options.vanishing = request.option("vanishing_threshold").toDouble();
    options.exploding = request.option("exploding_threshold").toDouble();
    options.basis = request.option("basis").toString();
    if (options.basis != "total_norm" && options.basis != "rms")
        return invalidArgument("grad_basis_invalid", fmt::format("basis is '{}'", options.basis),
                               "pass total_norm or rms");
    const Value &scales = request.option("grad_scales");
    if (!request.option("grad_scale").isNull() && !scales.isNull())
        return ReportError{"KeywordConflictError", "grad_scale_conflict",
                           "grad_scale and grad_scales are both given",
                           "pass one factor for all passes or one for each, not both"};
    const auto one = positiveScale(request.option("grad_scale"), "grad_scale");
    if (!one)
        return invalidArgument(one.error().detail(), one.error().message(), one.error().remedy());
    options.scale = *one;
    options.hasScales = !scales.isNull();
    for (const auto &[pass, value] : scales.toObject()) {
        const auto scale = positiveScale(value.isNull() ? Value("null") : value, "grad_scales[" + pass + "]");
        if (!scale)
            return invalidArgument(scale.error().detail(), scale.error().message(), scale.error().remedy());
        options.scales.emplace(pass, **scale);
    }
    return std::nullopt;
}

struct GradientRowData
{
    OpId op;
    std::string reason;
    std::optional<double> raw;
    std::optional<double> norm;
    std::optional<double> rms;
    std::uint64_t elements = 0;
    bool vanishing = false;
    bool exploding = false;
    bool dead = false;
    bool frontier = false;
    std::string verdict = "unavailable";

    int severity() const { return 3 * int(exploding) + 2 * int(dead) + int(vanishing); }
};

// L2 norm as the original computes it: squares are summed in float32 for the types up to that, so a norm
// beyond its square root is infinite and one below it zero; and the result is rounded to the gradient's
// dtype.
double normOf(const TensorStats &stats, DType dtype)
{
    if (stats.nan > 0)
        return std::nan("");
    if (stats.posInf + stats.negInf > 0)
        return HUGE_VAL;
    const double n = static_cast<double>(stats.elements);
    const double squares = n * (stats.mean * stats.mean + stats.std * stats.std);
    if (dtype != DType::float64) {
        if (squares > static_cast<double>(std::numeric_limits<float>::max()))
            return HUGE_VAL;
        if (stats.absMax * stats.absMax < static_cast<double>(std::numeric_limits<float>::denorm_min()) / 2.0)
            return 0.0;
    }
    return roundedTo(dtype, std::sqrt(squares));
}

class Health
{
public:
    Health(const ReportRequest &request, Options options)
        : m_trace(*request.trace), m_statistics(*request.statistics), m_options(std::move(options))
    {
    }

    Result<Report> run(const BackwardId pass, std::int64_t passIndex, const JobContext &job)
    {
        m_pass = pass;
        m_passIndex = passIndex;
        chooseScale();
        std::vector<TensorId> gradients;
        for (const GradientRow &row : m_trace.gradients())
            gradients.push_back(row.gradient);
        if (Status status = m_statistics.prepare(gradients, job); !status)
            return status;
        std::set<TensorId> withGradient;
        for (const GradientRow &row : m_trace.gradients())
            withGradient.insert(row.tensor);
        const bool own = m_trace.info().source != TraceSource::torchLens;
        for (std::size_t i = 0; i < m_trace.ops().size(); ++i) {
            const OpRow &row = m_trace.op(OpId(i));
            // In own captures an output row shows its producer's tensor again.
            if (row.tensor.isValid() && withGradient.contains(row.tensor) &&
                !(own && row.kind == CallKind::output))
                m_rows.push_back(measure(OpId(i)));
        }
        findFrontier();
        std::stable_sort(m_rows.begin(), m_rows.end(),
                         [this](const GradientRowData &a, const GradientRowData &b) {
                             return std::tuple(b.severity(), b.frontier, m_trace.label(b.op)) <
                                    std::tuple(a.severity(), a.frontier, m_trace.label(a.op));
                         });
        return report();
    }

private:
    void chooseScale()
    {
        const auto found = m_options.scales.find(std::to_string(m_passIndex));
        m_scale = found == m_options.scales.end() ? m_options.scale : found->second;
        m_recordedScale = recordedLossScale(m_trace, m_pass);
        m_provenance = m_scale ? "explicit" : m_recordedScale ? "recorded" : "unknown";
        m_scale = m_scale ? m_scale : m_recordedScale;
    }

    std::string scaleWords() const
    {
        if (!m_scale)
            return "; the loss scale is not known";
        if (*m_scale == 1.0 && m_recordedScale.value_or(1.0) == 1.0)
            return {};
        const bool differs = m_recordedScale && *m_recordedScale != *m_scale;
        return fmt::format("; norms are divided by the {} loss scale {}{}",
                           m_provenance == "recorded" ? "recorded" : "given", formatNumber(*m_scale),
                           differs ? fmt::format(", the trace records {}", formatNumber(*m_recordedScale))
                                   : std::string());
    }

    std::string unavailable(TensorId gradient) const
    {
        const DType dtype = m_trace.tensor(gradient).dtype;
        switch (m_statistics.unavailable(gradient)) {
        case Unavailable::no:
            break;
        case Unavailable::meta:
            return "meta";
        case Unavailable::sparse:
            return "sparse";
        case Unavailable::quantized:
            return "quantized";
        case Unavailable::nonTensor:
            return "non-tensor/container";
        case Unavailable::unreadable:
        case Unavailable::unsaved:
            return "unsaved";
        }
        if (isComplex(dtype))
            return "complex";
        return isFloating(dtype) ? "" : "non-floating";
    }

    GradientRowData measure(OpId op) const
    {
        GradientRowData row;
        row.op = op;
        const GradientRow *found = m_trace.gradient(m_trace.op(op).tensor, m_pass);
        if (found == nullptr || !found->gradient.isValid()) {
            row.reason = fmt::format("no gradient of this op was recorded in backward pass {}", m_passIndex);
            return row;
        }
        row.reason = unavailable(found->gradient);
        const TensorStats *stats = m_statistics.find(found->gradient);
        if (!row.reason.empty() || stats == nullptr) {
            row.reason = row.reason.empty() ? "unsaved" : row.reason;
            return row;
        }
        row.elements = stats->elements;
        row.raw = normOf(*stats, m_trace.tensor(found->gradient).dtype);
        row.norm = *row.raw / m_scale.value_or(1.0);
        if (row.elements > 0)
            row.rms = *row.norm / std::sqrt(static_cast<double>(row.elements));
        classify(row);
        return row;
    }

    void classify(GradientRowData &row) const
    {
        const double value = m_options.basis == "rms" ? row.rms.value_or(*row.norm) : *row.norm;
        const bool finite = std::isfinite(*row.norm);
        row.dead = finite && *row.norm == 0.0;
        row.vanishing = finite && value > 0.0 && value < m_options.vanishing;
        row.exploding = !finite || value > m_options.exploding;
        if (!finite) {
            row.verdict = "nonfinite";
            row.reason = "the non-finite gradient landed here: it is with respect to this op's output, so it "
                         "was born in "
                         "the backward of a consumer; run bisect_nan_backward";
        } else if (row.dead) {
            row.verdict = "dead";
        } else if (!m_scale) {
            row.verdict = "unknown";
        } else {
            row.verdict = row.exploding ? "exploding" : (row.vanishing ? "vanishing" : "ok");
        }
    }

    static std::string flagOf(const GradientRowData &row)
    {
        for (const std::string_view verdict : {"dead", "vanishing", "exploding", "nonfinite"})
            if (row.verdict == verdict)
                return row.verdict;
        return row.exploding ? "exploding" : (row.dead ? "dead" : (row.vanishing ? "vanishing" : ""));
    }

    // The flagged row nearest the loss: no consumer carries the same flag. Layers are compared, not passes.
    void findFrontier()
    {
        std::set<std::pair<StringId, std::string>> flags;
        for (const GradientRowData &row : m_rows)
            if (const std::string flag = flagOf(row); !flag.empty())
                flags.emplace(m_trace.op(row.op).layerLabel, flag);
        for (GradientRowData &row : m_rows) {
            const std::string flag = flagOf(row);
            if (flag.empty())
                continue;
            const auto children = m_trace.children(row.op);
            row.frontier = std::none_of(children.begin(), children.end(), [&](OpId child) {
                return flags.contains({m_trace.op(child).layerLabel, flag});
            });
        }
    }

    ReportRow tableRow(const GradientRowData &row) const
    {
        const std::string_view atomic = m_trace.string(m_trace.op(row.op).atomicModule);
        const bool measured = row.raw.has_value();
        return {{m_trace.label(row.op), orNull(row.norm), row.vanishing, row.exploding, row.dead,
                 row.severity(), row.reason, atomic.empty() ? Value() : Value(atomic), row.frontier,
                 orNull(row.raw), orNull(row.rms), measured ? Value(row.elements) : Value(), row.verdict,
                 "pre_clip", measured ? m_provenance : "unknown"},
                row.op,
                {}};
    }

    void addFinding(Report &report, const GradientRowData &row) const
    {
        ReportFinding finding;
        finding.severity = row.exploding ? Severity::critical : Severity::warning;
        finding.check = "grad_health";
        finding.code = flagOf(row);
        finding.message = fmt::format("{}: {} gradient, norm {}{}{}", m_trace.label(row.op), flagOf(row),
                                      formatNumber(*row.norm), row.frontier ? ", nearest the loss" : "",
                                      whereText(m_trace, row.op));
        finding.ops = {row.op};
        finding.opLabels = {std::string(m_trace.label(row.op))};
        finding.values = Value::object({{"grad_norm", *row.norm}, {"numel", row.elements}});
        report.findings.push_back(std::move(finding));
    }

    Report report() const;

    const Trace &m_trace;
    TraceStatistics &m_statistics;
    Options m_options;
    BackwardId m_pass;
    std::int64_t m_passIndex = 1;
    std::optional<double> m_scale;
    std::optional<double> m_recordedScale;
    std::string_view m_provenance;
    std::vector<GradientRowData> m_rows;
};

const std::vector<ReportColumn> &gradColumns()
{
    static const std::vector<ReportColumn> kColumns = {{"op", CellKind::op, {}},
                                                       {"grad_norm", CellKind::number, {}},
                                                       {"vanishing", CellKind::boolean, {}},
                                                       {"exploding", CellKind::boolean, {}},
                                                       {"dead", CellKind::boolean, {}},
                                                       {"severity", CellKind::integer, {}},
                                                       {"reason", CellKind::text, {}},
                                                       {"module", CellKind::text, {}},
                                                       {"is_frontier", CellKind::boolean, {}},
                                                       {"grad_norm_raw", CellKind::number, {}},
                                                       {"rms", CellKind::number, {}},
                                                       {"numel", CellKind::integer, {}},
                                                       {"verdict", CellKind::text, {}},
                                                       {"stage", CellKind::text, {}},
                                                       {"scale_provenance", CellKind::text, {}}};
    return kColumns;
}

Report Health::report() const
{
    Report report = startReport("grad_health", std::string(m_trace.subject()));
    report.isTabular = true;
    report.table.columns = gradColumns();
    std::int64_t vanishing = 0;
    std::int64_t exploding = 0;
    std::int64_t dead = 0;
    std::int64_t unavailableRows = 0;
    std::int64_t unknown = 0;
    for (const GradientRowData &row : m_rows) {
        report.table.rows.push_back(tableRow(row));
        unavailableRows += row.raw ? 0 : 1;
        unknown += row.verdict == "unknown" ? 1 : 0;
        if (row.severity() == 0)
            continue;
        ++(row.exploding ? exploding : (row.dead ? dead : vanishing));
        addFinding(report, row);
    }
    const auto measured = static_cast<std::int64_t>(m_rows.size()) - unavailableRows;
    report.attrs = Value::object({{"vanishing", vanishing},
                                  {"exploding", exploding},
                                  {"dead", dead},
                                  {"unavailable", unavailableRows},
                                  {"unknown_verdicts", unknown},
                                  {"bwd", m_passIndex},
                                  {"vanishing_threshold", m_options.vanishing},
                                  {"exploding_threshold", m_options.exploding},
                                  {"basis", m_options.basis},
                                  {"scale_provenance", m_provenance},
                                  {"torchlens_capture_honesty", honestyValue(m_trace)}});
    if (m_scale)
        report.attrs.set("grad_scale", *m_scale);
    if (m_options.hasScales) {
        Value scales = Value::object();
        for (const auto &[pass, scale] : m_options.scales)
            scales.set(pass, scale);
        report.attrs.set("grad_scales", std::move(scales));
    }
    if (!m_scale && measured > 0 && exploding == measured)
        report.attrs.set("all_exploding_hint", ampHintText(false));
    std::stable_sort(report.findings.begin(), report.findings.end(),
                     [](const ReportFinding &a, const ReportFinding &b) { return a.severity < b.severity; });
    report.found = !report.findings.empty();
    report.status =
        report.found ? "flagged" : (measured == 0 ? "empty" : (unknown > 0 ? "unknown_scale" : "ok"));
    report.coverage = fmt::format("backward pass {}: {} gradients measured, {} unavailable{}", m_passIndex,
                                  measured, unavailableRows, scaleWords());
    return report;
}

Report emptyReport(const Trace &trace, std::string message, Value attrs)
{
    Report report = startReport("grad_health", std::string(trace.subject()));
    report.isTabular = true;
    report.status = "empty";
    report.coverage = message;
    attrs.set("message", std::move(message));
    report.attrs = std::move(attrs);
    return report;
}

} // namespace

Result<Report> gradHealth(const ReportRequest &request, const JobContext &job)
{
    const Trace &trace = *request.trace;
    Options options;
    if (auto error = readOptions(request, options))
        return refusedReport("grad_health", std::string(trace.subject()), std::move(*error));
    if (trace.backwards().empty() || trace.gradients().empty())
        return emptyReport(
            trace, "no gradients: capture backward-ready (gradients of ops saved) and run the backward pass",
            Value::object({{"vanishing", 0}, {"exploding", 0}, {"dead", 0}}));
    if (options.bwd.isNull() && trace.backwards().size() > 1)
        return emptyReport(trace, "bwd is required: the trace has several backward passes",
                           Value::object({{"backward_passes", trace.backwards().size()}}));
    for (std::size_t i = 0; i < trace.backwards().size(); ++i)
        if (options.bwd.isNull() ||
            options.bwd.toInt() == static_cast<std::int64_t>(trace.backwards()[i].index)) {
            const std::int64_t index = trace.backwards()[i].index;
            return Health(request, std::move(options)).run(BackwardId(i), index, job);
        }
    std::vector<std::string> captured;
    for (const BackwardRow &row : trace.backwards())
        captured.push_back(std::to_string(row.index));
    return refusedReport("grad_health", std::string(trace.subject()),
                         invalidArgument("bwd_selector_unknown",
                                         fmt::format("backward pass {} was not captured (captured: {})",
                                                     options.bwd.toInt(), joined(captured)),
                                         "pass one of the captured passes"));
}

} // namespace core
