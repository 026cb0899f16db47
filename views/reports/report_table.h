// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "views/base/table_model.h"
#include "views/base/theme.h"

#include <QWidget>

#include <memory>

class QButtonGroup;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace views {

class FilterLine;
class ReportTableSource;
class TableView;

// The table of a report with its filter line; chips choose between its rows, its findings and the other facts
// of its answer. Columns are remembered by report. Owned by the reports pane; GUI thread.
class ReportTableWidget : public QWidget
{
    Q_OBJECT

public:
    explicit ReportTableWidget(const Theme &theme, QWidget *parent = nullptr);

    // Null: no answer to show, WORDS stand instead.
    void setReport(const QString &name, std::shared_ptr<const core::Report> report, const QString &words);
    void showOp(core::OpId op);
    void focusFilter();

    TableView &table() const { return *m_table; }
    FilterLine &filterLine() const { return *m_filter; }
    const TableModel &model() const { return m_model; }
    // A right click offers what can be done with the table, and nothing of a trace: for dialogs.
    void offerTableMenu();
    bool showsFindings() const;
    void showFindings(bool findings);
    void showFacts();
    // The filter stands beside the chips instead of below them.
    void setCompact(bool compact);

Q_SIGNALS:
    // The source row, and the op it is about; without one the name in its first cell.
    void rowPicked(core::OpId op, const QString &name);
    void rowActivated(core::OpId op, const QString &name);

private:
    void buildHead(class QVBoxLayout &column);
    void fill();
    void chooseShown(bool first);
    void readFilter(const QString &text);
    void updateCounts();
    QString nameIn(std::size_t row) const;

    const Theme &m_theme;
    TableModel m_model;
    std::shared_ptr<const ReportTableSource> m_source;
    std::shared_ptr<const core::Report> m_report;
    QString m_name;
    TableView *m_table = nullptr;
    FilterLine *m_filter = nullptr;
    QWidget *m_head = nullptr;
    QHBoxLayout *m_headRow = nullptr;
    QToolButton *m_rows = nullptr;
    QToolButton *m_findings = nullptr;
    QToolButton *m_facts = nullptr;
    QLabel *m_words = nullptr;
};

} // namespace views
