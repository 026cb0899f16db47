// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.h"
#include "app/desktop_scheme.h"
#include "app/main_window.h"
#include "app/paint_watch.h"
#include "app/screenshot.h"
#include "app/session.h"
#include "app/session_store.h"
#include "app/settings.h"
#include "views/base/theme.h"

#include <QApplication>
#include <QLocale>
#include <QTimer>

#include <cstdio>
#include <optional>

int main(int argc, char *argv[])
{
    QCoreApplication::setApplicationName(QStringLiteral("opscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(OPSCOPE_VERSION));
    // What is only printed needs no display.
    if (app::isQuestion(argc, argv)) {
        const QCoreApplication application(argc, argv);
        std::fputs(qPrintable(app::readCommandLine(application.arguments()).message + QLatin1Char('\n')),
                   stdout);
        return 0;
    }
    QApplication application(argc, argv);
    QGuiApplication::setDesktopFileName(QStringLiteral("opscope"));
    const app::CommandLine commandLine = app::readCommandLine(application.arguments());
    if (!commandLine.message.isEmpty()) {
        std::fputs(qPrintable(commandLine.message + QLatin1Char('\n')),
                   commandLine.exitCode == 0 ? stdout : stderr);
        return commandLine.exitCode;
    }
    // Without a locale numbers would not be grouped at all.
    if (QLocale::system().language() == QLocale::C)
        QLocale::setDefault(QLocale(QLocale::English));

    app::Settings settings(commandLine.settingsPath);
    if (commandLine.resetSettings)
        settings.reset();
    if (!views::loadBundledFonts())
        std::fputs("a bundled font cannot be read; another one is used\n", stderr);
    app::DesktopScheme desktop;
    views::Theme theme;
    theme.setDesktopIsDark(desktop.isDark());
    theme.setMode(commandLine.theme.value_or(settings.themeMode()));
    theme.setTextPercent(settings.textPercent());
    QObject::connect(&desktop, &app::DesktopScheme::changed, &theme, &views::Theme::setDesktopIsDark);
    views::applyTheme(application, theme);

    app::Session session(settings);
    app::MainWindow window(session, theme);
    if (commandLine.windowSize.isValid())
        window.resize(commandLine.windowSize);
    window.setSamplePath(app::samplePath());
    std::optional<app::PaintWatch> paintWatch;
    if (commandLine.printTimes)
        paintWatch.emplace(window, !commandLine.files.isEmpty(), commandLine.screenshot.quit);
    if (commandLine.printTimes && commandLine.screenshot.quit)
        QObject::connect(&session, &app::Session::openFailed, &application,
                         [](const QString &, const core::Status &status) {
                             std::fprintf(stderr, "opscope: %s\n", status.message().c_str());
                             QApplication::exit(1); // there will be no picture to wait for
                         });
    window.show();
    for (const QString &file : commandLine.files)
        window.openFile(file);
    // After the first picture, which must not wait for a file.
    if (commandLine.files.isEmpty() && !commandLine.startEmpty && !commandLine.screenshot.isWanted())
        QTimer::singleShot(0, &window, &app::MainWindow::restoreSession);
    // Whatever it was started with, a session that does not end by itself is known as such by the next one;
    // one that only makes a picture is no session.
    if (!commandLine.screenshot.isWanted()) {
        if (!commandLine.files.isEmpty() || commandLine.startEmpty)
            app::beginSession(settings);
        QObject::connect(&application, &QApplication::aboutToQuit, &application,
                         [&settings] { app::endSession(settings); });
    }
    // The watch ends the program itself, without the wait for everything to be done.
    app::Screenshot screenshot(window, session,
                               commandLine.printTimes ? app::ScreenshotRequest() : commandLine.screenshot);
    return QApplication::exec();
}
