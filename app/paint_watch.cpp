// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/paint_watch.h"

#include "app/main_window.h"
#include "views/graph/graph_pane.h"

#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QTimer>

#include <cstdio>
#include <ctime>
#include <unistd.h>

namespace app {

namespace {

// Milliseconds since the kernel started this process, in steps of 10; -1 when the kernel does not say.
double processAgeMs()
{
    QFile file(QStringLiteral("/proc/self/stat"));
    if (!file.open(QIODevice::ReadOnly))
        return -1;
    // The name in brackets may hold blanks: the start time is the 20th field after it.
    const QByteArray text = file.readAll();
    const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
    constexpr int kStartTime = 19;
    if (fields.size() <= kStartTime)
        return -1;
    timespec now = {};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double started = fields[kStartTime].toDouble() / static_cast<double>(sysconf(_SC_CLK_TCK));
    return (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - started) * 1e3;
}

void print(const char *what)
{
    std::printf("%s %.0f ms\n", what, processAgeMs());
    std::fflush(stdout);
}

} // namespace

PaintWatch::PaintWatch(MainWindow &window, bool expectsDocument, bool quit)
    : m_window(window), m_expectsDocument(expectsDocument), m_quit(quit)
{
    qApp->installEventFilter(this);
}

// A paint event is seen before it is carried out; what runs after it is queued behind it.
bool PaintWatch::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() != QEvent::Paint)
        return false;
    if (!m_windowPainted && watched == &m_window) {
        m_windowPainted = true;
        QTimer::singleShot(0, this, &PaintWatch::painted);
    }
    if (m_expectsDocument && !m_graphPainted)
        if (auto *graph = m_window.findChild<views::GraphPane *>();
            graph != nullptr && watched == &graph->canvas() && graph->state().hasPicture()) {
            m_graphPainted = true;
            QTimer::singleShot(0, this, &PaintWatch::graphPainted);
        }
    return false;
}

void PaintWatch::painted()
{
    print("window");
    if (m_quit && !m_expectsDocument)
        QApplication::quit();
}

void PaintWatch::graphPainted()
{
    print("graph");
    if (m_quit)
        QApplication::quit();
}

} // namespace app
