// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QMenuBar;
class QToolButton;

namespace views {
class Theme;
}

namespace app {

// The first row of the window: mark, menus, title and, when the window draws its own frame, the three window
// buttons. Dragging it moves the window, a double click maximises. Owned by the main window.
class TitleBar : public QWidget
{
    Q_OBJECT

public:
    TitleBar(const views::Theme &theme, QWidget *window);

    QMenuBar *menuBar() const { return m_menuBar; }
    void setTitle(const QString &title);
    void setWindowButtonsShown(bool shown);

protected:
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void placeTitle();

    QWidget *m_window;
    QMenuBar *m_menuBar;
    QLabel *m_title;
    QList<QToolButton *> m_buttons;
};

} // namespace app
