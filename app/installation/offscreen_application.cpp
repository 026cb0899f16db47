// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/installation/offscreen_application.h"

#include <QGuiApplication>
#include <QString>

#include <cstdio>

namespace app {
namespace {

void printSevere(QtMsgType type, const QMessageLogContext &, const QString &text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "opscope-cli: %s\n", qPrintable(text));
}

} // namespace

OffscreenApplication::OffscreenApplication() : m_handlerBefore(qInstallMessageHandler(printSevere))
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    m_application = std::make_unique<QGuiApplication>(m_count, m_words);
}

OffscreenApplication::~OffscreenApplication()
{
    m_application.reset();
    qInstallMessageHandler(m_handlerBefore);
}

} // namespace app
