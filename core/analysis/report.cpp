// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report.h"

#include <algorithm>
#include <map>

namespace core {
namespace {

const std::vector<std::string> kDefaultExits = {"--json", "--csv", "--markdown"};

const std::vector<std::string> &exitsOf(const Report &report)
{
    return report.exits.empty() ? kDefaultExits : report.exits;
}

std::string leadLine(const Report &report)
{
    std::string line = report.reportType + "(" + report.subject + ") status=" + report.status;
    std::map<std::string_view, std::size_t> counts;
    for (const ReportFinding &finding : report.findings)
        ++counts[severityName(finding.severity)];
    std::string list;
    for (const auto &[token, count] : counts)
        list += (list.empty() ? "" : ", ") + std::string(token) + "=" + std::to_string(count);
    return list.empty() ? line : line + " [" + list + "]";
}

Value strings(const std::vector<std::string> &items)
{
    Value::List list;
    list.reserve(items.size());
    for (const std::string &item : items)
        list.emplace_back(item);
    return Value(std::move(list));
}

Value rowValue(const ReportTable &table, const ReportRow &row)
{
    Value::Object object;
    object.reserve(table.columns.size());
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        object.emplace_back(table.columns[i].name, i < row.cells.size() ? row.cells[i] : Value());
    return Value(std::move(object));
}

// The result as documents have it.
Value wholeResult(const Report &report)
{
    Value result = report.result;
    if (!report.findingsMember.empty()) {
        Value::List list;
        list.reserve(report.findings.size());
        for (const ReportFinding &finding : report.findings)
            list.push_back(findingValue(finding));
        result.set(report.findingsMember, Value(std::move(list)));
    }
    if (!report.rowsMember.empty()) {
        Value::List list;
        list.reserve(report.table.rows.size());
        for (const ReportRow &row : report.table.rows)
            list.emplace_back(Value::List(row.cells));
        result.set(report.rowsMember, Value(std::move(list)));
    }
    return result;
}

} // namespace

std::string_view severityName(Severity severity)
{
    switch (severity) {
    case Severity::critical:
        return "critical";
    case Severity::warning:
        return "warning";
    case Severity::info:
        break;
    }
    return "info";
}

std::optional<std::size_t> ReportTable::columnIndex(std::string_view name) const
{
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].name == name)
            return i;
    return std::nullopt;
}

const Value &ReportTable::cell(std::size_t row, std::string_view name) const
{
    static const Value kNull;
    const auto column = columnIndex(name);
    if (!column || row >= rows.size() || *column >= rows[row].cells.size())
        return kNull;
    return rows[row].cells[*column];
}

std::string reportCard(const Report &report)
{
    std::string card = leadLine(report);
    if (report.error) {
        card += "\n  - " + report.error->type +
                (report.error->code.empty() ? "" : " [" + report.error->code + "]") + ": " +
                report.error->message;
        if (!report.error->remedy.empty())
            card += "\n  remedy: " + report.error->remedy;
        return card;
    }
    if (!report.coverage.empty())
        card += "\n  coverage: " + report.coverage;
    const std::size_t shown = std::min(kCardFindings, report.findings.size());
    for (std::size_t i = 0; i < shown; ++i)
        card += "\n  - " + report.findings[i].message;
    const std::vector<std::string> &exits = exitsOf(report);
    if (report.findings.size() > shown)
        card += "\n  ... " + std::to_string(report.findings.size() - shown) + " more findings (see " +
                exits.front() + ")";
    card += "\n  More: ";
    for (std::size_t i = 0; i < exits.size(); ++i)
        card += (i == 0 ? "" : "  ") + exits[i];
    return card;
}

Value findingValue(const ReportFinding &finding)
{
    // Not from an initializer list, which copies what it is given: there can be a finding for every op.
    Value::Object object;
    object.reserve(8);
    object.emplace_back("severity", severityName(finding.severity));
    object.emplace_back("check", finding.check);
    object.emplace_back("code", finding.code.empty() ? finding.check : finding.code);
    object.emplace_back("message", finding.message);
    object.emplace_back("ops", strings(finding.opLabels));
    object.emplace_back("modules", strings(finding.modules));
    object.emplace_back("follow_up", finding.followUp);
    object.emplace_back("values", finding.values);
    return Value(std::move(object));
}

Value reportDocument(const Report &report)
{
    Value document = Value::object({{"report_type", report.reportType},
                                    {"subject", report.subject},
                                    {"status", report.status},
                                    {"coverage", report.coverage}});
    if (report.error) {
        document.set("error", Value::object(
                                  {{"type", report.error->type},
                                   {"code", report.error->code.empty() ? Value() : Value(report.error->code)},
                                   {"message", report.error->message},
                                   {"remedy", report.error->remedy}}));
        return document;
    }
    if (!report.isTabular) {
        document.set("result", wholeResult(report));
        return document;
    }
    Value columns = Value::list();
    for (const ReportColumn &column : report.table.columns)
        columns.append(column.name);
    Value::List rows;
    rows.reserve(report.table.rows.size());
    for (const ReportRow &row : report.table.rows)
        rows.push_back(rowValue(report.table, row));
    document.set("columns", std::move(columns));
    document.set("rows", Value(std::move(rows)));
    document.set("attrs", report.attrs);
    return document;
}

} // namespace core
