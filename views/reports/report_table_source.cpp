// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/report_table_source.h"

#include "views/base/formatting.h"

#include <QCoreApplication>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace views {

namespace {

using core::CellKind;
using core::ColorToken;

constexpr int kCharacter = 8; // pixels of a mono letter at 12 px, with a little room
constexpr int kPadding = 26;
constexpr std::size_t kSampledRows = 200;
constexpr int kNarrowest = 64;
constexpr int kWidest = 380;

struct StateLook
{
    std::string_view word;
    IconName icon;
    ColorToken tone;
};

// Words of verdict columns that have a glyph of their own.
constexpr StateLook kLooks[] = {
    {"critical", IconName::critical, ColorToken::nan},     {"warning", IconName::warning, ColorToken::warn},
    {"info", IconName::information, ColorToken::accent},   {"birth", IconName::origin, ColorToken::nan},
    {"propagated", IconName::propagated, ColorToken::nan}, {"healed", IconName::healed, ColorToken::ok},
    {"clean", IconName::check, ColorToken::second},        {"root_seed", IconName::flag, ColorToken::nan},
    {"unchecked", IconName::openDot, ColorToken::muted},   {"vanishing", IconName::warning, ColorToken::warn},
    {"exploding", IconName::warning, ColorToken::warn},    {"ok", IconName::check, ColorToken::second},
    {"unknown", IconName::notRun, ColorToken::muted},      {"diverged", IconName::flag, ColorToken::warn},
};

bool isNumeric(CellKind kind)
{
    return kind == CellKind::integer || kind == CellKind::number;
}

QString titleOf(const core::ReportColumn &column)
{
    QString title = fromView(column.name).replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!title.isEmpty())
        title[0] = title[0].toUpper();
    return column.unit.empty() ? title : QStringLiteral("%1 (%2)").arg(title, fromView(column.unit));
}

// Sums of FLOPs and bytes are doubles; six digits would round them.
bool isLargeWhole(double number)
{
    return std::abs(number) >= 1e4 && std::abs(number) < 1e15 && number == std::trunc(number);
}

QString cellWords(const core::Value &cell)
{
    if (cell.isNull())
        return QStringLiteral("–");
    if (cell.isInt())
        return cell.toInt() < 0 ? QStringLiteral("−") + countText(static_cast<std::uint64_t>(-cell.toInt()))
                                : countText(static_cast<std::uint64_t>(cell.toInt()));
    if (cell.isDouble() && isLargeWhole(cell.toDouble()))
        return (cell.toDouble() < 0 ? QStringLiteral("−") : QString()) +
               countText(static_cast<std::uint64_t>(std::abs(cell.toDouble())));
    if (cell.isDouble())
        return numberText(cell.toDouble());
    if (cell.isBool())
        return QCoreApplication::translate("views::ReportTable", cell.toBool() ? "yes" : "no");
    return fromView(core::cellText(cell)).replace(QLatin1Char('\n'), QLatin1Char(' '));
}

int widthOf(const core::ReportTable &table, std::size_t column, const QString &title)
{
    qsizetype longest = title.size();
    for (std::size_t row = 0; row < std::min(kSampledRows, table.rows.size()); ++row)
        if (column < table.rows[row].cells.size())
            longest = std::max(longest, cellWords(table.rows[row].cells[column]).size());
    return std::clamp(static_cast<int>(longest) * kCharacter + kPadding, kNarrowest, kWidest);
}

bool isSentence(std::string_view name)
{
    return name == "message" || name == "reason" || name == "why" || name == "detail";
}

// Numbers before words, each by its value; numbers inside a text (a shape, a label, a line) count as numbers.
std::string sortKeyOf(const core::Value &value)
{
    if (value.isNumber()) {
        // The bits of a double in the order of the numbers.
        std::uint64_t bits = 0;
        const double number = value.toDouble();
        std::memcpy(&bits, &number, sizeof(bits));
        bits = bits >> 63 != 0 ? ~bits : bits | std::uint64_t(1) << 63;
        return fmt::format("0{:016x}", bits);
    }
    const std::string text = value.isString() ? value.toString() : core::cellText(value, 17);
    std::string key = "1";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
        if (end == at)
            key += text[at++];
        else
            key += fmt::format("{:0>20}", text.substr(std::exchange(at, end), end - at));
    }
    return key;
}

} // namespace

core::ReportTable findingsTable(const core::Report &report)
{
    core::ReportTable table;
    table.columns = {{"severity", CellKind::text, {}},
                     {"check", CellKind::text, {}},
                     {"message", CellKind::text, {}},
                     {"ops", CellKind::list, {}},
                     {"modules", CellKind::list, {}}};
    for (const core::ReportFinding &finding : report.findings) {
        const core::Value value = core::findingValue(finding);
        core::ReportRow row;
        for (const core::ReportColumn &column : table.columns)
            row.cells.push_back(value.at(column.name));
        row.op = finding.ops.empty() ? core::OpId() : finding.ops.front();
        table.rows.push_back(std::move(row));
    }
    return table;
}

ReportTableSource::ReportTableSource(core::ReportTable table)
    : m_table(std::move(table)), m_keys(m_table.columns.size())
{
    bool hasRest = false;
    for (std::size_t i = 0; i < m_table.columns.size(); ++i) {
        const core::ReportColumn &column = m_table.columns[i];
        TableColumn shown;
        shown.key = fromView(column.name);
        shown.title = titleOf(column);
        shown.isNumber = isNumeric(column.kind);
        shown.isMono = !isSentence(column.name) && column.name != "severity" && column.name != "verdict";
        shown.takesRest = !hasRest && (isSentence(column.name) || column.name == "value");
        hasRest = hasRest || shown.takesRest;
        shown.width = widthOf(m_table, i, shown.title);
        m_columns.push_back(std::move(shown));
    }
    for (std::size_t row = 0; row < m_table.rows.size(); ++row)
        if (m_table.rows[row].op.isValid())
            m_rows.try_emplace(static_cast<std::uint32_t>(m_table.rows[row].op.index()), row);
}

const core::Value &ReportTableSource::cell(std::size_t row, std::size_t column) const
{
    static const core::Value kNull;
    const auto &cells = m_table.rows[row].cells;
    return column < cells.size() ? cells[column] : kNull;
}

QString ReportTableSource::text(std::size_t row, std::size_t column) const
{
    const QString words = cellWords(cell(row, column));
    return isSentence(m_table.columns[column].name) ? withShortPlaces(words) : words;
}

double ReportTableSource::number(std::size_t row, std::size_t column) const
{
    return cell(row, column).toDouble(std::numeric_limits<double>::quiet_NaN());
}

std::string_view ReportTableSource::key(std::size_t row, std::size_t column) const
{
    std::vector<std::string> &keys = m_keys[column];
    if (keys.empty())
        for (std::size_t i = 0; i < m_table.rows.size(); ++i)
            keys.push_back(sortKeyOf(cell(i, column)));
    return keys[row];
}

CellLook ReportTableSource::look(std::size_t row, std::size_t column) const
{
    CellLook look;
    const core::Value &value = cell(row, column);
    if (value.isNull())
        look.tone = ColorToken::muted;
    if (value.isDouble() && !std::isfinite(value.toDouble()))
        look.tone = std::isnan(value.toDouble()) ? ColorToken::nan : ColorToken::inf;
    if (m_table.columns[column].kind == CellKind::boolean && !value.toBool())
        look.tone = ColorToken::muted;
    const bool isWord = m_table.columns[column].kind == CellKind::text && value.isString();
    if (!isWord)
        return look;
    for (const StateLook &state : kLooks)
        if (value.toString() == state.word) {
            look.icon = state.icon;
            look.iconTone = state.tone;
            look.isStrong = state.tone != ColorToken::second && state.tone != ColorToken::muted;
        }
    look.isStrong = look.isStrong || isSentence(m_table.columns[column].name);
    return look;
}

QString ReportTableSource::exactText(std::size_t row, std::size_t column) const
{
    return fromView(core::cellText(cell(row, column), 17));
}

std::optional<std::size_t> ReportTableSource::rowOf(core::OpId op) const
{
    const auto found = op.isValid() ? m_rows.find(static_cast<std::uint32_t>(op.index())) : m_rows.end();
    return found == m_rows.end() ? std::nullopt : std::optional(found->second);
}

} // namespace views
