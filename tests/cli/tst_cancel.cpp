// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl+C and limits: what runs a model ends with the documented code, its worker goes, and the trace up to
// there opens.
#include "tests/support/cli_process.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <csignal>
#include <thread>

using support::cli;
using support::CliResult;

namespace {

// Processes whose parent is PARENT.
QStringList childrenOf(qint64 parent)
{
    QStringList children;
    for (const QString &name : QDir("/proc").entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile stat("/proc/" + name + "/stat");
        if (name[0].isDigit() && stat.open(QIODevice::ReadOnly)) {
            const QList<QByteArray> fields = stat.readAll().split(')').last().trimmed().split(' ');
            if (fields.value(1).toLongLong() == parent)
                children << name;
        }
    }
    return children;
}

// A model that goes on for minutes, one small op after the other.
QStringList longRun(const QStringList &command, const QString &trace)
{
    return command + QStringList{OPSCOPE_PROBE_MODELS_DIR "/steps.pt",
                                 "--input",
                                 "f32[1,64]=randn",
                                 "--input",
                                 "100000000",
                                 "-o",
                                 trace};
}

// Until the run has written some of its trace.
bool startLongRun(QProcess &process, const QStringList &command, const QString &trace)
{
    process.start(OPSCOPE_BIN_DIR "/opscope-cli", longRun(command, trace));
    return process.waitForStarted() &&
           QTest::qWaitFor([&trace] { return QFile(trace).size() > 100000; }, 60000);
}

// A model that runs one op and then none for ever.
QStringList endless(const QString &trace)
{
    return {OPSCOPE_CORPUS_DIR "/../edge_models/endless.pt", "--input", "f32[2,3]=ones", "-o", trace};
}

} // namespace

class TestCancel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void interruptEndsTheRun_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::addColumn<int>("signal");
        const QStringList capture = {"capture", "--save", "none"};
        QTest::newRow("capture") << capture << SIGINT;
        QTest::newRow("capture, asked to end") << capture << SIGTERM;
        QTest::newRow("capture, terminal closed") << capture << SIGHUP;
        QTest::newRow("find_nan") << QStringList{"run", "find_nan"} << SIGINT;
        QTest::newRow("nonfinite_origin") << QStringList{"run", "nonfinite_origin"} << SIGINT;
        QTest::newRow("check_determinism") << QStringList{"run", "check_determinism"} << SIGINT;
        QTest::newRow("bisect_precision") << QStringList{"run", "bisect_precision"} << SIGINT;
    }
    void interruptEndsTheRun()
    {
        QFETCH(QStringList, command);
        QFETCH(int, signal);
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QProcess process;
        QVERIFY(startLongRun(process, command, trace));
        const QStringList workers = childrenOf(process.processId());
        QCOMPARE(workers.size(), 1);
        QCOMPARE(kill(static_cast<pid_t>(process.processId()), signal), 0);
        QVERIFY(process.waitForFinished(20000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 4);
        QVERIFY2(process.readAllStandardError().contains("cancelled"), "the message does not say so");
        QVERIFY(!QFile::exists("/proc/" + workers.first()));

        const QJsonObject info = cli({"info", trace, "--json"}).object();
        QCOMPARE(info["status"].toString(), QStringLiteral("cancelled"));
        const CliResult ops = cli({"ops", trace, "--json"});
        QVERIFY(ops.document().isArray() || ops.document().isObject());
        QVERIFY(ops.out.contains("aten.linear"));
        QCOMPARE(cli({"verify", trace}).exitCode, 0);
        QVERIFY2(QDir(work.path()).entryList(QDir::Files) == QStringList{"run.opscope"},
                 "something else was left");
    }

    // Some senders reach a process and its group: one press is one wish to end.
    void aPressThatArrivesTwiceIsOne()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QProcess process;
        QVERIFY(startLongRun(process, {"capture", "--save", "none"}, trace));
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(kill(static_cast<pid_t>(process.processId()), SIGTERM), 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        QVERIFY(process.waitForFinished(20000));
        QCOMPARE(process.exitCode(), 4);
        QCOMPARE(cli({"verify", trace}).exitCode, 0);
    }

    void aWorkerThatIsAskedToEndEnds()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QProcess process;
        QVERIFY(startLongRun(process, {"capture", "--save", "none"}, trace));
        const QStringList workers = childrenOf(process.processId());
        QCOMPARE(workers.size(), 1);
        QCOMPARE(kill(workers.first().toInt(), SIGTERM), 0);
        QVERIFY(process.waitForFinished(20000));
        QCOMPARE(process.exitCode(), 4);
        QVERIFY2(process.readAllStandardError().contains("cancelled"), "the message does not say so");
        QCOMPARE(cli({"verify", trace}).exitCode, 0);
    }

    // Where no op comes at which a run could stop.
    void limitsHoldInALoopWithoutOps_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::newRow("capture") << QStringList{"capture"};
        QTest::newRow("find_nan") << QStringList{"run", "find_nan"};
        QTest::newRow("count_compiles") << QStringList{"run", "count_compiles"};
    }
    void limitsHoldInALoopWithoutOps()
    {
        QFETCH(QStringList, command);
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult slow = cli(command + endless(trace) + QStringList{"--time-limit", "1", "--json"});
        QCOMPARE(slow.exitCode, 4);
        QVERIFY2(slow.messages.contains("the run took longer than 1.0 s; it was at no op that could be left"),
                 slow.messages.constData());
        if (command.contains("count_compiles"))
            return; // leaves no trace
        const QJsonObject info = cli({"info", trace, "--json"}).object();
        QCOMPARE(info["status"].toString(), QStringLiteral("failed"));
        QCOMPARE(info["failure"].toObject()["cause"].toString(), QStringLiteral("time_limit"));
        QVERIFY(info["failure"].toObject()["op"].isNull());
        QVERIFY(cli({"ops", trace}).out.contains("aten.relu"));
        QCOMPARE(cli({"verify", trace}).exitCode, 0);
    }

    // A command line that is killed leaves no worker that runs for ever.
    void aWorkerWithoutItsParentEnds()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QProcess process;
        process.start(OPSCOPE_BIN_DIR "/opscope-cli", QStringList{"capture"} + endless(trace));
        QVERIFY(process.waitForStarted());
        QVERIFY(QTest::qWaitFor([&] { return QFile::exists(trace); }, 60000));
        const QStringList workers = childrenOf(process.processId());
        QCOMPARE(workers.size(), 1);
        process.kill();
        QVERIFY(process.waitForFinished(20000));
        QVERIFY(QTest::qWaitFor([&] { return !QFile::exists("/proc/" + workers.first()); }, 60000));
    }

    void limitsHoldForHelpersToo()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult slow =
            cli(longRun({"run", "find_nan"}, trace) + QStringList{"--time-limit", "2", "--json"});
        QCOMPARE(slow.exitCode, 4);
        QVERIFY2(slow.messages.contains("longer than 2"), slow.messages.constData());
        QCOMPARE(cli({"verify", trace}).exitCode, 0);
        const CliResult large = cli({"run", "find_nan", OPSCOPE_PROBE_MODELS_DIR "/echo.pt", "--input",
                                     "f32[400000000]=ones", "--memory-limit", "600M", "-o", trace});
        QCOMPARE(large.exitCode, 4); // the input itself does not fit
        QVERIFY2(large.messages.contains("the memory limit of 600.0 MiB was reached"),
                 large.messages.constData());
    }
};

QTEST_GUILESS_MAIN(TestCancel)
#include "tst_cancel.moc"
