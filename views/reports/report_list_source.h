// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/table_source.h"
#include "views/reports/report_board.h"

#include <memory>

namespace views {

// The reports of a board as rows: name and state. Immutable.
class ReportListSource : public TableSource
{
public:
    explicit ReportListSource(std::shared_ptr<const ReportBoard> board);

    const std::vector<TableColumn> &columns() const override { return m_columns; }
    std::size_t rowCount() const override { return m_board->entries.size(); }
    QString text(std::size_t row, std::size_t column) const override;
    double number(std::size_t, std::size_t) const override { return 0.0; }
    std::string_view key(std::size_t row, std::size_t column) const override;
    CellLook look(std::size_t row, std::size_t column) const override;

private:
    std::shared_ptr<const ReportBoard> m_board;
    std::vector<ReportWords> m_words;
    std::vector<std::string> m_states;
    std::vector<TableColumn> m_columns;
};

} // namespace views
