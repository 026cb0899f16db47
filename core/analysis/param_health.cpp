// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/complex_magnitudes.h"
#include "core/analysis/parameter_reports.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/report_registry.h"
#include "core/base/or_null.h"
#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace core {
namespace {

struct Bounds
{
    std::optional<double> low;
    std::optional<double> high;
};

struct Entry
{
    std::string name;
    std::vector<std::string> aliases;
    std::string kind;
    TensorId tensor;
    std::string typeName; // of an entry that is no tensor
    std::string skip;     // why its tensor could not be read; empty otherwise
    Value shape;          // of such a tensor, where it is known
};

// Why an entry of a file is no tensor that can be looked at, in words.
std::string skipWords(const Entry &entry)
{
    struct Words
    {
        std::string_view token;
        std::string_view text;
    };
    constexpr Words kWords[] = {
        {"meta", "meta tensor holds no values"},
        {"quantized", "quantized"},
        {"subclass", "a tensor subclass, which only its class can read"},
        {"missing_record", "its values are not in the file"},
        {"unknown_dtype", "of a dtype that is not known"},
        {"too_large", "its dense form is too large"},
        {"object_dtype", "an array of Python objects, which would have to be unpickled"},
        {"structured_dtype", "an array of records"},
    };
    if (entry.skip.empty() || entry.skip == "not_a_tensor")
        return "not a tensor: " + entry.typeName;
    if (entry.skip.starts_with("sparse_"))
        return "unsupported layout torch." + entry.skip;
    for (const Words &words : kWords)
        if (words.token == entry.skip)
            return std::string(words.text);
    return "cannot be read: " + entry.skip;
}

ReportError configError(std::string code, std::string message, std::string remedy)
{
    return {"CheckConfigError", std::move(code), std::move(message), std::move(remedy)};
}

std::optional<double> bound(const Value &value, bool &valid)
{
    if (value.isNull())
        return std::nullopt;
    valid = valid && value.isNumber();
    return value.toDouble();
}

// What was asked for, checked in the page's order: fractions, target, within, bounds.
class Question
{
public:
    std::vector<Entry> entries;
    std::map<std::string, Bounds> bounds;
    double maxFraction = 0.9;
    double subnormalThreshold = 0.1;

    std::optional<ReportError> read(const ReportRequest &request)
    {
        for (const std::string_view name : {"max_fraction", "subnormal_fraction_threshold"}) {
            const Value &value = request.option(name);
            if (!value.isNumber() || !(value.toDouble() >= 0.0 && value.toDouble() <= 1.0))
                return configError("check_fraction_invalid", fmt::format("{} is {}", name, toJson(value)),
                                   "pass a fraction from 0 to 1");
        }
        maxFraction = request.option("max_fraction").toDouble();
        subnormalThreshold = request.option("subnormal_fraction_threshold").toDouble();
        collect(*request.trace, request.option("include_buffers").toBool());
        if (entries.empty())
            return configError(
                "check_target_invalid",
                fmt::format("{} holds no parameters or named tensors", request.trace->subject()),
                "open a checkpoint or a trace that recorded its parameters");
        if (auto error = readWithin(request.option("within")))
            return error;
        return readBounds(request.option("bounds"));
    }

private:
    void collect(const Trace &trace, bool includeBuffers)
    {
        const bool mapping = isTensorFile(trace);
        std::unordered_map<TensorId, std::size_t> firsts; // one tensor can have several names in a file
        for (const bool buffers : {false, true})
            for (const ParamRow &row : trace.params()) {
                if (mapping ? buffers : row.isBuffer != buffers || (buffers && !includeBuffers))
                    continue;
                m_names.emplace_back(trace.string(row.address));
                if (mapping && row.tensor.isValid())
                    if (const auto [first, isNew] = firsts.emplace(row.tensor, entries.size()); !isNew) {
                        entries[first->second].aliases.push_back(m_names.back());
                        continue;
                    }
                Entry entry;
                entry.name = m_names.back();
                for (const StringId alias : trace.stringIds(row.aliases))
                    entry.aliases.emplace_back(trace.string(alias));
                entry.kind = mapping ? "mapping" : (row.isBuffer ? "buffer" : "parameter");
                entry.tensor = row.tensor;
                if (!row.tensor.isValid()) {
                    const auto facts = parseJson(trace.string(row.attributesJson), "attributes");
                    entry.typeName = facts ? facts->at("type").toString() : "object";
                    entry.skip = facts ? facts->at("skip").toString() : "";
                    entry.shape = facts ? facts->at("shape") : Value();
                }
                m_names.insert(m_names.end(), entry.aliases.begin(), entry.aliases.end());
                entries.push_back(std::move(entry));
            }
    }

    std::string knownNames() const
    {
        std::vector<std::string> some(
            m_names.begin(),
            m_names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, m_names.size())));
        return joined(some) + (m_names.size() > some.size() ? ", ..." : "");
    }

    std::vector<std::string> unknown(const std::vector<std::string> &names)
    {
        if (m_index.empty())
            for (std::size_t i = 0; i < m_names.size(); ++i)
                m_index.emplace(m_names[i], i);
        std::vector<std::string> missing;
        for (const std::string &name : names)
            if (!m_index.contains(name))
                missing.push_back(name);
        return missing;
    }

    std::optional<ReportError> readWithin(const Value &within)
    {
        if (within.isNull())
            return std::nullopt;
        std::vector<std::string> names;
        for (const Value &name : within.toList())
            names.push_back(name.toString());
        if (const auto missing = unknown(names); !missing.empty())
            return configError("audit_within_unknown_name",
                               "within names what is not there: " + joined(missing),
                               "the names are " + knownNames());
        // Names are chosen before tensors are told apart: the first that is left names the row.
        const std::unordered_set<std::string_view> asked(names.begin(), names.end());
        const auto isNotAsked = [&](const std::string &name) { return !asked.contains(name); };
        std::vector<Entry> kept;
        for (Entry &entry : entries) {
            entry.aliases.insert(entry.aliases.begin(), entry.name);
            std::erase_if(entry.aliases, isNotAsked);
            if (entry.aliases.empty())
                continue;
            entry.name = entry.aliases.front();
            entry.aliases.erase(entry.aliases.begin());
            kept.push_back(std::move(entry));
        }
        entries = std::move(kept);
        std::stable_sort(entries.begin(), entries.end(), [this](const Entry &a, const Entry &b) {
            return m_index.at(a.name) < m_index.at(b.name);
        });
        return std::nullopt;
    }

    std::optional<ReportError> readBounds(const Value &given)
    {
        for (const auto &[name, pair] : given.toObject()) {
            bool valid = pair.isList() && pair.toList().size() == 2;
            Bounds limits;
            if (valid) {
                limits.low = bound(pair.toList()[0], valid);
                limits.high = bound(pair.toList()[1], valid);
            }
            if (!valid || (limits.low && limits.high && *limits.low > *limits.high))
                return configError(
                    "check_bounds_invalid", fmt::format("bounds of '{}' are {}", name, toJson(pair)),
                    "pass a pair [low, high] with low not above high; null leaves a side open");
            bounds.emplace(name, limits);
        }
        for (const auto &[name, limits] : bounds)
            if (!unknown({name}).empty())
                return configError("audit_bounds_unknown_name",
                                   fmt::format("bounds name '{}' is not there", name),
                                   "the names are " + knownNames());
        return std::nullopt;
    }

    std::vector<std::string> m_names;
    std::unordered_map<std::string_view, std::size_t> m_index; // their places, made when they are asked for
};

// The numbers of one scanned tensor.
struct Scan
{
    std::uint64_t elements = 0;
    std::uint64_t nan = 0;
    std::uint64_t posInf = 0;
    std::uint64_t negInf = 0;
    std::uint64_t zero = 0;
    std::uint64_t subnormal = 0;
    bool allSame = false;
    std::optional<double> min;
    std::optional<double> max;
    std::optional<double> absMax;
    std::optional<std::uint64_t> below;
    std::optional<std::uint64_t> above;
};

Scan scanOf(const TensorStats &stats, DType dtype)
{
    Scan scan{stats.elements, stats.nan, stats.posInf, stats.negInf, stats.zero, stats.subnormal,
              false,          {},        {},           {},           {},         {}};
    if (stats.hasFinite()) {
        scan.min = stats.min;
        scan.max = stats.max;
        scan.absMax = stats.absMax;
    }
    // The page's scan widens float8 to float32, where none of its values is subnormal.
    if (isFloating(dtype) && itemSize(dtype) == 1)
        scan.subnormal = 0;
    const bool same = stats.nonFinite() == 0
                          ? stats.min == stats.max
                          : stats.posInf == stats.elements || stats.negInf == stats.elements;
    scan.allSame = stats.elements > 0 && same;
    return scan;
}

// A complex element counts once; min and max have no meaning for it.
Scan scanOf(const ComplexMagnitudes &magnitudes)
{
    Scan scan;
    scan.elements = magnitudes.elements;
    scan.nan = magnitudes.nan;
    scan.posInf = magnitudes.inf - magnitudes.negInf;
    scan.negInf = magnitudes.negInf;
    scan.zero = magnitudes.zero;
    scan.subnormal = magnitudes.subnormal;
    scan.allSame = magnitudes.elements > 0 && magnitudes.allSame;
    if (magnitudes.elements > magnitudes.nan + magnitudes.inf)
        scan.absMax = magnitudes.largest;
    return scan;
}

Status countOutside(const Trace &trace, TensorId tensor, const Bounds &limits, const JobContext &job,
                    Scan &scan)
{
    scan.below = 0;
    scan.above = 0;
    const DType dtype = trace.tensor(tensor).dtype;
    // Limits are compared as the tensor holds numbers: 0.2 and the float32 next to it are the same limit.
    const auto held = [dtype](std::optional<double> limit) {
        return limit && isFloating(dtype) && dtype != DType::float64
                   ? std::optional<double>(static_cast<double>(static_cast<float>(*limit)))
                   : limit;
    };
    const Bounds declared{held(limits.low), held(limits.high)};
    std::vector<std::byte> buffer;
    return visitElements(trace, tensor, job, buffer,
                         [&](const std::byte *data, std::size_t count, std::uint64_t) {
                             for (std::size_t i = 0; i < count; ++i) {
                                 const double value = elementAsDouble(dtype, data, i);
                                 *scan.below += declared.low && value < *declared.low ? 1 : 0;
                                 *scan.above += declared.high && value > *declared.high ? 1 : 0;
                             }
                             return true;
                         });
}

class Health
{
public:
    Health(const ReportRequest &request, Question question)
        : m_trace(*request.trace), m_statistics(*request.statistics), m_question(std::move(question))
    {
    }

    Result<Report> run(const JobContext &job)
    {
        std::vector<TensorId> tensors;
        for (const Entry &entry : m_question.entries)
            tensors.push_back(entry.tensor);
        if (Status status = m_statistics.prepare(tensors, job); !status)
            return status;
        for (const Entry &entry : m_question.entries)
            if (Status status = look(entry, job); !status)
                return status;
        return report();
    }

private:
    std::string skipReason(const Entry &entry) const
    {
        if (!entry.tensor.isValid())
            return skipWords(entry);
        switch (m_statistics.unavailable(entry.tensor)) {
        case Unavailable::no:
            return {};
        case Unavailable::meta:
            return "meta tensor holds no values";
        case Unavailable::sparse:
            return "unsupported layout sparse";
        case Unavailable::quantized:
            return "quantized";
        case Unavailable::nonTensor:
            return "not a tensor: undefined";
        case Unavailable::unsaved:
            return "the values are not in the trace";
        case Unavailable::unreadable:
            return "the values could not be read";
        }
        return {};
    }

    Status look(const Entry &entry, const JobContext &job)
    {
        if (const std::string reason = skipReason(entry); !reason.empty()) {
            addRow(entry, nullptr, reason);
            ++m_skippedTensors;
            return Status::ok();
        }
        const TensorRow &row = m_trace.tensor(entry.tensor);
        Scan scan = scanOf(*m_statistics.find(entry.tensor), row.dtype);
        if (isComplex(row.dtype) && row.payload.state == PayloadState::saved) {
            const auto magnitudes = complexMagnitudes(m_trace, entry.tensor, job);
            if (!magnitudes)
                return magnitudes.error();
            scan = scanOf(*magnitudes);
        }
        const auto limits = m_question.bounds.find(entry.name);
        if (limits != m_question.bounds.end() && row.payload.state == PayloadState::saved &&
            !isComplex(row.dtype))
            if (Status status = countOutside(m_trace, entry.tensor, limits->second, job, scan); !status)
                return status;
        addRow(entry, &scan, {});
        m_auditedElements += scan.elements;
        addFindings(entry, scan);
        return Status::ok();
    }

    // 0 for what is no tensor, or of an unknown shape.
    static std::uint64_t elementsOf(const Entry &entry, const Value &shape)
    {
        std::uint64_t elements = entry.tensor.isValid() || !shape.toList().empty() ? 1 : 0;
        for (const Value &size : shape.toList())
            if (size.toInt() < 0 ||
                __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size.toInt()), &elements))
                return 0;
        return elements;
    }

    void addRow(const Entry &entry, const Scan *scan, const std::string &reason)
    {
        const bool tensor = entry.tensor.isValid();
        const DType dtype = tensor ? m_trace.tensor(entry.tensor).dtype : DType::unknown;
        const Value shape = tensor ? shapeValue(m_trace.shape(entry.tensor))
                                   : (entry.shape.isList() ? entry.shape : Value::list());
        std::uint64_t elements = scan != nullptr ? scan->elements : elementsOf(entry, shape);
        const auto share = [&](std::uint64_t count) {
            return scan == nullptr || scan->elements == 0
                       ? Value()
                       : Value(static_cast<double>(count) / static_cast<double>(scan->elements));
        };
        const bool floating = canBeNonFinite(dtype);
        Value value = Value::object(
            {{"name", entry.name},
             {"aliases", labelList(entry.aliases)},
             {"kind", entry.kind},
             {"shape", shape},
             {"dtype", tensor ? Value(dtypeName(dtype)) : Value(entry.typeName)},
             {"device",
              tensor ? Value(m_trace.string(m_trace.tensor(entry.tensor).device)) : Value("unknown")},
             {"numel", elements},
             {"n_nan", scan != nullptr ? scan->nan : 0},
             {"n_posinf", scan != nullptr ? scan->posInf : 0},
             {"n_neginf", scan != nullptr ? scan->negInf : 0},
             {"n_nonfinite", scan != nullptr ? scan->nan + scan->posInf + scan->negInf : 0},
             {"zero_fraction", scan != nullptr ? share(scan->zero) : Value()},
             {"all_same", scan != nullptr && scan->elements > 0 ? Value(scan->allSame) : Value()},
             {"finite_min", scan != nullptr ? orNull(scan->min) : Value()},
             {"finite_max", scan != nullptr ? orNull(scan->max) : Value()},
             {"abs_max", scan != nullptr ? orNull(scan->absMax) : Value()},
             {"dtype_max", scan != nullptr && floating ? Value(floatLimits(dtype).max) : Value()},
             {"subnormal_fraction", scan != nullptr && floating ? share(scan->subnormal) : Value()},
             {"bounds_below", scan != nullptr ? orNull(scan->below) : Value()},
             {"bounds_above", scan != nullptr ? orNull(scan->above) : Value()},
             {"audited", scan != nullptr},
             {"skip_reason", reason.empty() ? Value() : Value(reason)}});
        m_rows.push_back(std::move(value));
    }

    void addFinding(const Entry &entry, Severity severity, std::string check, std::string code,
                    std::string message, Value values)
    {
        ReportFinding finding;
        finding.severity = severity;
        finding.check = std::move(check);
        finding.code = std::move(code);
        finding.message = entry.name + " " + message;
        finding.opLabels = {entry.name};
        finding.opLabels.insert(finding.opLabels.end(), entry.aliases.begin(), entry.aliases.end());
        finding.values = std::move(values);
        m_findings.push_back(std::move(finding));
    }

    void addFindings(const Entry &entry, const Scan &scan)
    {
        const DType dtype = m_trace.tensor(entry.tensor).dtype;
        const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
        if (scan.nan + scan.posInf + scan.negInf > 0)
            addFinding(entry, Severity::critical, "param_nonfinite", "param_value_nonfinite",
                       fmt::format("holds {} NaN, {} +Inf, {} -Inf of {} values", scan.nan, scan.posInf,
                                   scan.negInf, scan.elements),
                       Value::object({{"n_nan", number(scan.nan)},
                                      {"n_posinf", number(scan.posInf)},
                                      {"n_neginf", number(scan.negInf)}}));
        if (scan.below.value_or(0) + scan.above.value_or(0) > 0)
            addFinding(entry, Severity::warning, "param_bounds", "param_bounds_violated",
                       fmt::format("has {} values below and {} above its bounds", *scan.below, *scan.above),
                       Value::object({{"below", number(*scan.below)}, {"above", number(*scan.above)}}));
        const double limit = canBeNonFinite(dtype) ? floatLimits(dtype).max : 0.0;
        if (limit > 0.0 && scan.absMax && *scan.absMax >= m_question.maxFraction * limit)
            addFinding(entry, Severity::warning, "dtype_headroom", "param_dtype_headroom",
                       fmt::format("reaches {} of the largest {} value {}", formatNumber(*scan.absMax),
                                   dtypeName(dtype), formatNumber(limit)),
                       Value::object({{"abs_max", *scan.absMax}, {"dtype_max", limit}}));
        const double subnormal = scan.elements > 0 ? number(scan.subnormal) / number(scan.elements) : 0.0;
        if (subnormal > 0.0 && subnormal >= m_question.subnormalThreshold)
            addFinding(entry, Severity::warning, "param_subnormal", "param_subnormal_heavy",
                       fmt::format("has {} subnormal values", formatNumber(subnormal)),
                       Value::object({{"subnormal_fraction", subnormal}}));
        if (scan.elements > 0 && scan.zero == scan.elements)
            addFinding(entry, Severity::info, "param_all_zero", "param_all_zero",
                       fmt::format("is zero everywhere ({} values)", scan.elements),
                       Value::object({{"numel", number(scan.elements)}}));
        else if (scan.allSame && scan.elements > 1)
            addFinding(entry, Severity::warning, "param_all_same", "param_all_same",
                       fmt::format("has one value everywhere ({} values)", scan.elements),
                       Value::object({{"numel", number(scan.elements)}}));
    }

    Value findingsValue(const std::vector<ReportFinding> &findings) const
    {
        Value list = Value::list();
        for (const ReportFinding &finding : findings)
            list.append(Value::object({{"check", finding.check},
                                       {"code", finding.code},
                                       {"severity", severityName(finding.severity)},
                                       {"action", "collect"},
                                       {"message", finding.message},
                                       {"names", labelList(finding.opLabels)},
                                       {"evidence", "scan_kernel"},
                                       {"values", finding.values},
                                       {"remedy", ""},
                                       {"follow_up", ""}}));
        return list;
    }

    void fillTable(Report &report) const
    {
        report.table.columns = {{"name", CellKind::text, {}},
                                {"kind", CellKind::text, {}},
                                {"shape", CellKind::list, {}},
                                {"dtype", CellKind::text, {}},
                                {"numel", CellKind::integer, {}},
                                {"n_nan", CellKind::integer, {}},
                                {"n_posinf", CellKind::integer, {}},
                                {"n_neginf", CellKind::integer, {}},
                                {"zero_fraction", CellKind::number, {}},
                                {"finite_min", CellKind::number, {}},
                                {"finite_max", CellKind::number, {}},
                                {"abs_max", CellKind::number, {}},
                                {"subnormal_fraction", CellKind::number, {}},
                                {"skip_reason", CellKind::text, {}}};
        report.table.rows.reserve(m_rows.size());
        for (const Value &value : m_rows) {
            ReportRow row;
            row.cells.reserve(report.table.columns.size());
            for (const ReportColumn &column : report.table.columns)
                row.cells.push_back(value.at(column.name));
            report.table.rows.push_back(std::move(row));
        }
    }

    Report report()
    {
        std::stable_sort(
            m_findings.begin(), m_findings.end(),
            [](const ReportFinding &a, const ReportFinding &b) { return a.severity < b.severity; });
        Report report = startReport("param_health", std::string(m_trace.subject()));
        Value skipped = Value::list();
        for (const Value &row : m_rows)
            if (!row.at("skip_reason").isNull())
                skipped.append(Value::list({row.at("name"), row.at("skip_reason")}));
        const auto audited = static_cast<std::int64_t>(m_rows.size()) - m_skippedTensors;
        const Value checks =
            Value::list({"param_nonfinite",
                         m_question.bounds.empty() ? "param_bounds (no bounds declared)" : "param_bounds",
                         "dtype_headroom", "param_subnormal", "param_all_same"});
        report.result = Value::object({{"schema_version", 1},
                                       {"findings", findingsValue(m_findings)},
                                       {"rows", Value()},
                                       {"checks_run", checks},
                                       {"skipped", std::move(skipped)},
                                       {"coverage", Value::object({{"scope", "process_local"},
                                                                   {"audited_tensors", audited},
                                                                   {"skipped_tensors", m_skippedTensors},
                                                                   {"audited_elements", m_auditedElements},
                                                                   {"global_reduce", "not_applied"}})}});
        fillTable(report);
        report.result.set("rows", Value(std::move(m_rows)));
        report.findings = std::move(m_findings);
        report.found = !report.findings.empty();
        report.status = report.found ? "findings" : (audited > 0 ? "ok" : "incomplete");
        report.coverage = fmt::format("{} tensors with {} values audited, {} skipped", audited,
                                      formatCount(m_auditedElements), m_skippedTensors);
        return report;
    }

    const Trace &m_trace;
    TraceStatistics &m_statistics;
    Question m_question;
    std::vector<Value> m_rows;
    std::vector<ReportFinding> m_findings;
    std::int64_t m_skippedTensors = 0;
    std::uint64_t m_auditedElements = 0;
};

} // namespace

Result<Report> paramHealth(const ReportRequest &request, const JobContext &job)
{
    Question question;
    if (auto error = question.read(request))
        return refusedReport("param_health", std::string(request.trace->subject()), std::move(*error));
    return Health(request, std::move(question)).run(job);
}

} // namespace core
