// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/live_report_dialog.h"

#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/reports/report_card.h"
#include "views/reports/report_table.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr QSize kSize(900, 620);

} // namespace

LiveReportDialog::LiveReportDialog(const views::Theme &theme, const core::LiveHelper &helper,
                                   std::shared_ptr<const core::Report> report, QWidget *parent)
    : QDialog(parent)
{
    const QString name = views::fromView(helper.name);
    m_definition.name = helper.name;
    m_definition.description = helper.description;
    m_definition.subject = core::ReportSubject::nothing;
    m_entry.definition = &m_definition;
    m_entry.state = views::ReportState::done;
    m_entry.report = report;
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("%1 — opscope").arg(name));
    resize(kSize);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 12);
    column->setSpacing(8);
    auto *card = new views::ReportCard(theme, this);
    card->setEntry(&m_entry);
    auto *area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setAccessibleName(tr("Answer of %1").arg(name));
    area->setWidget(card);
    column->addWidget(area, 2);
    auto *table = new views::ReportTableWidget(theme, this);
    table->setReport(name, report, {});
    column->addWidget(table, 3);
    QPushButton *close = views::makeButton(tr("Close"), "", this);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    auto *buttons = new QHBoxLayout;
    buttons->setContentsMargins(12, 0, 12, 0);
    buttons->addStretch(1);
    buttons->addWidget(close);
    column->addLayout(buttons);
    connect(card, &views::ReportCard::opPicked, this, &LiveReportDialog::opPicked);
    connect(table, &views::ReportTableWidget::rowPicked, this,
            [this](core::OpId op) { Q_EMIT opPicked(op); });
    table->offerTableMenu();
    close->setFocus();
}

} // namespace app
