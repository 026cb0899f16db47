// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace app {

// Rows of cells printed in columns for a person: the header underlined by nothing, two blanks between
// columns, numbers to the right. Cells longer than 60 characters are cut with an ellipsis.
class TextTable
{
public:
    enum class Align { left, right };

    void addColumn(std::string_view title, Align align = Align::left);
    void addRow(std::vector<std::string> cells); // one per column
    bool isEmpty() const { return m_rows.empty(); }
    std::string toText() const; // ends with a line break

private:
    std::vector<std::string> m_titles;
    std::vector<Align> m_align;
    std::vector<std::vector<std::string>> m_rows;
};

// Code points of UTF-8 TEXT: what a terminal shows as one column each.
std::size_t displayWidth(std::string_view text);

} // namespace app
