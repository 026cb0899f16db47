// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text_table.h"

#include <algorithm>
#include <utility>

namespace app {
namespace {

constexpr std::size_t kLongestCell = 60;

bool startsCodePoint(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::string shortened(std::string_view text)
{
    if (displayWidth(text) <= kLongestCell)
        return std::string(text);
    std::size_t width = 0;
    std::size_t end = 0;
    while (end < text.size() && (width < kLongestCell - 1 || !startsCodePoint(text[end]))) {
        width += startsCodePoint(text[end]) ? 1 : 0;
        ++end;
    }
    return std::string(text.substr(0, end)) + "…";
}

} // namespace

std::size_t displayWidth(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, startsCodePoint));
}

void TextTable::addColumn(std::string_view title, Align align)
{
    m_titles.emplace_back(title);
    m_align.push_back(align);
}

void TextTable::addRow(std::vector<std::string> cells)
{
    cells.resize(m_titles.size());
    for (std::string &cell : cells)
        cell = shortened(cell);
    m_rows.push_back(std::move(cells));
}

std::string TextTable::toText() const
{
    std::vector<std::size_t> widths;
    for (const std::string &title : m_titles)
        widths.push_back(displayWidth(title));
    for (const auto &row : m_rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], displayWidth(row[i]));

    std::string out;
    const auto appendLine = [&](const std::vector<std::string> &cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string blanks(widths[i] - displayWidth(cells[i]), ' ');
            line += i == 0 ? "" : "  ";
            line += m_align[i] == Align::right ? blanks + cells[i] : cells[i] + blanks;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    appendLine(m_titles);
    for (const auto &row : m_rows)
        appendLine(row);
    return out;
}

} // namespace app
