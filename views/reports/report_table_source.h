// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/trace/trace.h"
#include "views/base/table_source.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace views {

// The findings of a report as a table: severity, check, op, module, message.
core::ReportTable findingsTable(const core::Report &report);

// A table of a report as rows, told apart by the columns' kinds. Text for people has six digits and localised
// groups, exact text is what the command line's CSV has. Immutable but for texts kept for sorting: GUI
// thread.
class ReportTableSource : public TableSource
{
public:
    // TABLE lives in REPORT or is made of it; the source keeps a copy of the columns and the rows' values.
    explicit ReportTableSource(core::ReportTable table);

    const std::vector<TableColumn> &columns() const override { return m_columns; }
    std::size_t rowCount() const override { return m_table.rows.size(); }
    QString text(std::size_t row, std::size_t column) const override;
    double number(std::size_t row, std::size_t column) const override;
    std::string_view key(std::size_t row, std::size_t column) const override;
    CellLook look(std::size_t row, std::size_t column) const override;
    QString exactText(std::size_t row, std::size_t column) const override;
    core::Value exactValue(std::size_t row, std::size_t column) const override { return cell(row, column); }

    core::OpId op(std::size_t row) const { return m_table.rows[row].op; }
    // The first row about OP.
    std::optional<std::size_t> rowOf(core::OpId op) const;

private:
    const core::Value &cell(std::size_t row, std::size_t column) const;

    core::ReportTable m_table;
    std::vector<TableColumn> m_columns;
    std::unordered_map<std::uint32_t, std::size_t> m_rows; // first row by op
    mutable std::vector<std::vector<std::string>> m_keys;  // by column, made when it is first sorted
};

} // namespace views
