// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report.h"

#include "core/base/units.h"

#include <algorithm>
#include <cmath>

namespace core {
namespace {

constexpr std::size_t kWidestCell = 60;

// Characters of UTF-8 text, as a terminal counts them (wide scripts aside).
std::size_t textWidth(std::string_view text)
{
    std::size_t width = 0;
    for (const char c : text)
        width += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
    return width;
}

std::string shortened(std::string text)
{
    if (textWidth(text) <= kWidestCell)
        return text;
    std::size_t bytes = 0;
    for (std::size_t width = 0; bytes < text.size(); ++bytes)
        if ((static_cast<unsigned char>(text[bytes]) & 0xc0U) != 0x80U && ++width == kWidestCell - 2)
            break;
    return text.substr(0, bytes) + "...";
}

bool isRightAligned(CellKind kind)
{
    return kind == CellKind::integer || kind == CellKind::number;
}

std::string rtrim(std::string line)
{
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

// The table a person sees: that of the report, else its findings.
ReportTable shownTable(const Report &report)
{
    if (!report.table.columns.empty())
        return report.table;
    ReportTable table;
    table.columns = {{"severity", CellKind::text, {}},
                     {"check", CellKind::text, {}},
                     {"ops", CellKind::list, {}},
                     {"modules", CellKind::list, {}},
                     {"message", CellKind::text, {}}};
    for (const ReportFinding &finding : report.findings) {
        const Value value = findingValue(finding);
        ReportRow row;
        for (const ReportColumn &column : table.columns)
            row.cells.push_back(value.at(column.name));
        row.op = finding.ops.empty() ? OpId() : finding.ops.front();
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::string markdownCell(std::string text)
{
    std::string out;
    for (const char c : text) {
        if (c == '|')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string csvCell(const std::string &text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

} // namespace

std::string tableText(const ReportTable &table)
{
    std::vector<std::vector<std::string>> lines(1);
    for (const ReportColumn &column : table.columns)
        lines[0].push_back(column.name);
    for (const ReportRow &row : table.rows) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            cells.push_back(i < row.cells.size() ? shortened(cellText(row.cells[i])) : std::string());
        lines.push_back(std::move(cells));
    }
    std::vector<std::size_t> widths(table.columns.size(), 0);
    for (const auto &cells : lines)
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], textWidth(cells[i]));
    std::string text;
    for (const auto &cells : lines) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string padding(widths[i] - textWidth(cells[i]), ' ');
            line += (i == 0 ? "" : "  ") +
                    (isRightAligned(table.columns[i].kind) ? padding + cells[i] : cells[i] + padding);
        }
        text += rtrim(std::move(line)) + "\n";
    }
    return text;
}

std::string cellText(const Value &cell, int digits)
{
    if (cell.isNull())
        return {};
    if (cell.isBool())
        return cell.toBool() ? "true" : "false";
    if (cell.isInt())
        return std::to_string(cell.toInt());
    if (cell.isDouble())
        return digits >= 17 ? formatDouble(cell.toDouble()) : formatNumber(cell.toDouble(), digits);
    if (cell.isString())
        return cell.toString();
    if (cell.isObject())
        return toJson(cell);
    std::string text;
    for (const Value &item : cell.toList())
        text += (text.empty() ? "" : " ") + cellText(item, digits);
    return text;
}

std::string reportText(const Report &report)
{
    if (report.error)
        return reportCard(report) + "\n";
    std::string text = reportCard(report);
    text.erase(text.rfind("\n  More: "));
    text += "\n";
    if (report.findings.size() > kCardFindings) {
        text.erase(text.rfind("\n  ... ") + 1);
        for (std::size_t i = kCardFindings; i < report.findings.size(); ++i)
            text += "  - " + report.findings[i].message + "\n";
    }
    if (!report.table.columns.empty() && !report.table.rows.empty())
        text += "\n" + tableText(report.table);
    return text;
}

std::string reportMarkdown(const Report &report)
{
    std::string text = "## " + report.reportType + ": " + markdownCell(report.subject) + "\n\nstatus: `" +
                       report.status + "`\n";
    if (report.error)
        return text + "\n`" + report.error->code + "` " + markdownCell(report.error->message) + "\n\n" +
               markdownCell(report.error->remedy) + "\n";
    if (!report.coverage.empty())
        text += "\ncoverage: " + markdownCell(report.coverage) + "\n";
    for (std::size_t i = 0; i < report.findings.size(); ++i)
        text += (i == 0 ? "\n- `" : "- `") + std::string(severityName(report.findings[i].severity)) + "` " +
                markdownCell(report.findings[i].message) + "\n";
    if (report.table.columns.empty() || report.table.rows.empty())
        return text;
    std::string head = "\n|";
    std::string rule = "|";
    for (const ReportColumn &column : report.table.columns) {
        head += " " + markdownCell(column.name) + " |";
        rule += isRightAligned(column.kind) ? "---:|" : "---|";
    }
    text += head + "\n" + rule + "\n";
    for (const ReportRow &row : report.table.rows) {
        text += "|";
        for (const Value &cell : row.cells)
            text += " " + markdownCell(cellText(cell)) + " |";
        text += "\n";
    }
    return text;
}

std::string reportCsv(const Report &report)
{
    const ReportTable table = shownTable(report);
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += (i == 0 ? "" : ",") + csvCell(table.columns[i].name);
    text += "\r\n";
    for (const ReportRow &row : table.rows) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            text += (i == 0 ? "" : ",") +
                    csvCell(i < row.cells.size() ? cellText(row.cells[i], 17) : std::string());
        text += "\r\n";
    }
    return text;
}

} // namespace core
