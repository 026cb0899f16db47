// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/live_report_dialog.h"

#include "app/dialogs/model_facts.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/reports/report_card.h"
#include "views/reports/report_facts.h"
#include "views/reports/report_table.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace app {

namespace {

constexpr QSize kSize(900, 620);
constexpr int kCardOnlyHeight = 220;

} // namespace

LiveReportDialog::LiveReportDialog(const views::Theme &theme, LiveAnswer answer, QWidget *parent)
    : QDialog(parent), m_answer(std::move(answer))
{
    const std::shared_ptr<const core::Report> &report = m_answer.report;
    const QString name = views::fromView(m_answer.helper->name);
    m_definition.name = m_answer.helper->name;
    m_definition.description = m_answer.helper->description;
    m_definition.subject = core::ReportSubject::nothing;
    m_entry.definition = &m_definition;
    m_entry.state = views::ReportState::done;
    m_entry.report = report;
    m_hasTable = !report->error && (!report->table.columns.empty() || !report->findings.empty() ||
                                    !views::factsTable(*report).rows.empty());
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("%1 — opscope").arg(m_answer.title));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 12);
    column->setSpacing(8);
    m_card = new views::ReportCard(theme, this);
    m_card->setEntry(&m_entry);
    m_area = new QScrollArea(this);
    m_area->setWidgetResizable(true);
    m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_area->setAccessibleName(tr("Answer of %1").arg(name));
    m_area->setWidget(m_card);
    column->addWidget(m_area, m_hasTable ? 0 : 1);
    auto *table = new views::ReportTableWidget(theme, this);
    table->setReport(name, report, {});
    table->setVisible(m_hasTable);
    column->addWidget(table, m_hasTable ? 1 : 0);
    column->addLayout(makeButtons());
    connect(m_card, &views::ReportCard::opPicked, this, &LiveReportDialog::opPicked);
    connect(table, &views::ReportTableWidget::rowPicked, this,
            [this](core::OpId op) { Q_EMIT opPicked(op); });
    table->offerTableMenu();
    resize(m_hasTable ? kSize : QSize(kSize.width(), kCardOnlyHeight));
}

QHBoxLayout *LiveReportDialog::makeButtons()
{
    auto *buttons = new QHBoxLayout;
    buttons->setContentsMargins(12, 0, 12, 0);
    buttons->setSpacing(8);
    QPushButton *again = views::makeButton(tr("Ask again…"), "", this);
    again->setToolTip(tr("Opens the dialog with what was asked, to change it"));
    again->setAutoDefault(false);
    connect(again, &QPushButton::clicked, this, &LiveReportDialog::againWished);
    buttons->addWidget(again);
    if (const std::vector<core::InputText> found = foundInputs(m_answer.report->result); !found.empty()) {
        QPushButton *use = views::makeButton(tr("Capture with these inputs…"), "", this);
        use->setAutoDefault(false);
        connect(use, &QPushButton::clicked, this, [this, found] { Q_EMIT inputsWished(found); });
        buttons->addWidget(use);
    }
    const bool isMask = m_answer.report->result.at("by_design").toBool();
    if (isMask && m_answer.request.options.find(kSkipByDesign) != nullptr) {
        QPushButton *past = views::makeButton(tr("Go on past the mask…"), "", this);
        past->setToolTip(tr("The same run, which stops only where NaN comes of it"));
        past->setAutoDefault(false);
        connect(past, &QPushButton::clicked, this, &LiveReportDialog::pastMaskWished);
        buttons->addWidget(past);
    }
    buttons->addStretch(1);
    QPushButton *close = views::makeButton(tr("Close"), "", this);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    buttons->addWidget(close);
    close->setDefault(true);
    close->setFocus();
    return buttons;
}

// As high as what it says, so that the table has the rest; a long card scrolls.
void LiveReportDialog::fitCard()
{
    if (!m_hasTable)
        return;
    const QLayout &layout = *m_card->layout();
    const int width = m_area->viewport()->width();
    const int wanted = layout.hasHeightForWidth() ? layout.heightForWidth(width) : layout.sizeHint().height();
    m_area->setFixedHeight(std::min(wanted, height() / 2));
}

void LiveReportDialog::resizeEvent(QResizeEvent *event)
{
    QDialog::resizeEvent(event);
    fitCard();
}

void LiveReportDialog::showEvent(QShowEvent *event)
{
    QDialog::showEvent(event);
    fitCard();
}

} // namespace app
