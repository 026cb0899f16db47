// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dock_layout.h"

#include "app/frame/dock_tabs.h"
#include "app/frame/pane_header.h"
#include "app/session.h"

#include <QByteArrayList>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QMenu>

namespace app {

namespace {

// Raised when docks are added or renamed: a state of another version is not restored.
constexpr int kSmallestWidth = 164; // a title and its buttons
constexpr int kLayoutVersion = 3;
constexpr double kReferenceWidth = 1600.0;
constexpr double kReferenceHeight = 1000.0;
constexpr double kNarrowShare = 0.38; // of the height, where all docks share one place

} // namespace

DockLayout::DockLayout(QMainWindow *window, const views::Theme &theme, Session &session)
    : QObject(window), m_window(window), m_theme(theme), m_session(session),
      m_tabs(new DockTabs(theme, window))
{
    window->setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks |
                           QMainWindow::GroupedDragging);
    window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    window->setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    window->setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
}

QDockWidget *DockLayout::makeDock(PaneKind kind)
{
    views::Pane *pane = makePane(kind, m_theme, m_session);
    auto *dock = new QDockWidget(paneTitle(kind), m_window);
    dock->setMinimumWidth(kSmallestWidth);
    connect(pane, &views::Pane::menuWanted, this, &DockLayout::menuWanted);
    dock->setObjectName(paneId(kind));
    dock->setAccessibleName(paneTitle(kind));
    dock->setTitleBarWidget(new PaneHeader(m_theme, *pane, dock));
    dock->setWidget(pane);
    dock->installEventFilter(this);
    connect(dock, &QDockWidget::topLevelChanged, m_tabs, &DockTabs::refreshSoon);
    connect(dock, &QDockWidget::dockLocationChanged, m_tabs, &DockTabs::refreshSoon);
    connect(dock, &QDockWidget::visibilityChanged, m_tabs, &DockTabs::refreshSoon);
    return dock;
}

void DockLayout::makeDocks()
{
    if (!m_docks.empty())
        return;
    for (const PaneKind kind : kPaneKinds) {
        QDockWidget *dock = makeDock(kind);
        m_docks[kind] = dock;
        m_window->addDockWidget(Qt::BottomDockWidgetArea, dock);
        dock->hide();
    }
    Q_EMIT docksMade();
}

void DockLayout::enter(Perspective perspective)
{
    if (m_entered && perspective == m_perspective)
        return;
    if (m_entered)
        remember();
    makeDocks();
    m_perspective = perspective;
    m_entered = true;
    restore();
}

// The kept layout of the perspective, else the shipped one. Qt adds a dock that the kept one does not know to
// some area, so what was shown is kept beside it.
void DockLayout::restore()
{
    const QByteArray state = m_narrow ? QByteArray() : m_session.settings().bytes(stateKey());
    takeOut();
    if (state.isEmpty() || !m_window->restoreState(state, kLayoutVersion)) {
        applyShipped(m_perspective);
    } else if (const QByteArray shown = m_session.settings().bytes(shownKey()); !shown.isEmpty()) {
        const QList<QByteArray> names = shown.split(' ');
        for (const auto &[kind, dock] : m_docks)
            if (!names.contains(paneId(kind).toLatin1()))
                m_window->removeDockWidget(dock);
    }
    m_tabs->refreshSoon();
}

void DockLayout::takeOut()
{
    for (const auto &[kind, dock] : m_docks) {
        dock->setFloating(false);
        m_window->removeDockWidget(dock);
    }
}

void DockLayout::applyShipped(Perspective perspective)
{
    takeOut();
    std::map<Qt::DockWidgetArea, QDockWidget *> front;
    for (const PanePlace &place : shippedLayout(perspective)) {
        if (place.onDemand)
            continue;
        QDockWidget *dock = m_docks.at(place.kind);
        const Qt::DockWidgetArea area = m_narrow ? Qt::BottomDockWidgetArea : place.area;
        m_window->addDockWidget(area, dock);
        dock->show();
        if (const auto known = front.find(area); known != front.end()) {
            m_window->tabifyDockWidget(known->second, dock);
            continue;
        }
        front[area] = dock;
        const bool bottom = area == Qt::BottomDockWidgetArea;
        const double scale =
            bottom ? m_window->height() / kReferenceHeight : m_window->width() / kReferenceWidth;
        const double size = m_narrow ? m_window->height() * kNarrowShare : place.size * scale;
        m_window->resizeDocks({dock}, {static_cast<int>(size)}, bottom ? Qt::Vertical : Qt::Horizontal);
    }
    // In a narrow window all are tabs of one area: the findings say most there.
    if (m_narrow && m_docks.contains(PaneKind::findings))
        front[Qt::BottomDockWidgetArea] = m_docks.at(PaneKind::findings);
    for (const auto &[area, dock] : front)
        dock->raise();
}

void DockLayout::remember()
{
    if (!m_entered || m_narrow)
        return;
    QByteArrayList shown = {"-"}; // not empty when all docks are closed
    for (const auto &[kind, dock] : m_docks)
        if (!dock->isHidden())
            shown.push_back(paneId(kind).toLatin1());
    m_session.settings().setBytes(stateKey(), m_window->saveState(kLayoutVersion));
    m_session.settings().setBytes(shownKey(), shown.join(' '));
}

void DockLayout::reset()
{
    if (!m_entered)
        return;
    m_session.settings().remove(stateKey());
    m_session.settings().remove(shownKey());
    applyShipped(m_perspective);
    m_tabs->refreshSoon();
}

void DockLayout::hideAll()
{
    if (!m_entered)
        return;
    remember();
    m_entered = false;
    for (const auto &[kind, dock] : m_docks)
        dock->hide();
}

void DockLayout::setNarrow(bool narrow)
{
    if (narrow == m_narrow)
        return;
    if (narrow)
        remember();
    m_narrow = narrow;
    if (!m_entered)
        return;
    // What a narrow window squeezed is not what was wanted.
    const std::map<QDockWidget *, QSize> sizes = m_wideSizes;
    restore();
    m_wideSizes = sizes;
    if (!narrow)
        restoreSizes();
}

bool DockLayout::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize && !m_narrow && m_window->width() >= kNarrowBelow)
        if (auto *dock = qobject_cast<QDockWidget *>(watched);
            dock != nullptr && dock->isVisible() && !dock->isFloating())
            m_wideSizes[dock] = dock->size();
    return QObject::eventFilter(watched, event);
}

void DockLayout::restoreSizes()
{
    QList<QDockWidget *> docks;
    QList<int> widths;
    QList<int> heights;
    for (const auto &[dock, size] : m_wideSizes)
        if (!dock->isHidden() && !dock->isFloating()) {
            docks.push_back(dock);
            widths.push_back(size.width());
            heights.push_back(size.height());
        }
    m_window->resizeDocks(docks, widths, Qt::Horizontal);
    m_window->resizeDocks(docks, heights, Qt::Vertical);
}

void DockLayout::reveal(PaneKind kind)
{
    const auto found = m_docks.find(kind);
    if (found == m_docks.end())
        return;
    QDockWidget *dock = found->second;
    // A kept layout that does not know the dock leaves it where it was made: alone at the bottom.
    const bool astray = dock->isHidden() && m_window->dockWidgetArea(dock) == Qt::BottomDockWidgetArea &&
                        m_window->tabifiedDockWidgets(dock).isEmpty();
    if (!dock->isFloating() && (astray || m_window->dockWidgetArea(dock) == Qt::NoDockWidgetArea))
        placeHome(kind, dock);
    dock->show();
    dock->raise();
    dock->widget()->setFocus(Qt::ShortcutFocusReason);
    m_tabs->refreshSoon();
}

// Among the tabs of the area it is shipped in, the bottom without one.
void DockLayout::placeHome(PaneKind kind, QDockWidget *dock)
{
    Qt::DockWidgetArea area = Qt::BottomDockWidgetArea;
    if (!m_narrow)
        for (const PanePlace &place : shippedLayout(m_perspective))
            if (place.kind == kind)
                area = place.area;
    m_window->addDockWidget(area, dock);
    for (const auto &[other, neighbour] : m_docks)
        if (neighbour != dock && !neighbour->isHidden() && !neighbour->isFloating() &&
            m_window->dockWidgetArea(neighbour) == area) {
            m_window->tabifyDockWidget(neighbour, dock);
            return;
        }
}

views::Pane *DockLayout::pane(PaneKind kind) const
{
    const auto found = m_docks.find(kind);
    return found == m_docks.end() ? nullptr : qobject_cast<views::Pane *>(found->second->widget());
}

void DockLayout::setCount(PaneKind kind, const QString &count)
{
    const auto found = m_docks.find(kind);
    if (found == m_docks.end())
        return;
    const QString title = paneTitle(kind);
    found->second->setWindowTitle(count.isEmpty() ? title : title + QChar(DockTabs::kCountMark) + count);
    m_tabs->refreshSoon();
}

void DockLayout::fillMenu(QMenu *menu)
{
    menu->clear();
    for (const auto &[kind, dock] : m_docks) {
        QAction *action = menu->addAction(paneTitle(kind));
        action->setCheckable(true);
        action->setChecked(dock->isVisible());
        connect(action, &QAction::triggered, this, [this, dock = dock, kind = kind](bool shown) {
            if (shown)
                reveal(kind);
            else
                dock->hide();
        });
    }
    menu->setEnabled(!m_docks.empty());
}

QString DockLayout::shownKey() const
{
    return stateKey() + QStringLiteral("-shown");
}

QString DockLayout::stateKey() const
{
    return QStringLiteral("layout/") + perspectiveKey(m_perspective);
}

} // namespace app
