// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/pane.h"

namespace views {

Pane::Pane(const PaneContext &context, const QString &id, const QString &title, QWidget *parent)
    : QWidget(parent), m_context(context), m_id(id), m_title(title), m_trace(context.selection.trace()),
      m_item(context.selection.item())
{
    setObjectName(QStringLiteral("paneBody"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(title);
    connect(&context.selection, &TraceSelection::traceChanged, this, &Pane::traceArrived);
    connect(&context.selection, &TraceSelection::changed, this, &Pane::itemArrived);
    connect(&context.selection, &TraceSelection::activated, this, [this] {
        if (isVisible() && !m_pinned)
            reveal();
    });
    connect(&context.theme, &Theme::changed, this, [this] { themeChanged(); });
}

void Pane::setPinned(bool pinned)
{
    if (pinned == m_pinned)
        return;
    m_pinned = pinned;
    if (!pinned)
        itemArrived();
    Q_EMIT headerChanged();
}

void Pane::setSubtitle(const QString &subtitle)
{
    if (subtitle == m_subtitle)
        return;
    m_subtitle = subtitle;
    Q_EMIT headerChanged();
}

// A new trace takes the pin away: the pinned item does not exist in it.
void Pane::traceArrived()
{
    m_trace = m_context.selection.trace();
    m_item = m_context.selection.item();
    m_traceDue = true;
    m_itemDue = true;
    if (m_pinned) {
        m_pinned = false;
        Q_EMIT headerChanged();
    }
    flush();
}

void Pane::itemArrived()
{
    if (m_pinned || m_item == m_context.selection.item())
        return;
    m_item = m_context.selection.item();
    m_itemDue = true;
    flush();
}

void Pane::showAgain()
{
    m_traceDue = true;
    m_itemDue = true;
    flush();
}

void Pane::flush()
{
    if (!isVisible())
        return;
    if (m_traceDue) {
        m_traceDue = false;
        showTrace();
    }
    if (m_itemDue) {
        m_itemDue = false;
        showItem();
    }
}

void Pane::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    flush();
}

} // namespace views
