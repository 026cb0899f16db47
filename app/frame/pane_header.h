// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QDockWidget;
class QLabel;
class QToolButton;

namespace views {
class Pane;
class Theme;
} // namespace views

namespace app {

// The words and buttons of a docked pane: subtitle, the pane's own controls, pin, float, close. They stand in
// the pane's header, or, in a group of tabs, at the end of the row of tabs.
class PaneControls : public QWidget
{
    Q_OBJECT

public:
    PaneControls(const views::Theme &theme, views::Pane &pane, QDockWidget *dock, QWidget *parent);

private:
    void refresh();

    views::Pane &m_pane;
    QLabel *m_subtitle;
    QToolButton *m_pin;
};

// The header of a docked pane: its title and its controls. In a group of tabs it has no height and lends its
// controls to the row of tabs. Owned by the dock.
class PaneHeader : public QWidget
{
    Q_OBJECT

public:
    PaneHeader(const views::Theme &theme, views::Pane &pane, QDockWidget *dock);

    // Moves the controls to HOST (which then shows them), or back when HOST is null.
    void lendControls(QWidget *host);
    PaneControls &controls() const { return *m_controls; }
    void setTabbed(bool tabbed);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    // Ignored, so that the dock can be dragged by its header.
    void mousePressEvent(QMouseEvent *event) override;

private:
    const views::Theme &m_theme;
    PaneControls *m_controls;
    bool m_tabbed = false;
};

} // namespace app
