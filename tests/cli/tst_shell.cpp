// SPDX-License-Identifier: GPL-3.0-or-later
// What the shell offers and what the manual says: both name every command, every helper and every option.
#include "core/analysis/report_registry.h"
#include "core/capture/live_helpers.h"
#include "tests/support/cli_process.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QtTest>

namespace {

const QString kProgram = QStringLiteral(OPSCOPE_BIN_DIR "/opscope-cli");

QString fromView(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

QString spelled(std::string_view option)
{
    return QStringLiteral("--") + fromView(option).replace(QLatin1Char('_'), QLatin1Char('-'));
}

// What bash offers for the last of WORDS, which follow the program's name.
QStringList offered(const QStringList &words)
{
    QStringList quoted;
    for (const QString &word : QStringList{kProgram} + words)
        quoted.push_back(QLatin1Char('\'') + word + QLatin1Char('\''));
    QProcess bash;
    bash.start("bash", {"--norc", "-c",
                        "source " OPSCOPE_SOURCE_DIR "/packaging/completions/opscope-cli.bash\n"
                        "COMP_WORDS=(" +
                            quoted.join(' ') + ")\n" + QStringLiteral("COMP_CWORD=%1\n").arg(words.size()) +
                            "_opscope_cli\nprintf '%s\\n' \"${COMPREPLY[@]}\""});
    if (!bash.waitForFinished(60000) || bash.exitCode() != 0)
        return {QString::fromUtf8(bash.readAllStandardError())};
    return QString::fromUtf8(bash.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
}

} // namespace

class TestShell : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void commandsAndHelpersAreOffered()
    {
        const QStringList commands = offered({""});
        for (const char *command : {"capture", "run", "report", "doctor", "verify"})
            QVERIFY2(commands.contains(command), qPrintable(commands.join(' ')));
        const QStringList reports = offered({"report", ""});
        for (const core::ReportDefinition &report : core::reportDefinitions())
            QVERIFY2(reports.contains(fromView(report.name)), qPrintable(reports.join(' ')));
        const QStringList helpers = offered({"run", "c"});
        QCOMPARE(QSet<QString>(helpers.begin(), helpers.end()),
                 (QSet<QString>{"check_determinism", "count_compiles"}));
    }

    void optionsOfEveryHelperAreOffered()
    {
        const auto check = [](const QString &command, std::string_view name,
                              const std::vector<core::ReportOption> &options) {
            const QStringList words = offered({command, fromView(name), "--"});
            QVERIFY2(words.contains("--json"), qPrintable(words.join(' ')));
            for (const core::ReportOption &option : options)
                QVERIFY2(words.contains(spelled(option.name)),
                         qPrintable(fromView(name) + ": " + words.join(' ')));
        };
        for (const core::ReportDefinition &report : core::reportDefinitions())
            check("report", report.name, report.options);
        for (const core::LiveHelper &helper : core::liveHelpers())
            check("run", helper.name, helper.options);
    }

    void wordsOfAnOptionAreOffered()
    {
        QCOMPARE(offered({"report", "hot_path", "--by", "me"}), QStringList{"memory"});
        QCOMPARE(offered({"report", "param_health", "--include-buffers", ""}),
                 (QStringList{"true", "false"}));
        const QStringList dtypes = offered({"run", "bisect_precision", "--reference-dtype", "float"});
        QVERIFY2(dtypes.contains("float64") && !dtypes.contains("bfloat16"), qPrintable(dtypes.join(' ')));
    }

    // Dashes are escaped in a manual page.
    void theManualNamesEverything()
    {
        QFile page(QStringLiteral(OPSCOPE_SOURCE_DIR "/packaging/man/opscope-cli.1"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(page.readAll()).remove(QLatin1Char('\\'));
        const auto check = [](const QString &section, std::string_view name,
                              const std::vector<core::ReportOption> &options) {
            // The paragraph of a helper ends where the next one starts.
            const qsizetype start =
                section.indexOf(QStringLiteral("\n.B ") + fromView(name) + QLatin1Char('\n'));
            QVERIFY2(start >= 0, name.data());
            const QString part = section.mid(start).section(QStringLiteral("\n.TP"), 0, 0);
            for (const core::ReportOption &option : options)
                QVERIFY2(part.contains(spelled(option.name)), qPrintable(fromView(name) + ": " + part));
        };
        const QString reports = text.section("\n.SH REPORTS", 1).section("\n.SH", 0, 0);
        for (const core::ReportDefinition &report : core::reportDefinitions())
            check(reports, report.name, report.options);
        const QString runs = text.section("\n.SH RUNS", 1).section("\n.SH", 0, 0);
        for (const core::LiveHelper &helper : core::liveHelpers())
            check(runs, helper.name, helper.options);
        const QString help = QString::fromUtf8(support::runCli(kProgram, {"--help"}).out);
        static const QRegularExpression kCommand(QStringLiteral("^  ([a-z-]+) +[a-z]"),
                                                 QRegularExpression::MultilineOption);
        const QString listed = text.section("\n.SH COMMANDS", 1).section("\n.SH", 0, 0);
        auto commands = kCommand.globalMatch(help.section("commands:", 1).section("options:", 0, 0));
        int count = 0;
        for (; commands.hasNext(); ++count) {
            const QString name = commands.next().captured(1);
            QVERIFY2(listed.contains(QStringLiteral("\n.B ") + name + QLatin1Char('\n')), qPrintable(name));
        }
        QVERIFY(count > 10);
    }
};

QTEST_APPLESS_MAIN(TestShell)
#include "tst_shell.moc"
