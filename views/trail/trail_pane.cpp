// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trail/trail_pane.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/trail/trail_delegate.h"

#include <QLabel>
#include <QListWidget>
#include <QScopedValueRollback>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace views {

TrailPane::TrailPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("trail"), tr("Trail"), parent), m_list(new QListWidget(this)),
      m_words(makeLabel({}, "second", this))
{
    m_list->setAccessibleName(tr("Trail of NaN and Inf, origin to sink"));
    m_list->setItemDelegate(new TrailDelegate(theme(), m_list));
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setUniformItemSizes(true);
    m_words->setWordWrap(true);
    m_words->setMargin(14);
    m_words->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_words);
    column->addWidget(m_list, 1);
    setFocusProxy(m_list);
    // Not the current row: that one is set when the list gets the focus, which is no wish to go there.
    connect(m_list, &QListWidget::itemSelectionChanged, this, [this] {
        const QList<QListWidgetItem *> chosen = m_list->selectedItems();
        if (!chosen.isEmpty())
            pick(m_list->row(chosen.front()), false);
    });
    connect(m_list, &QListWidget::itemClicked, this,
            [this](QListWidgetItem *item) { pick(m_list->row(item), false); });
    connect(m_list, &QListWidget::itemActivated, this,
            [this](QListWidgetItem *item) { pick(m_list->row(item), true); });
    fill();
}

void TrailPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    m_facts = std::move(facts);
    showAgain();
}

void TrailPane::setTrail(std::shared_ptr<const NanTrail> trail)
{
    m_trail = std::move(trail);
    showAgain();
}

// The facts and the trail are both there, and of this trace.
bool TrailPane::isReady() const
{
    return trace() && m_facts && m_trail && m_trail->trace == trace();
}

void TrailPane::showTrace()
{
    fill();
}

void TrailPane::say(const QString &text)
{
    m_words->setText(text);
    m_words->setVisible(!text.isEmpty());
    m_list->setVisible(text.isEmpty());
}

void TrailPane::fill()
{
    const QSignalBlocker silent(m_list);
    m_list->clear();
    setSubtitle({});
    if (!trace())
        return say(tr("No trace is open."));
    if (!isReady())
        return say(tr("Looking for NaN and Inf."));
    if (!m_trail->failure.isOk())
        return say(tr("NaN and Inf were not followed: %1.").arg(fromView(m_trail->failure.message())));
    const std::vector<TrailStep> &steps = m_trail->steps;
    if (steps.empty())
        return say(m_facts->coverage.outputsUnchecked > 0
                       ? tr("No NaN or Inf in what was checked. Neither saved nor measured: %1.")
                             .arg(countedText(m_facts->coverage.outputsUnchecked, "output", "outputs"))
                       : tr("No NaN or Inf in this trace: every recorded output is finite."));
    say({});
    int pass = 0;
    for (const TrailStep &step : steps) {
        auto *item = new QListWidgetItem(step.title, m_list);
        item->setData(TrailDelegate::kNameRole, step.name);
        item->setData(TrailDelegate::kValueRole, step.value);
        item->setData(TrailDelegate::kStateRole, static_cast<int>(step.state));
        item->setData(TrailDelegate::kRuleAboveRole, step.pass != pass && m_list->count() > 1);
        item->setData(Qt::AccessibleTextRole,
                      QStringLiteral("%1, %2, %3").arg(step.title, step.name, step.value));
        item->setToolTip(QStringLiteral("%1\n%2 %3").arg(step.title, step.name, step.value).trimmed());
        pass = step.pass;
    }
    setSubtitle(
        m_trail->leftOut == 0
            ? countedText(steps.size(), "event", "events")
            : tr("the first %1 events, %2 more").arg(countText(steps.size()), countText(m_trail->leftOut)));
}

// The step of the current op or grad function; carriers in the middle of a run have none.
void TrailPane::showItem()
{
    if (m_own || !isReady())
        return;
    const QSignalBlocker silent(m_list);
    const auto *grad = std::get_if<GradItem>(&item());
    const core::OpId op = opOf(*trace(), item());
    const std::vector<TrailStep> &steps = m_trail->steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool same = grad != nullptr ? steps[i].node == grad->node
                                          : steps[i].pass == 0 && op.isValid() && steps[i].op == op;
        if (same) {
            m_list->setCurrentRow(static_cast<int>(i));
            return;
        }
    }
    m_list->setCurrentRow(-1);
}

void TrailPane::pick(int row, bool activate)
{
    if (row < 0 || !isReady() || static_cast<std::size_t>(row) >= m_trail->steps.size())
        return;
    const TrailStep &step = m_trail->steps[static_cast<std::size_t>(row)];
    const QScopedValueRollback<bool> guard(m_own, true);
    if (activate && step.op.isValid())
        selection().activate(OpItem{step.op});
    else if (step.node.isValid())
        selection().select(GradItem{step.node});
    else if (step.op.isValid())
        selection().select(OpItem{step.op});
}

} // namespace views
