// SPDX-License-Identifier: GPL-3.0-or-later
// What a process of ours does when its worker is not what it should be: hangs, floods, dies, cannot start.
#include "core/capture/capture_client.h"
#include "core/capture/worker_process.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <stop_token>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace core;
using namespace std::chrono_literals;

class TestWorkerProcess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    // Nobody reads answers any more: what the process still has to say must not keep it.
    void aFloodIsReadToItsEnd()
    {
        const auto program =
            worker("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; echo over >&2; exit 5");
        QVERIFY(!program.empty());
        Result<WorkerProcess> process = WorkerProcess::start(program, -1);
        QVERIFY(process.isOk());
        QCOMPARE(process->reap(), 5);
        QVERIFY(process->errorText().ends_with("over\n"));
        QVERIFY(process->errorText().size() < 100000);
    }

    void aHungWorkerIsKilled()
    {
        CaptureClient client(worker("exec sleep 600"));
        client.setPatience(300ms);
        checkKilled(client, "capture_worker gave no sign of life for 300.0 ms and was killed");
    }

    void aStoppedWorkerIsKilledSooner()
    {
        CaptureClient client(worker("kill -STOP $$"));
        client.setPatienceWithStopped(300ms);
        checkKilled(client, "capture_worker was stopped by a signal for 300.0 ms and was killed");
    }

    void aCancelBeforeItsFirstWordSaysSo()
    {
        std::stop_source stop;
        stop.request_stop();
        CaptureClient client(worker("exec sleep 600"));
        const Result<CaptureOutcome> outcome = client.run(question(), JobContext(stop.get_token()), {});
        QVERIFY(outcome.isOk());
        QCOMPARE(outcome->error.code(), ErrorCode::cancelled);
        QCOMPARE(outcome->error.message(), std::string("cancelled while capture_worker was starting"));
        QVERIFY(!QFile::exists("/proc/" + QString::number(client.processId())));
    }

    void aWorkerThatDiesIsTold()
    {
        const Result<CaptureOutcome> killed =
            CaptureClient(worker("kill -11 $$")).run(question(), JobContext(), {});
        QVERIFY(killed.isOk());
        QCOMPARE(killed->error.code(), ErrorCode::workerCrashed);
        QCOMPARE(killed->signal, std::string("SIGSEGV"));
        const Result<CaptureOutcome> ended =
            CaptureClient(worker("echo no library >&2; exit 9")).run(question(), JobContext(), {});
        QVERIFY(ended.isOk());
        QVERIFY(ended->error.message().ends_with("exit code 9: no library"));
    }

    // What stands in the worker's place and is none is named with what to do.
    void whatIsNoWorkerIsTold_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<int>("mode");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<QByteArray>("remedy");
        QTest::newRow("not executable")
            << QByteArray("#!/bin/sh\n") << 0600
            << QByteArray("is no program that may be started: Permission denied") << QByteArray("chmod +x");
        QTest::newRow("no program") << QByteArray("\x7f nothing") << 0700
                                    << QByteArray("capture_worker cannot be started: Exec format error (/")
                                    << QByteArray("install capture_worker in the same folder");
        QTest::newRow("noise") << QByteArray("#!/bin/sh\nhead -c 300 /bin/sh\nsleep 1\n") << 0700
                               << QByteArray("what capture_worker says cannot be read: frame: ")
                               << QByteArray("install capture_worker in the same folder");
        QTest::newRow("silent") << QByteArray("#!/bin/sh\nexit 0\n") << 0700
                                << QByteArray("capture_worker ended with exit code 0 before it had answered")
                                << QByteArray();
        QTest::newRow("killed") << QByteArray("#!/bin/sh\nkill -KILL $$\n") << 0700
                                << QByteArray("capture_worker was ended by SIGKILL")
                                << QByteArray("somebody ended it");
    }
    void whatIsNoWorkerIsTold()
    {
        QFETCH(QByteArray, content);
        QFETCH(int, mode);
        const QString path = m_folder->filePath("capture_worker");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
        file.close();
        QCOMPARE(::chmod(qPrintable(path), static_cast<mode_t>(mode)), 0);
        if (mode == 0600 && ::geteuid() == 0)
            QCOMPARE(::access(qPrintable(path), X_OK), -1); // nor may root
        CaptureClient client(path.toStdString());
        const Result<CaptureOutcome> outcome = client.run(question(), JobContext(), {});
        const Status error = outcome ? outcome->error : outcome.error();
        QFETCH(QByteArray, says);
        QVERIFY2(error.message().find(says.toStdString()) != std::string::npos, error.message().c_str());
        QFETCH(QByteArray, remedy);
        QVERIFY2(error.remedy().find(remedy.toStdString()) != std::string::npos, error.remedy().c_str());
    }

    void aLimitIsTheReasonThatIsTold()
    {
        const auto program = worker("exit 0");
        rlimit before = {};
        QCOMPARE(getrlimit(RLIMIT_NOFILE, &before), 0);
        const rlimit few = {3, before.rlim_max};
        QCOMPARE(setrlimit(RLIMIT_NOFILE, &few), 0);
        const Result<WorkerProcess> process = WorkerProcess::start(program, -1);
        QCOMPARE(setrlimit(RLIMIT_NOFILE, &before), 0);
        QVERIFY(!process.isOk());
        QCOMPARE(process.error().code(), ErrorCode::limitExceeded);
        QVERIFY(process.error().message().starts_with("capture_worker cannot be started"));
        QVERIFY(process.error().remedy().find("ulimit -n") != std::string::npos);
    }

private:
    // A run of CLIENT ends soon, with MESSAGE and without its worker.
    void checkKilled(CaptureClient &client, const char *message)
    {
        QElapsedTimer timer;
        timer.start();
        const Result<CaptureOutcome> outcome = client.run(question(), JobContext(), {});
        QVERIFY2(timer.elapsed() < 20000, "the deadline was passed over");
        QVERIFY(outcome.isOk());
        QCOMPARE(outcome->error.code(), ErrorCode::workerHung);
        QCOMPARE(outcome->error.message(), std::string(message));
        QVERIFY(!QFile::exists("/proc/" + QString::number(client.processId())));
    }

    // A shell script in place of capture_worker; empty when it cannot be written.
    std::filesystem::path worker(const QByteArray &body) const
    {
        QFile file(m_folder->filePath("capture_worker"));
        if (!file.open(QIODevice::WriteOnly) || file.write("#!/bin/sh\n" + body + '\n') < 0)
            return {};
        file.setPermissions(file.permissions() | QFile::ExeOwner);
        return file.fileName().toStdString();
    }

    static CaptureRequest question()
    {
        CaptureRequest request;
        request.task = "doctor";
        return request;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_APPLESS_MAIN(TestWorkerProcess)
#include "tst_worker_process.moc"
