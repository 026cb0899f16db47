// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/reports_pane.h"

#include "views/base/filter_line.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"
#include "views/reports/option_form.h"
#include "views/reports/report_card.h"
#include "views/reports/report_list_source.h"
#include "views/reports/report_table.h"

#include <QComboBox>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QResizeEvent>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QSplitter>
#include <QToolButton>

namespace views {

namespace {

constexpr int kNarrowBelow = 640;
constexpr int kLowBelow = 420;
constexpr int kBesideFrom = 860;
constexpr int kFirstReport = 0;

bool isBusy(const ReportEntry *entry)
{
    return entry != nullptr && entry->state == ReportState::running;
}

} // namespace

ReportsPane::ReportsPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("reports"), tr("Reports"), parent)
{
    build();
    connectParts();
    m_clock.setInterval(500);
    connect(&m_clock, &QTimer::timeout, this,
            [this] { m_card->setElapsed(static_cast<int>(m_since.elapsed() / 1000)); });
    showBoard();
}

void ReportsPane::setBoard(std::shared_ptr<const ReportBoard> board)
{
    m_newDocument = m_newDocument || !m_board || !board || board->document != m_board->document;
    m_board = std::move(board);
    m_boardDue = !isVisible();
    if (!m_boardDue)
        showBoard();
}

const ReportEntry *ReportsPane::entry() const
{
    return m_board ? m_board->find(m_chosen) : nullptr;
}

void ReportsPane::showTrace()
{
    showBoard();
}

void ReportsPane::showItem()
{
    if (!trace()) {
        m_form->setSelectedOp({});
        return;
    }
    const core::OpId op = opOf(*trace(), item());
    m_form->setSelectedOp(op.isValid() ? fromView(trace()->publicLabel(op)) : QString());
    if (!m_picking)
        m_table->showOp(op);
}

void ReportsPane::themeChanged()
{
    m_list->viewport()->update();
    m_table->table().viewport()->update();
}

void ReportsPane::resizeEvent(QResizeEvent *event)
{
    Pane::resizeEvent(event);
    arrange();
}

// A narrow pane has its list above the answer. In a low one the card stands beside the table, which would
// have room for a row or two below it.
void ReportsPane::arrange()
{
    const Qt::Orientation outer = width() < kNarrowBelow ? Qt::Vertical : Qt::Horizontal;
    if (m_outer->orientation() != outer) {
        m_outer->setOrientation(outer);
        m_outer->setSizes(outer == Qt::Vertical ? QList<int>{height() / 4, height() * 3 / 4}
                                                : QList<int>{300, std::max(300, width() - 300)});
    }
    const bool isLow = outer == Qt::Horizontal && height() < kLowBelow && width() >= kBesideFrom;
    const Qt::Orientation inner = isLow ? Qt::Horizontal : Qt::Vertical;
    if (m_inner->orientation() == inner)
        return;
    m_inner->setOrientation(inner);
    m_table->setCompact(isLow);
    m_top->setOrientation(isLow ? Qt::Vertical : Qt::Horizontal);
    m_inner->setSizes({2000, 3000}); // shares
}

void ReportsPane::showEvent(QShowEvent *event)
{
    Pane::showEvent(event);
    if (m_boardDue)
        showBoard();
}

void ReportsPane::showBoard()
{
    m_boardDue = false;
    if (!m_board) {
        m_listModel.setSource(nullptr);
        setSubtitle({});
        showChosen(true);
        return;
    }
    const bool first = m_listModel.source() == nullptr;
    m_listModel.setSource(std::make_shared<const ReportListSource>(m_board));
    if (first) {
        m_list->resetWidths();
        m_list->setStateKey(QStringLiteral("reports"));
    }
    const bool other = m_newDocument || entry() == nullptr;
    m_newDocument = false;
    if (entry() == nullptr && !m_board->entries.empty())
        m_chosen = m_board->entries[kFirstReport].name();
    for (std::size_t row = 0; row < m_board->entries.size(); ++row)
        if (m_board->entries[row].name() == m_chosen)
            m_list->showSourceRow(row);
    std::size_t ran = 0;
    for (const ReportEntry &each : m_board->entries)
        ran += each.report ? 1 : 0;
    setSubtitle(tr("%1 of %2 reports ran").arg(countText(ran), countText(m_board->entries.size())));
    showChosen(other);
}

void ReportsPane::choose(const QString &name)
{
    if (name == m_chosen)
        return;
    m_chosen = name;
    if (m_board)
        for (std::size_t row = 0; row < m_board->entries.size(); ++row)
            if (m_board->entries[row].name() == name)
                m_list->showSourceRow(row);
    showChosen(true);
    Q_EMIT viewStateChanged();
}

// OTHER: another report than before, whose form starts from what it was last asked with.
void ReportsPane::showChosen(bool other)
{
    const ReportEntry *chosen = entry();
    m_card->setEntry(chosen);
    if (other)
        m_form->setReport(chosen != nullptr ? chosen->definition : nullptr,
                          chosen != nullptr ? chosen->options : core::Value::object());
    m_name->setText(chosen != nullptr ? chosen->name() : QString());
    m_description->setText(chosen != nullptr ? fromView(chosen->definition->description) : QString());
    for (QWidget *part : {static_cast<QWidget *>(m_run), static_cast<QWidget *>(m_options),
                          static_cast<QWidget *>(m_copyCard), static_cast<QWidget *>(m_cancel)})
        part->setVisible(chosen != nullptr);
    m_otherRow->setVisible(chosen != nullptr && chosen->needsOther());
    if (chosen == nullptr) {
        m_clock.stop();
        m_table->setReport({}, nullptr, trace() ? QString() : tr("Open a trace to ask about it."));
        m_formArea->hide();
        return;
    }
    fillOthers(*chosen);
    showControls(*chosen);
    m_table->setReport(chosen->name(), chosen->report, emptyWords(*chosen));
    showItem();
}

void ReportsPane::showControls(const ReportEntry &chosen)
{
    const bool busy = isBusy(&chosen);
    m_cancel->setVisible(busy);
    m_run->setVisible(!busy);
    const bool applicable = chosen.state != ReportState::notApplicable;
    const bool ready = applicable && (!chosen.needsOther() || !otherPath().isEmpty());
    m_run->setEnabled(ready);
    m_run->setText(chosen.report ? tr("Run again") : tr("Run"));
    m_run->setAccessibleName(m_run->text());
    m_run->setToolTip(!applicable ? chosen.reason
                      : !ready    ? tr("Choose the second file first")
                                  : tr("Ctrl+Return"));
    m_options->setVisible(m_form->hasOptions());
    m_formArea->setVisible(m_form->hasOptions() && m_options->isChecked());
    m_copyCard->setEnabled(chosen.report != nullptr);
    if (!busy) {
        m_clock.stop();
    } else if (!m_clock.isActive()) {
        m_since.start();
        m_clock.start();
    }
}

void ReportsPane::fillOthers(const ReportEntry &chosen)
{
    const QSignalBlocker silent(m_other);
    const QString wanted = chosen.otherPath.isEmpty() ? otherPath() : chosen.otherPath;
    m_other->clear();
    m_other->addItem(m_board->others.empty() ? tr("no other file is open") : tr("choose…"), QString());
    for (const OtherChoice &other : m_board->others) {
        m_other->addItem(other.title, other.path);
        m_other->setItemData(m_other->count() - 1, other.path, Qt::ToolTipRole);
    }
    // With one other file there is nothing to choose.
    const int only = m_board->others.size() == 1 ? 1 : 0;
    m_other->setCurrentIndex(wanted.isEmpty() ? only : std::max(0, m_other->findData(wanted)));
    m_other->setToolTip(otherPath());
}

QString ReportsPane::otherPath() const
{
    return m_other->currentData().toString();
}

QString ReportsPane::emptyWords(const ReportEntry &chosen) const
{
    switch (chosen.state) {
    case ReportState::notApplicable:
        return tr("Not applicable: %1.").arg(chosen.reason);
    case ReportState::running:
        return tr("The rows come when the report is done.");
    case ReportState::failed:
        return tr("There is no answer to list.");
    case ReportState::done:
        return chosen.report && chosen.report->error ? tr("The question was refused; the card says why.")
                                                     : tr("This answer has no rows.");
    case ReportState::notRun:
        break;
    }
    return chosen.needsOther() && otherPath().isEmpty() ? tr("Choose the file to compare with, then run.")
                                                        : tr("Not run yet.");
}

void ReportsPane::runChosen()
{
    const ReportEntry *chosen = entry();
    if (chosen == nullptr || !m_run->isEnabled() || isBusy(chosen))
        return;
    const std::optional<core::Value> options = m_form->options();
    if (!options) {
        m_options->setChecked(true);
        return;
    }
    Q_EMIT runWished({chosen->name(), *options, chosen->needsOther() ? otherPath() : QString()});
}

bool ReportsPane::asksFirst() const
{
    const ReportEntry *chosen = entry();
    if (chosen == nullptr || !m_run->isEnabled())
        return true;
    for (const core::ReportOption &option : chosen->definition->options)
        if (option.type == core::OptionType::op && option.defaultValue.toString().empty() &&
            !m_form->isFilled(option.name))
            return true;
    return false;
}

void ReportsPane::showOptions()
{
    m_options->setChecked(true);
    const ReportEntry *chosen = entry();
    if (chosen == nullptr)
        return;
    // Typing goes on at what is missing.
    for (const core::ReportOption &option : chosen->definition->options)
        if (option.type == core::OptionType::op && !m_form->isFilled(option.name))
            return m_form->field(option.name)->setFocus();
}

void ReportsPane::focusFilter()
{
    m_table->focusFilter();
}

// A row without an op may be about a parameter, by its name.
void ReportsPane::pick(core::OpId op, const QString &name, bool activate)
{
    if (!trace())
        return;
    SelectedItem item;
    if (op.isValid()) {
        item = OpItem{op};
    } else {
        const std::string wanted = name.toStdString();
        for (std::size_t i = 0; i < trace()->params().size() && !name.isEmpty(); ++i)
            if (trace()->string(trace()->params()[i].address) == wanted)
                item = ParamItem{core::ParamId(i)};
    }
    if (std::holds_alternative<std::monostate>(item))
        return;
    const QScopedValueRollback<bool> guard(m_picking, true);
    if (!activate) {
        selection().select(item);
        return;
    }
    selection().activate(item);
    Q_EMIT sourceWished();
}

// The height of the card, or its width where it stands beside the table.
QString ReportsPane::cardKey() const
{
    return m_inner->orientation() == Qt::Vertical ? QStringLiteral("card") : QStringLiteral("cardWidth");
}

QByteArray ReportsPane::viewState() const
{
    return QJsonDocument(QJsonObject{{QStringLiteral("report"), m_chosen},
                                     {QStringLiteral("options"), m_options->isChecked()},
                                     {QStringLiteral("list"), m_outer->sizes().value(0)},
                                     {cardKey(), m_inner->sizes().value(0)}})
        .toJson(QJsonDocument::Compact);
}

void ReportsPane::restoreViewState(const QByteArray &state)
{
    const QJsonObject root = QJsonDocument::fromJson(state).object();
    if (root.isEmpty())
        return;
    m_options->setChecked(root.value(QLatin1String("options")).toBool());
    const int list = root.value(QLatin1String("list")).toInt();
    if (list > 0)
        m_outer->setSizes({list, std::max(300, width() - list)});
    const int whole = m_inner->orientation() == Qt::Vertical ? height() : m_inner->width();
    if (const int card = root.value(cardKey()).toInt(); card > 0)
        m_inner->setSizes({card, std::max(100, whole - card)});
    choose(root.value(QLatin1String("report")).toString());
}

} // namespace views
