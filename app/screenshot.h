// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/command_line.h"

#include <QObject>
#include <QTimer>

namespace app {

class MainWindow;
class Session;

// Carries out the switches that show the window without a person: selects, brings panes to the front, waits
// until every job is done, saves a picture, prints the verdict, ends. Does nothing without a request. Owned
// by main.
class Screenshot : public QObject
{
    Q_OBJECT

public:
    Screenshot(MainWindow &window, Session &session, ScreenshotRequest request);

private:
    void arrange();
    void look();
    void finish(int exitCode);
    void printVerdict() const;
    void selectWanted();

    MainWindow &m_window;
    Session &m_session;
    ScreenshotRequest m_request;
    QTimer m_clock;
    int m_quiet = 0;
    int m_looks = 0;
    bool m_arranged = false;
};

} // namespace app
