// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

class QDockWidget;
class QMainWindow;
class QTabBar;

namespace views {
class Theme;
}

namespace app {

// Dresses the tab bars that QMainWindow makes for groups of docks in the visual language: an accent line over
// the current tab, counts in the mono face, the current pane's controls at the end of the row. Qt keeps those
// tab bars to itself, so this filters their events. Owned by the main window.
class DockTabs : public QObject
{
    Q_OBJECT

public:
    DockTabs(const views::Theme &theme, QMainWindow *window);

    // Call when docks were added, tabbed, floated, shown or restored; coalesced, takes effect with the next
    // events.
    void refreshSoon();
    void refresh();

    bool eventFilter(QObject *watched, QEvent *event) override;

    // What separates a title from its count in a dock's title: "Ops", U+2002, "546".
    static constexpr char16_t kCountMark = u'\u2002';

private:
    void dress(QTabBar *bar);
    void placeControls(QTabBar &bar);
    void paintTabs(QTabBar &bar) const;
    QDockWidget *currentDock(const QTabBar &bar) const;

    const views::Theme &m_theme;
    QMainWindow *m_window;
    QTimer m_soon;
};

} // namespace app
