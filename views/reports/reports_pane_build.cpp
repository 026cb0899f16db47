// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the reports pane and how they are joined.
#include "views/reports/reports_pane.h"

#include "views/base/combo_arrow.h"
#include "views/base/table_view.h"
#include "views/base/widgets.h"
#include "views/reports/option_form.h"
#include "views/reports/report_card.h"
#include "views/reports/report_table.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

namespace views {

namespace {

constexpr int kListWidth = 300;
constexpr int kTopPartWidth = 240;

QScrollArea *scrolled(QWidget *inside, const QString &name, QWidget *parent)
{
    auto *area = new QScrollArea(parent);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidget(inside);
    area->setAccessibleName(name);
    return area;
}

} // namespace

void ReportsPane::build()
{
    m_list = new TableView(theme(), m_listModel, this);
    m_list->setAccessibleName(tr("All reports"));
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setMinimumWidth(150);
    m_list->setMinimumHeight(80);
    m_outer = new QSplitter(Qt::Horizontal, this);
    m_outer->setChildrenCollapsible(false);
    m_outer->addWidget(m_list);
    m_outer->addWidget(buildDetail());
    m_outer->setStretchFactor(0, 0);
    m_outer->setStretchFactor(1, 1);
    m_outer->setSizes({kListWidth, 900});
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_outer);
    setFocusProxy(m_list);
}

QWidget *ReportsPane::buildDetail()
{
    auto *detail = new QWidget(this);
    auto *column = new QVBoxLayout(detail);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(buildHead());
    column->addWidget(buildOther());
    m_card = new ReportCard(theme());
    m_form = new OptionForm(theme());
    m_top = new QSplitter(Qt::Horizontal, detail);
    m_top->setChildrenCollapsible(false);
    m_top->addWidget(scrolled(m_card, tr("Card"), m_top));
    m_formArea = scrolled(m_form, tr("Options"), m_top);
    m_formArea->hide();
    m_top->addWidget(m_formArea);
    // A new option must not squeeze the answer away: both keep room for a sentence.
    for (int i = 0; i < 2; ++i) {
        m_top->widget(i)->setMinimumWidth(kTopPartWidth);
        m_top->setStretchFactor(i, 1);
    }
    m_top->setMinimumHeight(56);
    m_table = new ReportTableWidget(theme(), detail);
    m_inner = new QSplitter(Qt::Vertical, detail);
    m_inner->setChildrenCollapsible(false);
    m_inner->addWidget(m_top);
    m_inner->addWidget(m_table);
    m_inner->setStretchFactor(0, 2);
    m_inner->setStretchFactor(1, 3);
    column->addWidget(m_inner, 1);
    return detail;
}

QWidget *ReportsPane::buildHead()
{
    auto *head = new QWidget(this);
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins(12, 6, 10, 4);
    row->setSpacing(8);
    m_name = makeLabel({}, "mono", head);
    m_description = makeElidedLabel({}, "dense", head);
    m_options = new QToolButton(head);
    m_options->setProperty("kind", "chip");
    m_options->setText(tr("Options"));
    m_options->setAccessibleName(tr("Show the options"));
    m_options->setCheckable(true);
    m_options->setFocusPolicy(Qt::StrongFocus);
    m_copyCard = makeIconButton(theme(), IconName::copy, tr("Copy the card"), head);
    m_cancel = makeButton(tr("Cancel"), "", head);
    m_run = makeButton(tr("Run"), "primary", head);
    row->addWidget(m_name);
    row->addWidget(m_description, 1);
    for (QWidget *control : {static_cast<QWidget *>(m_copyCard), static_cast<QWidget *>(m_options),
                             static_cast<QWidget *>(m_cancel), static_cast<QWidget *>(m_run)})
        row->addWidget(control);
    return head;
}

QWidget *ReportsPane::buildOther()
{
    m_otherRow = new QWidget(this);
    auto *row = new QHBoxLayout(m_otherRow);
    row->setContentsMargins(12, 0, 10, 4);
    row->setSpacing(8);
    QLabel *label = makeLabel(tr("Compare with"), "second", m_otherRow);
    m_other = new QComboBox(m_otherRow);
    addComboArrow(theme(), m_other);
    m_other->setAccessibleName(tr("The file to compare with"));
    m_other->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_other->setMinimumContentsLength(18);
    label->setBuddy(m_other);
    QPushButton *choose = makeButton(tr("Choose file…"), "", m_otherRow);
    connect(choose, &QPushButton::clicked, this, [this] {
        if (const ReportEntry *chosen = entry())
            Q_EMIT fileWished(chosen->name(), chosen->definition->subject == core::ReportSubject::twoTensors);
    });
    row->addWidget(label);
    row->addWidget(m_other, 1);
    row->addWidget(choose);
    return m_otherRow;
}

void ReportsPane::connectParts()
{
    connect(m_list, &TableView::rowsPicked, this,
            [this](const std::vector<std::size_t> &rows) { choose(m_board->entries[rows.front()].name()); });
    connect(m_list, &TableView::rowActivated, this, [this](std::size_t row) {
        choose(m_board->entries[row].name());
        runChosen();
    });
    connect(m_run, &QPushButton::clicked, this, &ReportsPane::runChosen);
    connect(m_cancel, &QPushButton::clicked, this, [this] { Q_EMIT cancelWished(m_chosen); });
    connect(m_form, &OptionForm::runWished, this, &ReportsPane::runChosen);
    connect(m_options, &QToolButton::toggled, this, &ReportsPane::toggleOptions);
    connect(m_copyCard, &QToolButton::clicked, this, [this] {
        if (const ReportEntry *chosen = entry(); chosen != nullptr && chosen->report)
            QApplication::clipboard()->setText(QString::fromStdString(core::reportCard(*chosen->report)));
    });
    connect(m_other, &QComboBox::currentIndexChanged, this, [this] {
        m_other->setToolTip(otherPath());
        if (const ReportEntry *chosen = entry())
            showControls(*chosen);
    });
    connect(&m_table->table(), &TableView::menuWanted, this, &Pane::menuWanted);
    connect(m_card, &ReportCard::opPicked, this, [this](core::OpId op) { pick(op, {}, false); });
    connect(m_card, &ReportCard::opActivated, this, [this](core::OpId op) { pick(op, {}, true); });
    connect(m_table, &ReportTableWidget::rowPicked, this,
            [this](core::OpId op, const QString &name) { pick(op, name, false); });
    connect(m_table, &ReportTableWidget::rowActivated, this,
            [this](core::OpId op, const QString &name) { pick(op, name, true); });
    for (QSplitter *splitter : {m_outer, m_inner})
        connect(splitter, &QSplitter::splitterMoved, this, &ReportsPane::viewStateChanged);
    auto *run = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
    run->setContext(Qt::WidgetWithChildrenShortcut);
    connect(run, &QShortcut::activated, this, &ReportsPane::runChosen);
}

void ReportsPane::toggleOptions(bool shown)
{
    m_formArea->setVisible(shown && m_form->hasOptions());
    Q_EMIT viewStateChanged();
}

} // namespace views
