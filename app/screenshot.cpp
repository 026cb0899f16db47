// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/screenshot.h"

#include "app/dock_layout.h"
#include "app/main_window.h"
#include "app/session.h"
#include "views/base/formatting.h"

#include <QApplication>
#include <QPixmap>

#include <cstdio>

namespace app {

namespace {

constexpr int kLookEveryMs = 50;
// So many looks without a running job and the picture stands still.
constexpr int kQuietLooks = 8;
constexpr int kMostLooks = 60 * 1000 / kLookEveryMs;

} // namespace

Screenshot::Screenshot(MainWindow &window, Session &session, ScreenshotRequest request)
    : m_window(window), m_session(session), m_request(std::move(request))
{
    if (m_request.path.isEmpty() && !m_request.quit && m_request.perspective.isEmpty() &&
        m_request.pane.isEmpty() && m_request.select.isEmpty() && m_request.report.isEmpty())
        return;
    connect(&m_clock, &QTimer::timeout, this, &Screenshot::look);
    connect(&session, &Session::openFailed, this, [this](const QString &path, const core::Status &status) {
        std::fputs(qPrintable(QStringLiteral("%1: %2\n").arg(path, views::fromView(status.message()))),
                   stderr);
    });
    m_clock.start(kLookEveryMs);
}

void Screenshot::look()
{
    ++m_looks;
    const bool busy = m_session.isOpening() || !m_session.jobs().jobs().empty();
    m_quiet = busy ? 0 : m_quiet + 1;
    if (m_looks >= kMostLooks) {
        std::fputs("the window was not ready within 60 s\n", stderr);
        finish(1);
        return;
    }
    if (m_quiet < kQuietLooks)
        return;
    if (!m_arranged) {
        arrange();
        m_arranged = true;
        m_quiet = 0;
        return;
    }
    finish(0);
}

void Screenshot::arrange()
{
    for (const Perspective perspective : kPerspectives)
        if (perspectiveKey(perspective) == m_request.perspective)
            m_session.setPerspective(perspective);
    selectWanted();
    if (!m_request.report.isEmpty() && m_session.current() != nullptr)
        m_window.openReport(m_request.report, true);
    for (const PaneKind kind : kPaneKinds)
        if (paneId(kind) == m_request.pane)
            m_window.docks().reveal(kind);
}

void Screenshot::selectWanted()
{
    const Document *document = m_session.current();
    if (document == nullptr || m_request.select.isEmpty())
        return;
    if (m_request.select == QLatin1String("origin")) {
        m_session.goToOrigin();
        return;
    }
    const core::OpId op = document->trace->findLabel(m_request.select.toStdString());
    if (op.isValid())
        m_session.selection().activate(views::OpItem{op});
    else
        std::fputs(qPrintable(QStringLiteral("there is no op \"%1\"\n").arg(m_request.select)), stderr);
}

void Screenshot::printVerdict() const
{
    const Document *document = m_session.current();
    if (document == nullptr || !document->facts)
        return;
    const views::TraceFacts &facts = *document->facts;
    QString line = QStringLiteral("%1: %2. %3").arg(document->title, facts.verdict, facts.verdictDetail);
    if (facts.headline.isValid())
        line += QStringLiteral(" Source: %1").arg(views::lineText(*document->trace, facts.headline));
    std::fputs(qPrintable(line + QLatin1Char('\n')), stdout);
}

void Screenshot::finish(int exitCode)
{
    m_clock.stop();
    if (!m_request.path.isEmpty()) {
        if (m_window.grab().save(m_request.path)) {
            std::fputs(qPrintable(QStringLiteral("picture: %1\n").arg(m_request.path)), stdout);
        } else {
            std::fputs(
                qPrintable(QStringLiteral("the picture cannot be written to %1\n").arg(m_request.path)),
                stderr);
            exitCode = 1;
        }
    }
    if (m_request.quit || !m_request.path.isEmpty()) {
        printVerdict();
        std::fflush(stdout);
        QApplication::exit(m_session.current() == nullptr && m_request.quit ? 3 : exitCode);
    }
}

} // namespace app
