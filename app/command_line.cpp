// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.h"

#include "core/analysis/report_registry.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include <string_view>

namespace app {

namespace {

struct Options
{
    QCommandLineOption config{QStringLiteral("config"), QStringLiteral("Use the settings in FILE."),
                              QStringLiteral("FILE")};
    QCommandLineOption reset{QStringLiteral("reset-settings"), QStringLiteral("Forget all settings first.")};
    QCommandLineOption empty{QStringLiteral("start-empty"),
                             QStringLiteral("Do not open the documents of the last session.")};
    QCommandLineOption times{QStringLiteral("print-times"),
                             QStringLiteral("Print how long after the start the first pictures were there.")};
    QCommandLineOption theme{QStringLiteral("theme"), QStringLiteral("system, light, dark or high-contrast."),
                             QStringLiteral("NAME")};
    QCommandLineOption size{QStringLiteral("window-size"),
                            QStringLiteral("Size of the window, as 1600x1000."), QStringLiteral("WxH")};
    QCommandLineOption screenshot{QStringLiteral("screenshot"),
                                  QStringLiteral("Save a picture of the window when the file is shown."),
                                  QStringLiteral("FILE")};
    QCommandLineOption perspective{QStringLiteral("perspective"),
                                   QStringLiteral("Start with overview or nan-hunt."),
                                   QStringLiteral("NAME")};
    QCommandLineOption pane{QStringLiteral("pane"), QStringLiteral("Bring a pane to the front."),
                            QStringLiteral("NAME")};
    QCommandLineOption select{QStringLiteral("select"),
                              QStringLiteral("Select an op by its label, or \"origin\"."),
                              QStringLiteral("OP")};
    QCommandLineOption report{QStringLiteral("report"), QStringLiteral("Run a report and show it."),
                              QStringLiteral("NAME")};
    QCommandLineOption quit{QStringLiteral("quit-after"),
                            QStringLiteral("Print the verdict and end when the file is shown.")};
};

bool parseSize(const QString &text, QSize &size)
{
    const QStringList parts = text.split(QLatin1Char('x'));
    size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
    return size.width() > 0 && size.height() > 0;
}

CommandLine refusal(const QString &message)
{
    CommandLine result;
    result.message = QStringLiteral("opscope: ") + message;
    result.exitCode = 2;
    return result;
}

} // namespace

bool isQuestion(int count, const char *const *arguments)
{
    constexpr std::string_view kQuestions[] = {"-h", "--help", "--help-all", "-v", "--version"};
    for (int i = 1; i < count; ++i)
        for (const std::string_view question : kQuestions)
            if (arguments[i] == question)
                return true;
    return false;
}

CommandLine readCommandLine(const QStringList &arguments)
{
    const Options options;
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Shows what happened in a PyTorch run."));
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption version = parser.addVersionOption();
    parser.addOptions({options.config, options.reset, options.empty, options.times, options.theme,
                       options.size, options.screenshot, options.perspective, options.pane, options.select,
                       options.report, options.quit});
    parser.addPositionalArgument(QStringLiteral("FILE"), QStringLiteral("A trace or a model."),
                                 QStringLiteral("[FILE...]"));
    if (!parser.parse(arguments))
        return refusal(parser.errorText());
    CommandLine result;
    if (parser.isSet(help))
        result.message = parser.helpText();
    if (parser.isSet(version))
        result.message =
            QCoreApplication::applicationName() + QLatin1Char(' ') + QCoreApplication::applicationVersion();
    result.files = parser.positionalArguments();
    result.settingsPath = parser.value(options.config);
    result.resetSettings = parser.isSet(options.reset);
    result.printTimes = parser.isSet(options.times);
    result.startEmpty = parser.isSet(options.empty);
    if (parser.isSet(options.theme)) {
        result.theme = views::themeModeFromName(parser.value(options.theme));
        if (views::themeModeName(*result.theme) != parser.value(options.theme))
            return refusal(QStringLiteral("there is no theme \"%1\"").arg(parser.value(options.theme)));
    }
    if (parser.isSet(options.size) && !parseSize(parser.value(options.size), result.windowSize))
        return refusal(
            QStringLiteral("\"%1\" is not a size such as 1600x1000").arg(parser.value(options.size)));
    result.screenshot.path = parser.value(options.screenshot);
    result.screenshot.perspective = parser.value(options.perspective);
    result.screenshot.pane = parser.value(options.pane);
    result.screenshot.select = parser.value(options.select);
    result.screenshot.report = parser.value(options.report);
    if (!result.screenshot.report.isEmpty() &&
        core::findReport(result.screenshot.report.toStdString()) == nullptr)
        return refusal(QStringLiteral("there is no report \"%1\"").arg(result.screenshot.report));
    result.screenshot.quit = parser.isSet(options.quit);
    return result;
}

QString samplePath()
{
    const QDir programs(QCoreApplication::applicationDirPath());
    QStringList places = {programs.filePath(QStringLiteral("../share/opscope/samples")),
                          programs.filePath(QStringLiteral("samples"))};
    for (const QString &folder : QStandardPaths::standardLocations(QStandardPaths::GenericDataLocation))
        places.push_back(folder + QStringLiteral("/opscope/samples"));
    for (const QString &place : places)
        for (const char *name : {"masked_attention.opscope", "masked_attention.pt2"})
            if (const QFileInfo file(place + QLatin1Char('/') + QLatin1String(name)); file.exists())
                return file.canonicalFilePath();
    return {};
}

} // namespace app
