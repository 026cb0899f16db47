// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/base/table_model.h"

namespace views {

class FilterLine;
class OpFilter;
class OpTableSource;
class TableView;
struct TraceFacts;

// All ops of the trace in a sorted, filtered table. Follows the current op; a click selects an op, several
// rows a range.
class OpsPane : public Pane
{
    Q_OBJECT

public:
    explicit OpsPane(const PaneContext &context, QWidget *parent = nullptr);

    TableView &table() const { return *m_table; }
    const TableModel &model() const { return m_model; }
    FilterLine &filterLine() const { return *m_filter; }
    // What a report measured where the trace recorded no statistics.
    void setFacts(std::shared_ptr<const TraceFacts> facts);
    // The current op's row as TSV with a header, to the clipboard.
    void copyCurrentRow() const;

protected:
    void showTrace() override;
    void showItem() override;
    void themeChanged() override;

private:
    void applyFilter(const OpFilter &filter);
    void pick(const std::vector<std::size_t> &rows);
    void updateCounts();

    TableModel m_model;
    std::shared_ptr<const TraceFacts> m_facts;
    std::shared_ptr<const OpTableSource> m_source;
    FilterLine *m_filter;
    TableView *m_table;
};

} // namespace views
