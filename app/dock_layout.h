// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/pane_factory.h"

#include <QObject>
#include <QSize>

#include <map>

class QDockWidget;
class QMainWindow;
class QMenu;

namespace app {

class DockTabs;

// The docks of the window and where they stand: one layout a perspective, kept in the settings, with the
// shipped one to go back to. Panes are made when they are first wanted. Owned by the main window.
class DockLayout : public QObject
{
    Q_OBJECT

public:
    DockLayout(QMainWindow *window, const views::Theme &theme, Session &session);

    // Makes the docks (once) and shows those of PERSPECTIVE.
    void enter(Perspective perspective);
    // Keeps where the docks stand now.
    void remember();
    void reset();
    void hideAll();
    bool isEntered() const { return m_entered; }

    // Shows the dock of KIND, brings it to the front of its tabs and focuses it.
    void reveal(PaneKind kind);
    views::Pane *pane(PaneKind kind) const;
    // A count beside the title in tabs; empty takes it away.
    void setCount(PaneKind kind, const QString &count);
    void fillMenu(QMenu *menu);
    // Narrow windows have their side docks as tabs of the bottom.
    void setNarrow(bool narrow);
    // Below this width a window is narrow.
    static constexpr int kNarrowBelow = 1180;

Q_SIGNALS:
    // The user asked for the menu of the current item.
    void menuWanted(QPoint globalPosition);
    // The docks were made, with their panes.
    void docksMade();

protected:
    // Docks are as large again as they were before the window became narrow.
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void makeDocks();
    void restoreSizes();
    QDockWidget *makeDock(PaneKind kind);
    void placeHome(PaneKind kind, QDockWidget *dock);
    void restore();
    void takeOut();
    void applyShipped(Perspective perspective);
    QString stateKey() const;
    QString shownKey() const;

    QMainWindow *m_window;
    const views::Theme &m_theme;
    Session &m_session;
    DockTabs *m_tabs;
    std::map<PaneKind, QDockWidget *> m_docks;
    std::map<QDockWidget *, QSize> m_wideSizes; // of docks, as they last were in a wide window
    Perspective m_perspective = Perspective::overview;
    bool m_entered = false;
    bool m_narrow = false;
};

} // namespace app
