// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QStringList>
#include <QTimer>
#include <QWidget>

#include <vector>

class QFrame;
class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace app {

class CaptureService;

// A run while it goes on: stages, op now, the first bad op at once, file and time against their limits; Stop
// and keep, Discard. Owned by the main window; made when a run starts.
class CapturePage : public QWidget
{
    Q_OBJECT

public:
    CapturePage(const views::Theme &theme, CaptureService &service, QWidget *parent = nullptr);

private:
    // One number with its limit: "1.83 GiB", a bar, "limit 8 GiB".
    struct Meter
    {
        QLabel *value = nullptr;
        QProgressBar *bar = nullptr;
        QLabel *note = nullptr;
    };

    QVBoxLayout *makeColumn();
    void addButtons(QVBoxLayout *column);
    QWidget *makeStages();
    void showStages();
    QWidget *makeNow(const views::Theme &theme);
    QWidget *makeBad(const views::Theme &theme);
    QWidget *makeMeters();
    static void setMeter(const Meter &meter, const QString &value, double share, const QString &note);
    void begin();
    void refresh();
    void showHow();
    void showNow();
    void showStop();
    void showMeters();

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
    QLabel *m_count = nullptr;
    QFrame *m_bad = nullptr;
    QLabel *m_badOp = nullptr;
    Meter m_file;
    Meter m_timeMeter;
    QPushButton *m_stop = nullptr;
    QLabel *m_note = nullptr; // beside the buttons
    qint64 m_freeBytes = -1;
    QTimer m_clock;
};

} // namespace app
