// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/doctor.h"

#include "core/analysis/doctor_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace core {
namespace {

constexpr std::array kFlags = {"HAS_RECORD_FUNCTION",
                               "HAS_DISPATCH_MODE",
                               "HAS_NODE_POST_HOOK",
                               "HAS_NODE_PRE_HOOK",
                               "HAS_CUDA",
                               "HAS_CUDNN",
                               "HAS_KINETO_INMEMORY_EVENTS",
                               "HAS_FP8_DTYPES",
                               "HAS_MEMORY_PROFILE",
                               "HAS_AUTOCAST_CPU",
                               "HAS_DETERMINISTIC_ALGORITHMS",
                               "HAS_MKLDNN",
                               "HAS_DYNAMO_COMPILE_COUNTERS",
                               "HAS_DYNAMO_EXPLAIN",
                               "HAS_FLOP_COUNTER",
                               "HAS_STACKTRACE_SYMBOLS",
                               "HAS_GRAPHVIZ"};

constexpr std::array kColumns = {"Row", "Status", "Severity", "Detected", "Details", "Suggestion"};
constexpr std::size_t kWidest = 60;

std::vector<std::string> cells(const Value &check)
{
    return {check.at("key").toString(),      check.at("status").toString(),
            check.at("severity").toString(), check.at("is_detected").toBool() ? "yes" : "no",
            check.at("details").toString(),  check.at("suggestion").toString()};
}

// TEXT in lines of at most WIDTH characters, broken at blanks where there are some.
std::vector<std::string> wrapped(std::string text, std::size_t width)
{
    std::vector<std::string> lines;
    while (text.size() > width) {
        std::size_t cut = text.rfind(' ', width);
        if (cut == std::string::npos || cut == 0)
            cut = width;
        lines.push_back(text.substr(0, cut));
        text.erase(0, text[cut] == ' ' ? cut + 1 : cut);
    }
    lines.push_back(text);
    return lines;
}

void appendLine(std::string &out, const std::vector<std::string> &row, const std::vector<std::size_t> &widths)
{
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
        columns.push_back(wrapped(row[c], widths[c]));
        height = std::max(height, columns.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
        std::string text;
        for (std::size_t c = 0; c < columns.size(); ++c)
            text += fmt::format("{:<{}}  ", line < columns[c].size() ? columns[c][line] : "", widths[c]);
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + '\n';
    }
}

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '|')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

int rank(std::string_view severity)
{
    return severity == "error" ? 0 : severity == "warning" ? 1 : severity == "info" ? 2 : 3;
}

void addFindings(Report &report, const std::vector<DoctorRow> &rows)
{
    for (const DoctorRow &row : rows) {
        if (!row.isDetected && rank(row.severity) > 1)
            continue;
        ReportFinding finding;
        finding.severity = rank(row.severity) == 0   ? Severity::critical
                           : rank(row.severity) == 1 ? Severity::warning
                                                     : Severity::info;
        finding.check = "doctor";
        finding.code = row.key;
        finding.message = row.label + ": " + row.details;
        finding.followUp = row.suggestion;
        report.findings.push_back(std::move(finding));
    }
    std::stable_sort(report.findings.begin(), report.findings.end(),
                     [](const auto &a, const auto &b) { return a.severity < b.severity; });
}

Value checkValue(const DoctorRow &row)
{
    return Value::object({{"key", row.key},
                          {"label", row.label},
                          {"status", row.status},
                          {"severity", row.severity},
                          {"is_detected", row.isDetected},
                          {"details", row.details},
                          {"suggestion", row.suggestion}});
}

} // namespace

const std::vector<std::string> &optionalCapabilities()
{
    static const std::vector<std::string> names = {"HAS_CUDA",
                                                   "HAS_CUDNN",
                                                   "HAS_DYNAMO_COMPILE_COUNTERS",
                                                   "HAS_DYNAMO_EXPLAIN",
                                                   "HAS_STACKTRACE_SYMBOLS",
                                                   "HAS_GRAPHVIZ",
                                                   "HAS_MKLDNN"};
    return names;
}

Value capabilitySnapshot(const DoctorFacts &facts)
{
    Value snapshot = Value::object();
    for (const char *name : kFlags)
        snapshot.set(name, facts.torch.at("flags").at(name).toBool(false));
    snapshot.set("HAS_GRAPHVIZ", facts.layoutStatus.isOk() && !facts.layout.isNull());
    return snapshot;
}

Report doctorReport(const DoctorFacts &facts)
{
    std::vector<DoctorRow> rows = environmentRows(facts);
    if (facts.model || !facts.modelStatus)
        for (DoctorRow &row : modelRows(facts))
            rows.push_back(std::move(row));
    Report report;
    report.reportType = "doctor";
    report.subject = facts.model ? facts.model->at("model_type").toString() : "environment";
    const auto worst = std::min_element(rows.begin(), rows.end(), [](const DoctorRow &a, const DoctorRow &b) {
        return rank(a.severity) < rank(b.severity);
    });
    const int severity = worst == rows.end() ? 3 : rank(worst->severity);
    report.status = severity == 0 ? "errors" : severity == 1 ? "warnings" : "ok";
    report.found = severity == 0;
    report.coverage = fmt::format("{} rows; the model was {}", rows.size(),
                                  facts.model ? "inspected and not run" : "not part of this");
    Value checks = Value::list();
    for (const char *name : {"key", "label", "status", "severity", "is_detected", "details", "suggestion"})
        report.table.columns.push_back({name, CellKind::text, {}});
    for (const DoctorRow &row : rows) {
        checks.append(checkValue(row));
        report.table.rows.push_back(
            {{row.key, row.label, row.status, row.severity, row.isDetected, row.details, row.suggestion},
             {},
             {}});
    }
    report.result = Value::object({{"model_type", facts.model ? facts.model->at("model_type") : Value()},
                                   {"torch_version", facts.torch.at("torch_version")},
                                   {"checks", checks},
                                   {"capability_snapshot", capabilitySnapshot(facts)}});
    addFindings(report, rows);
    return report;
}

Report capabilitySnapshotReport(const DoctorFacts &facts)
{
    Report report;
    report.reportType = "capability_snapshot";
    report.subject = "environment";
    report.status = facts.torchStatus.isOk() ? "ok" : "errors";
    report.coverage = capabilitiesRow(facts).details;
    report.result = capabilitySnapshot(facts);
    report.table.columns = {{"flag", CellKind::text, {}}, {"available", CellKind::boolean, {}}};
    for (const auto &[name, available] : report.result.toObject())
        report.table.rows.push_back({{name, available}, {}, {}});
    return report;
}

Result<Value> doctorCheck(const Report &report, std::string_view key)
{
    for (const Value &check : report.result.at("checks").toList())
        if (check.at("key").toString() == key)
            return check;
    return Status(ErrorCode::notFound, fmt::format("doctor has no row {}", key)).withDetail("KeyError");
}

std::string doctorTable(const Report &report)
{
    std::vector<std::vector<std::string>> rows = {{kColumns.begin(), kColumns.end()}};
    for (const Value &check : report.result.at("checks").toList())
        rows.push_back(cells(check));
    std::vector<std::size_t> widths(kColumns.size(), 0);
    for (const auto &row : rows)
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::min(kWidest, std::max(widths[c], row[c].size()));
    std::string out;
    for (const auto &row : rows)
        appendLine(out, row, widths);
    return out;
}

std::string doctorMarkdown(const Report &report)
{
    const auto &checks = report.result.at("checks").toList();
    std::string out = fmt::format(
        "Model type: {}\n\nPyTorch version: {}\n\nRows: {}\n\n",
        report.result.at("model_type").isString() ? report.result.at("model_type").toString() : "none",
        report.result.at("torch_version").toString(), checks.size());
    out += "| Row | Status | Severity | Detected | Details | Suggestion |\n|---|---|---|---|---|---|\n";
    for (const Value &check : checks) {
        const auto row = cells(check);
        out += fmt::format("| {} | `{}` | `{}` | {} | {} | {} |\n", escaped(row[0]), row[1], row[2], row[3],
                           escaped(row[4]), escaped(row[5]));
    }
    return out;
}

} // namespace core
