// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/installation/offscreen_application.h"

#include <QGuiApplication>
#include <QString>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace app {
namespace {

void printSevere(QtMsgType type, const QMessageLogContext &, const QString &text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "opscope-cli: %s\n", qPrintable(text));
}

// Qt ends the program when it cannot open its plugin.
core::Status checkDescriptors()
{
    std::array<int, 8> spare{};
    std::size_t opened = 0;
    while (opened < spare.size() && (spare[opened] = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        ++opened;
    const int reason = errno;
    const bool enough = opened == spare.size();
    while (opened > 0)
        ::close(spare[--opened]);
    if (enough)
        return core::Status::ok();
    return core::Status(core::ErrorCode::limitExceeded,
                        std::string("text cannot be painted: ") + std::strerror(reason))
        .withRemedy("raise the limit on open files (ulimit -n)");
}

} // namespace

core::Result<std::unique_ptr<OffscreenApplication>> OffscreenApplication::start()
{
    if (core::Status status = checkDescriptors(); !status)
        return status;
    return std::unique_ptr<OffscreenApplication>(new OffscreenApplication());
}

OffscreenApplication::OffscreenApplication() : m_handlerBefore(qInstallMessageHandler(printSevere))
{
    // Whatever the desktop's programs are told to use: one that is not there would end this program.
    qputenv("QT_QPA_PLATFORM", "offscreen");
    m_application = std::make_unique<QGuiApplication>(m_count, m_words);
}

OffscreenApplication::~OffscreenApplication()
{
    m_application.reset();
    qInstallMessageHandler(m_handlerBefore);
}

} // namespace app
