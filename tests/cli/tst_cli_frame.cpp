// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cli_process.h"

#include <QDir>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>

using support::cli;
using support::CliResult;

namespace {

QStringList commandNames()
{
    static const QRegularExpression line("^  ([a-z-]+)  +\\S", QRegularExpression::MultilineOption);
    const QString help = QString::fromUtf8(cli({"--help"}).out);
    const QString section = help.section("commands:", 1).section("options:", 0, 0);
    QStringList names;
    for (auto it = line.globalMatch(section); it.hasNext();)
        names.append(it.next().captured(1));
    return names;
}

} // namespace

class TestCliFrame : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void versionNamesTheProgram()
    {
        const CliResult result = cli({"--version"});
        QCOMPARE(result.exitCode, 0);
        QVERIFY(result.out.startsWith("opscope "));
        QVERIFY(cli({"--version", "--json"}).object()["version"].toString().startsWith("opscope "));
    }

    void helpListsTheCommands()
    {
        const QStringList names = commandNames();
        for (const char *name : {"info", "ops", "outputs", "report", "graph"})
            QVERIFY2(names.contains(name), name);
    }

    void everyCommandHasHelpWithAnExample_data()
    {
        QTest::addColumn<QString>("command");
        for (const QString &name : commandNames())
            QTest::newRow(qPrintable(name)) << name;
    }
    void everyCommandHasHelpWithAnExample()
    {
        QFETCH(QString, command);
        const CliResult result = cli({command, "--help"});
        QCOMPARE(result.exitCode, 0);
        QVERIFY(result.out.startsWith("usage: opscope-cli " + command.toUtf8()));
        const qsizetype example = result.out.indexOf("\nexample:\n  opscope-cli " + command.toUtf8());
        QVERIFY2(example > 0, result.out.constData());
        QVERIFY(result.out.contains("--json"));
    }

    void wrongUseIsRefused_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("part"); // of the message
        QTest::newRow("no command") << QStringList() << "no command";
        QTest::newRow("unknown command") << QStringList{"ospp"} << "no command \"ospp\"";
        QTest::newRow("unknown option") << QStringList{"ops", "x", "--nothing"} << "--nothing";
        QTest::newRow("unknown letter") << QStringList{"ops", "x", "-z"} << "-z";
        QTest::newRow("too few operands") << QStringList{"ops"} << "0 operands";
        QTest::newRow("too many operands") << QStringList{"ops", "a", "b"} << "2 operands";
        QTest::newRow("value of a flag")
            << QStringList{"report", "find_nan", "x", "--card=1"} << "takes no value";
        QTest::newRow("missing value") << QStringList{"graph", "x", "-o"} << "needs a value";
        QTest::newRow("given twice") << QStringList{"graph", "x", "-o", "a", "--output", "b"} << "twice";
        QTest::newRow("unknown report") << QStringList{"report", "find_nam", "x"} << "find_nam";
        QTest::newRow("no picture") << QStringList{"graph", "x"} << "-o FILE is missing";
        QTest::newRow("unknown picture") << QStringList{"graph", "x", "-o", "a.gif"} << "gif";
        QTest::newRow("no such theme")
            << QStringList{"graph", "x", "-o", "a.svg", "--theme", "blue"} << "blue";
        QTest::newRow("not a number")
            << QStringList{"graph", "x", "-o", "a.svg", "--depth", "deep"} << "\"deep\"";
        QTest::newRow("a number that does not fit")
            << QStringList{"graph", "x", "-o", "a.svg", "--depth", "4294967297"} << "at most 4294967295";
        QTest::newRow("boxes that do not fit")
            << QStringList{"graph", "x", "-o", "a.svg", "--boxes", "4294967297"} << "at most 4294967295";
        QTest::newRow("too many passes")
            << QStringList{"capture", "x", "--backward", "sum", "--backward-passes", "4294967297"}
            << "at most";
        QTest::newRow("a scale too large")
            << QStringList{"graph", "x", "-o", "a.png", "--scale", "9"} << "at most 8";
        QTest::newRow("help of no report") << QStringList{"report", "audt", "--help"} << "audt";
        QTest::newRow("help of no helper") << QStringList{"run", "find_nam", "--help"} << "find_nam";
    }
    void wrongUseIsRefused()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, part);
        const CliResult text = cli(arguments);
        QCOMPARE(text.exitCode, 2);
        QCOMPARE(text.out, QByteArray());
        QVERIFY2(text.messages.startsWith("opscope-cli: "), text.messages.constData());
        QVERIFY2(text.messages.contains(part.toUtf8()), text.messages.constData());

        const CliResult json = cli(QStringList(arguments) << "--json");
        QCOMPARE(json.exitCode, 2);
        const QJsonObject error = json.object()["error"].toObject();
        QCOMPARE(error.keys(), (QStringList{"code", "message", "remedy", "type"}));
        QCOMPARE(error["type"].toString(), QString("InvalidArgumentError"));
        QVERIFY2(error["message"].toString().contains(part), json.out.constData());
    }

    void aMisspelledCommandNamesTheNearest()
    {
        const CliResult result = cli({"repotr"});
        QVERIFY2(result.messages.contains("did you mean \"report\"?"), result.messages.constData());
    }

    void filesThatAreNoTracesAreUnreadable_data()
    {
        QTest::addColumn<QString>("file");
        QTest::newRow("missing") << "no-such-file.opscope";
        QTest::newRow("a folder") << ".";
        QTest::newRow("text") << OPSCOPE_SOURCE_DIR "/CMakeLists.txt";
        const QDir bad(OPSCOPE_CORPUS_DIR "/bad");
        for (const QString &name : bad.entryList({"*.pt", "*.npy", "*.png", "*.safetensors"}, QDir::Files))
            QTest::newRow(qPrintable(name)) << bad.filePath(name);
    }
    void filesThatAreNoTracesAreUnreadable()
    {
        QFETCH(QString, file);
        const CliResult text = cli({"ops", file});
        QCOMPARE(text.exitCode, 3);
        QCOMPARE(text.out, QByteArray());
        const CliResult json = cli({"ops", file, "--json"});
        QCOMPARE(json.exitCode, 3);
        QCOMPARE(json.object()["error"].toObject()["type"].toString(), QString("InputError"));
        QVERIFY(!json.object()["error"].toObject()["code"].toString().isEmpty());
    }

    void aFullDiskIsTold()
    {
        QProcess process;
        process.setStandardOutputFile("/dev/full");
        process.start(OPSCOPE_BIN_DIR "/opscope-cli", {"--help"});
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitCode(), 3);
        QVERIFY(process.readAllStandardError().contains("standard output"));
    }

    void aClosedPipeEndsItQuietly()
    {
        QProcess process;
        process.setProcessChannelMode(QProcess::SeparateChannels);
        // The reader is gone before anything is written; its exit code is not the pipeline's.
        process.start("/bin/bash", {"-c", "set -o pipefail; { sleep 0.2; \"$0\" --help; } | true",
                                    OPSCOPE_BIN_DIR "/opscope-cli"});
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitCode(), 128 + SIGPIPE);
        QCOMPARE(process.readAllStandardError(), QByteArray());
    }

    void theShellCompletes_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("command") << "rep"
                                 << "repair";
        QTest::newRow("report") << "report nonf"
                                << "nonfinite_origin";
        QTest::newRow("helper") << "run check"
                                << "check_determinism";
        QTest::newRow("option of a command") << "graph --th"
                                             << "--theme";
        QTest::newRow("option of a report") << "report lineage --dir"
                                            << "--direction";
        QTest::newRow("option of all reports") << "report lineage --mark"
                                               << "--markdown";
    }
    void theShellCompletes()
    {
        QFETCH(QString, words);
        QFETCH(QString, wanted);
        QProcess shell;
        shell.start("/bin/bash",
                    {"-c",
                     "source \"$1\"; COMP_WORDS=(\"$0\" $2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                     "_opscope_cli; printf '%s\\n' \"${COMPREPLY[@]}\"",
                     OPSCOPE_BIN_DIR "/opscope-cli",
                     OPSCOPE_SOURCE_DIR "/packaging/completions/opscope-cli.bash", words});
        QVERIFY(shell.waitForFinished(60000));
        const QByteArray told = shell.readAllStandardOutput();
        QVERIFY2(told.split('\n').contains(wanted.toUtf8()), told.constData());
    }

    void reportListNamesReportsWithTheirOptions()
    {
        const CliResult result = cli({"report", "list", "--json"});
        QCOMPARE(result.exitCode, 0);
        QStringList names;
        for (const QJsonValue &report : result.object()["reports"].toArray()) {
            names.append(report["name"].toString());
            QVERIFY(!report["description"].toString().isEmpty());
            QVERIFY(report["options"].isArray());
        }
        for (const char *name : {"find_nan", "bisect_nan", "nonfinite_origin"})
            QVERIFY2(names.contains(name), name);
    }
};

QTEST_GUILESS_MAIN(TestCliFrame)
#include "tst_cli_frame.moc"
