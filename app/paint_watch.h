// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace app {

class MainWindow;

// Prints to standard output how long after the start of the process the window was first painted and, with a
// document, when its graph was: for the limits of tests/bench/window.sh. Ends the program with QUIT when
// there is nothing more to wait for. Owned by main.
class PaintWatch : public QObject
{
    Q_OBJECT

public:
    // EXPECTS DOCUMENT: the graph is waited for too.
    PaintWatch(MainWindow &window, bool expectsDocument, bool quit);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void painted();
    void graphPainted();

    MainWindow &m_window;
    bool m_expectsDocument;
    bool m_quit;
    bool m_windowPainted = false;
    bool m_graphPainted = false;
};

} // namespace app
