// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/report_table.h"

#include "views/base/filter_line.h"
#include "views/base/formatting.h"
#include "views/base/row_filter.h"
#include "views/base/table_view.h"
#include "views/base/widgets.h"
#include "views/reports/report_facts.h"
#include "views/reports/report_table_source.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

namespace views {

namespace {

QToolButton *chip(const QString &name, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    button->setProperty("kind", "chip");
    button->setText(name);
    button->setAccessibleName(name);
    button->setCheckable(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

} // namespace

ReportTableWidget::ReportTableWidget(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_table(new TableView(theme, m_model, this)),
      m_filter(new FilterLine(theme, this)), m_words(makeLabel({}, "second", this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    buildHead(*column);
    column->addWidget(m_filter);
    column->addWidget(m_table, 1);
    m_words->setAlignment(Qt::AlignCenter);
    m_words->setWordWrap(true);
    column->addWidget(m_words, 1);
    m_table->setAccessibleName(tr("Rows of the report"));
    m_table->setMinimumHeight(72);
    m_filter->setUnit("row", "rows");
    m_filter->setReader(
        [this](const QString &text) -> FilterLine::Reading {
            if (!m_source)
                return {};
            RowFilter::Parsed parsed = RowFilter::parse(text, m_source->columns());
            return {parsed.filter.explanation(), parsed.problem};
        },
        tr("op:softmax* grad_norm<1e-7 -clean \"text\" /regex/"));
    connect(m_filter, &FilterLine::textAccepted, this, &ReportTableWidget::readFilter);
    connect(m_table, &TableView::rowsPicked, this, [this](const std::vector<std::size_t> &rows) {
        Q_EMIT rowPicked(m_source->op(rows.front()), nameIn(rows.front()));
    });
    connect(m_table, &TableView::rowActivated, this,
            [this](std::size_t row) { Q_EMIT rowActivated(m_source->op(row), nameIn(row)); });
    setReport({}, nullptr, {});
}

void ReportTableWidget::buildHead(QVBoxLayout &column)
{
    m_head = new QWidget(this);
    auto *row = m_headRow = new QHBoxLayout(m_head);
    row->setContentsMargins(10, 4, 8, 0);
    row->setSpacing(6);
    m_rows = chip(tr("Rows"), m_head);
    m_findings = chip(tr("Findings"), m_head);
    m_facts = chip(tr("Facts"), m_head);
    m_facts->setToolTip(tr("What the answer says beside its rows and findings"));
    auto *group = new QButtonGroup(this);
    for (QToolButton *button : {m_rows, m_findings, m_facts}) {
        group->addButton(button);
        row->addWidget(button);
        connect(button, &QToolButton::clicked, this, &ReportTableWidget::fill);
    }
    row->addStretch(1);
    auto *copy = makeIconButton(m_theme, IconName::copy, tr("Copy the table"), m_head);
    auto *menu = new QMenu(copy);
    menu->setAccessibleName(tr("Copy the table"));
    for (const TableFormat format : kTableFormats) {
        QAction *action = menu->addAction(tr("Copy as %1").arg(tableFormatName(format)));
        connect(action, &QAction::triggered, this, [this, format] { m_table->copyText(format); });
    }
    copy->setMenu(menu);
    copy->setPopupMode(QToolButton::InstantPopup);
    auto *save = makeIconButton(m_theme, IconName::share, tr("Save the table…"), m_head);
    connect(save, &QToolButton::clicked, m_table, &TableView::saveWished);
    row->addWidget(copy);
    row->addWidget(save);
    column.addWidget(m_head);
}

void ReportTableWidget::offerTableMenu()
{
    connect(m_table, &TableView::menuWanted, this, [this](const QPoint &position) {
        auto *menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->setAccessibleName(tr("Commands for the table"));
        m_table->addTableActions(*menu);
        menu->popup(position);
    });
}

bool ReportTableWidget::showsFindings() const
{
    return m_findings->isChecked();
}

void ReportTableWidget::showFindings(bool findings)
{
    (findings ? m_findings : m_rows)->setChecked(true);
    fill();
}

void ReportTableWidget::showFacts()
{
    m_facts->setChecked(true);
    fill();
}

void ReportTableWidget::setCompact(bool compact)
{
    auto *column = static_cast<QVBoxLayout *>(layout());
    m_headRow->removeWidget(m_filter);
    column->removeWidget(m_filter);
    m_filter->setCompact(compact);
    const int chips = m_headRow->indexOf(m_facts) + 1;
    if (compact)
        m_headRow->insertWidget(chips, m_filter, 1000); // all that the stretch behind it had
    else
        column->insertWidget(1, m_filter);
}

// The rows are the answer; of an answer without any the facts are. What was chosen stays where it has rows.
void ReportTableWidget::chooseShown(bool first)
{
    const auto isEmpty = [](const QToolButton *part) { return part->isHidden(); };
    const bool hasRows = !isEmpty(m_rows) && !m_report->table.rows.empty();
    QToolButton *const preferred = hasRows                ? m_rows
                                   : !isEmpty(m_findings) ? m_findings
                                   : !isEmpty(m_facts)    ? m_facts
                                                          : m_rows;
    for (QToolButton *part : {m_rows, m_findings, m_facts})
        if (!first && part->isChecked() && !isEmpty(part))
            return;
    preferred->setChecked(true);
}

void ReportTableWidget::setReport(const QString &name, std::shared_ptr<const core::Report> report,
                                  const QString &words)
{
    const bool other = name != m_name;
    if (!other && report == m_report && report != nullptr)
        return;
    const bool first = other || m_report == nullptr || m_report->error;
    m_name = name;
    m_report = std::move(report);
    const bool answered = m_report && !m_report->error;
    const std::size_t rows = answered ? m_report->table.rows.size() : 0;
    const std::size_t findings = answered ? m_report->findings.size() : 0;
    const bool hasTable = answered && !m_report->table.columns.empty();
    m_rows->setText(tr("Rows %1").arg(countText(rows)));
    m_findings->setText(tr("Findings %1").arg(countText(findings)));
    const std::size_t facts = answered ? factsTable(*m_report).rows.size() : 0;
    m_facts->setText(tr("Facts %1").arg(countText(facts)));
    m_rows->setVisible(hasTable);
    m_findings->setVisible(findings > 0);
    m_facts->setVisible(facts > 0);
    if (answered)
        chooseShown(first);
    const bool shown = hasTable || findings > 0 || facts > 0;
    m_head->setVisible(shown);
    m_filter->setVisible(shown);
    m_table->setVisible(shown);
    m_words->setVisible(!shown);
    m_words->setText(words);
    if (other)
        m_filter->setText({});
    fill();
}

void ReportTableWidget::fill()
{
    m_source.reset();
    const QString part = m_findings->isChecked() ? QStringLiteral("findings")
                         : m_facts->isChecked()  ? QStringLiteral("facts")
                                                 : QStringLiteral("rows");
    if (m_report && !m_report->error)
        m_source =
            std::make_shared<const ReportTableSource>(m_findings->isChecked() ? findingsTable(*m_report)
                                                      : m_facts->isChecked()  ? factsTable(*m_report)
                                                                              : m_report->table);
    m_model.setSource(m_source);
    m_table->sortByColumn(-1, Qt::AscendingOrder);
    m_table->resetWidths();
    if (m_source)
        m_table->setStateKey(QStringLiteral("report/%1/%2").arg(m_name, part));
    readFilter(m_filter->text());
}

void ReportTableWidget::readFilter(const QString &text)
{
    if (m_source) {
        const RowFilter::Parsed parsed = RowFilter::parse(text, m_source->columns());
        if (parsed.problem || parsed.filter.isEmpty())
            m_model.setFilter(std::nullopt);
        else
            m_model.setFilter(parsed.filter.matching(*m_source));
    }
    updateCounts();
}

void ReportTableWidget::updateCounts()
{
    m_filter->setCounts(static_cast<std::size_t>(m_model.rowCount()), m_source ? m_source->rowCount() : 0);
}

// A row the user stands on that is about the op stays; else the first one about it.
void ReportTableWidget::showOp(core::OpId op)
{
    if (!m_source)
        return;
    const QModelIndex current = m_table->currentIndex();
    if (op.isValid() && current.isValid() && m_source->op(m_model.sourceRow(current.row())) == op)
        return;
    m_table->showSourceRow(m_source->rowOf(op));
}

void ReportTableWidget::focusFilter()
{
    m_filter->focusField();
}

QString ReportTableWidget::nameIn(std::size_t row) const
{
    return m_source->columns().empty() ? QString() : m_source->exactText(row, 0);
}

} // namespace views
