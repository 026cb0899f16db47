// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/dock_tabs.h"

#include "app/frame/pane_header.h"
#include "views/base/theme.h"

#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QPainter>
#include <QTabBar>

#include <algorithm>

namespace app {

namespace {

using core::ColorToken;

constexpr int kPadding = 10;
constexpr int kGap = 7;
constexpr int kOutside = 500;

PaneHeader *headerOf(const QDockWidget *dock)
{
    return dock == nullptr ? nullptr : qobject_cast<PaneHeader *>(dock->titleBarWidget());
}

} // namespace

DockTabs::DockTabs(const views::Theme &theme, QMainWindow *window)
    : QObject(window), m_theme(theme), m_window(window)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &DockTabs::refresh);
    connect(&theme, &views::Theme::changed, this, &DockTabs::refreshSoon);
}

void DockTabs::refreshSoon()
{
    if (!m_soon.isActive())
        m_soon.start();
}

void DockTabs::refresh()
{
    for (QDockWidget *dock : m_window->findChildren<QDockWidget *>()) {
        const bool tabbed = !dock->isFloating() && !m_window->tabifiedDockWidgets(dock).isEmpty();
        if (PaneHeader *header = headerOf(dock))
            header->setTabbed(tabbed);
    }
    for (QTabBar *bar : m_window->findChildren<QTabBar *>(QString(), Qt::FindDirectChildrenOnly)) {
        dress(bar);
        // Qt leaves the row of a group that has lost its docks where it was, over the panes there now, and
        // would show it again when it were hidden. Tab does not stop there either.
        bar->setFocusPolicy(bar->count() == 0 ? Qt::NoFocus : Qt::TabFocus);
        if (bar->count() == 0)
            bar->move(-kOutside - bar->width(), -kOutside - bar->height());
        else
            placeControls(*bar);
    }
}

void DockTabs::dress(QTabBar *bar)
{
    if (bar->objectName() != QLatin1String("dockTabs")) {
        bar->setObjectName(QStringLiteral("dockTabs"));
        bar->installEventFilter(this);
        bar->setAccessibleName(tr("Tabbed panes"));
        bar->setExpanding(false);
        bar->setDrawBase(false);
        bar->setElideMode(Qt::ElideNone);
        bar->setMouseTracking(true);
        connect(bar, &QTabBar::currentChanged, this, &DockTabs::refreshSoon);
    }
    bar->update();
}

QDockWidget *DockTabs::currentDock(const QTabBar &bar) const
{
    const QString title = bar.tabText(bar.currentIndex());
    for (QDockWidget *dock : m_window->findChildren<QDockWidget *>())
        if (dock->windowTitle() == title)
            return dock;
    return nullptr;
}

// The controls of the current pane stand at the end of the row; those of the others wait in their headers.
void DockTabs::placeControls(QTabBar &bar)
{
    QDockWidget *current = currentDock(bar);
    PaneHeader *header = headerOf(current);
    if (header == nullptr || !bar.isVisible())
        return;
    for (QDockWidget *other : m_window->tabifiedDockWidgets(current))
        if (PaneHeader *otherHeader = headerOf(other))
            otherHeader->lendControls(nullptr);
    header->lendControls(m_window);
    const QRect last = bar.tabRect(bar.count() - 1);
    const int room = bar.width() - last.right() - 12;
    const int width = std::min(room, header->controls().sizeHint().width());
    header->controls().setVisible(width > header->controls().minimumSizeHint().width() / 2);
    header->controls().setGeometry(bar.x() + bar.width() - width, bar.y() + 2, width, bar.height() - 3);
    header->controls().raise();
}

bool DockTabs::eventFilter(QObject *watched, QEvent *event)
{
    auto *bar = qobject_cast<QTabBar *>(watched);
    if (bar == nullptr)
        return false;
    if (event->type() == QEvent::Paint) {
        if (bar->count() == 0)
            refreshSoon();
        else
            paintTabs(*bar);
        return true;
    }
    if (event->type() == QEvent::Resize || event->type() == QEvent::Move || event->type() == QEvent::Show ||
        event->type() == QEvent::Hide)
        refreshSoon();
    return false;
}

void DockTabs::paintTabs(QTabBar &bar) const
{
    QPainter painter(&bar);
    painter.fillRect(bar.rect(), m_theme.color(ColorToken::raised));
    painter.fillRect(QRect(0, bar.height() - 1, bar.width(), 1), m_theme.color(ColorToken::border));
    const QPoint pointer = bar.mapFromGlobal(QCursor::pos());
    for (int i = 0; i < bar.count(); ++i) {
        const QRect tab = bar.tabRect(i);
        const bool current = i == bar.currentIndex();
        if (current) {
            painter.fillRect(tab, m_theme.color(ColorToken::panel));
            painter.fillRect(QRect(tab.left(), tab.top(), tab.width(), 2), m_theme.color(ColorToken::accent));
        } else if (tab.contains(pointer)) {
            painter.fillRect(tab.adjusted(0, 0, 0, -1), m_theme.color(ColorToken::hover));
        }
        const QStringList parts = bar.tabText(i).split(QChar(kCountMark));
        painter.setFont(m_theme.font(views::FontRole::control));
        painter.setPen(m_theme.color(current ? ColorToken::text : ColorToken::second));
        QRect room = tab.adjusted(kPadding, 1, 0, 0);
        painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, parts.value(0));
        if (parts.size() < 2)
            continue;
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(parts[0]) + kGap);
        painter.setFont(m_theme.font(views::FontRole::monoCaption));
        painter.setPen(m_theme.color(ColorToken::muted));
        painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, parts[1]);
    }
    if (bar.hasFocus()) {
        painter.setPen(QPen(m_theme.color(ColorToken::accent), 2));
        painter.drawRect(bar.tabRect(bar.currentIndex()).adjusted(1, 1, -1, -2));
    }
}

} // namespace app
