// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QStringList>
#include <QTimer>
#include <QWidget>

#include <vector>

class QFrame;
class QLabel;

namespace app {

class CaptureService;

// A run while it goes on: stage, op now, counts, time, the first bad op at once; Stop and keep, Discard.
// Owned by the main window.
class CapturePage : public QWidget
{
    Q_OBJECT

public:
    CapturePage(const views::Theme &theme, CaptureService &service, QWidget *parent = nullptr);

private:
    QWidget *makeStages();
    void showStages();
    QWidget *makeNow(const views::Theme &theme);
    QWidget *makeBad(const views::Theme &theme);
    QWidget *makeCounts();
    void refresh();

    // One stage of the run: a bar and its name; done, going on, or still to come.
    struct Stage
    {
        QString name;
        QStringList words; // what the worker calls it
        QWidget *place = nullptr;
        QFrame *bar = nullptr;
        QLabel *label = nullptr;
    };

    CaptureService &m_service;
    std::vector<Stage> m_stages;
    QLabel *m_title;
    QLabel *m_time;
    QLabel *m_how;
    QFrame *m_now = nullptr;
    QLabel *m_op = nullptr;
    QFrame *m_bad = nullptr;
    QLabel *m_badOp = nullptr;
    QLabel *m_calls = nullptr;
    QLabel *m_bytes = nullptr;
    QTimer m_clock;
};

} // namespace app
