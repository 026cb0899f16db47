// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/table_source.h"
#include "views/base/trace_facts.h"

namespace views {

// The findings of a trace as rows of a table. Immutable.
class FindingsSource : public TableSource
{
public:
    enum Column { severity_, check_, text_, op_, module_, elements_, source_ };

    FindingsSource(std::shared_ptr<const core::Trace> trace, std::shared_ptr<const TraceFacts> facts);

    const std::vector<TableColumn> &columns() const override { return m_columns; }
    std::size_t rowCount() const override { return m_facts->findings.size(); }
    QString text(std::size_t row, std::size_t column) const override;
    double number(std::size_t row, std::size_t column) const override;
    std::string_view key(std::size_t row, std::size_t column) const override;
    CellLook look(std::size_t row, std::size_t column) const override;

    const FindingRow &finding(std::size_t row) const { return m_facts->findings[row]; }

private:
    std::shared_ptr<const core::Trace> m_trace;
    std::shared_ptr<const TraceFacts> m_facts;
    std::vector<TableColumn> m_columns;
    // Of the columns whose key is no text of the trace.
    std::vector<std::string> m_texts;
    std::vector<std::string> m_checks;
    std::vector<std::string> m_lines;
};

QString severityText(core::Severity severity);

} // namespace views
