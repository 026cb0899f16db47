// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/base/table_model.h"
#include "views/base/trace_facts.h"

class QStackedWidget;

namespace views {

class FactList;
class FindingsSource;
class TableView;

// What was found, worst first. A click selects the op everywhere. Without a finding it says what was checked
// and what was not, side by side.
class FindingsPane : public Pane
{
    Q_OBJECT

public:
    explicit FindingsPane(const PaneContext &context, QWidget *parent = nullptr);

    // Null: still being worked out.
    void setFacts(std::shared_ptr<const TraceFacts> facts);
    TableView &table() const { return *m_table; }
    const TableModel &model() const { return m_model; }

protected:
    void showTrace() override;
    void showItem() override;
    void themeChanged() override;

private:
    void showChecked();
    void addUnchecked();

    TableModel m_model;
    std::shared_ptr<const TraceFacts> m_facts;
    std::shared_ptr<const FindingsSource> m_source;
    TableView *m_table;
    QStackedWidget *m_stack;
    FactList *m_checked;
    FactList *m_unchecked;
};

} // namespace views
