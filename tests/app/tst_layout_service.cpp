// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/layout_service.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace app;

namespace {

core::LayoutRequest diamond(std::uint64_t id)
{
    core::LayoutRequest request;
    request.id = id;
    request.clusters = {{0, 0.0}, {0, 100.0}};
    request.nodes = {{100, 46, 0}, {100, 46, 1}, {100, 46, 1}, {100, 46, 0}};
    request.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    return request;
}

// A program that stands in for the worker: a shell script.
QString fakeWorker(const QTemporaryDir &folder, const QByteArray &script)
{
    const QString path = folder.filePath("fake");
    QFile file(path);
    if (file.open(QIODevice::WriteOnly)) {
        file.write("#!/bin/sh\n" + script + "\n");
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    return path;
}

core::LayoutResult onlyAnswer(LayoutService &service, const core::LayoutRequest &request)
{
    std::vector<core::LayoutResult> answers;
    QObject::connect(&service, &LayoutService::finished, &service,
                     [&](const core::LayoutResult &result) { answers.push_back(result); });
    service.request(request);
    [&] { QTRY_VERIFY_WITH_TIMEOUT(!answers.empty(), 20000); }();
    service.disconnect();
    return answers.empty() ? core::LayoutResult() : answers.front();
}

} // namespace

class TestLayoutService : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void workerAnswers();
    void newerRequestReplacesOlder();
    void missingProgramFallsBack();
    void crashFallsBack();
    void hangFallsBack();
    void floodAndLiesFallBack();
    void cancelFallsBack();
    void whatCannotBeLaidOutIsTold();

private:
    JobRunner m_jobs;
    const QString m_worker = QStringLiteral(OPSCOPE_BIN_DIR "/layout_worker");
};

void TestLayoutService::workerAnswers()
{
    LayoutService service(m_jobs, m_worker);
    const core::LayoutRequest request = diamond(11);
    const core::LayoutResult result = onlyAnswer(service, request);
    QCOMPARE(result.id, std::uint64_t(11));
    QVERIFY2(!result.simplified, result.note.c_str());
    QVERIFY(core::checkLayoutResult(request, result).isOk());
    QVERIFY(result.nodes[3].y > result.nodes[1].bottom());
    QVERIFY(!service.isBusy());
    // The worker is kept: the second answer comes from the same process.
    QCOMPARE(onlyAnswer(service, diamond(12)).id, std::uint64_t(12));
}

void TestLayoutService::newerRequestReplacesOlder()
{
    LayoutService service(m_jobs, m_worker);
    std::vector<std::uint64_t> ids;
    connect(&service, &LayoutService::finished, &service,
            [&](const core::LayoutResult &result) { ids.push_back(result.id); });
    for (std::uint64_t id = 1; id <= 5; ++id)
        service.request(diamond(id));
    QTRY_VERIFY(!ids.empty());
    QCOMPARE(ids, std::vector<std::uint64_t>{5});
}

void TestLayoutService::missingProgramFallsBack()
{
    QTemporaryDir folder;
    LayoutService service(m_jobs, folder.filePath("layout_worker"));
    const core::LayoutResult result = onlyAnswer(service, diamond(1));
    QVERIFY(result.simplified);
    QCOMPARE(result.note, std::string("the layout program could not be started"));
    QVERIFY(core::checkLayoutResult(diamond(1), result).isOk());
}

void TestLayoutService::crashFallsBack()
{
    QTemporaryDir folder;
    LayoutService service(m_jobs, fakeWorker(folder, "kill -9 $$"));
    const core::LayoutResult result = onlyAnswer(service, diamond(1));
    QVERIFY(result.simplified);
    QCOMPARE(result.note, std::string("the layout program ended before it answered"));
}

void TestLayoutService::hangFallsBack()
{
    QTemporaryDir folder;
    LayoutService service(m_jobs, fakeWorker(folder, "exec sleep 60"));
    service.setLimits(300, 60000);
    const core::LayoutResult late = onlyAnswer(service, diamond(1));
    QVERIFY(late.simplified);
    QVERIFY(late.note.starts_with("Graphviz took longer"));
    service.setLimits(60000, 200);
    const core::LayoutResult silent = onlyAnswer(service, diamond(2));
    QVERIFY(silent.simplified);
    QVERIFY(silent.note.starts_with("the layout program was silent"));
}

void TestLayoutService::floodAndLiesFallBack()
{
    QTemporaryDir folder;
    LayoutService service(m_jobs, fakeWorker(folder, "exec yes"));
    const core::LayoutResult result = onlyAnswer(service, diamond(1));
    QVERIFY(result.simplified);
    QVERIFY2(result.note.starts_with("frame: announces"), result.note.c_str());
}

void TestLayoutService::cancelFallsBack()
{
    QTemporaryDir folder;
    LayoutService service(m_jobs, fakeWorker(folder, "exec sleep 60"));
    std::vector<core::LayoutResult> answers;
    connect(&service, &LayoutService::finished, &service,
            [&](const core::LayoutResult &result) { answers.push_back(result); });
    service.request(diamond(4));
    QVERIFY(service.isBusy());
    service.cancel();
    QTRY_COMPARE(answers.size(), std::size_t(1));
    QVERIFY(answers[0].simplified);
    QCOMPARE(answers[0].note, std::string("the layout was cancelled"));
}

// Not even the layout of our own: whoever asked is told, and does not wait for ever.
void TestLayoutService::whatCannotBeLaidOutIsTold()
{
    QTemporaryDir folder;
    LayoutService service(m_jobs, folder.filePath("layout_worker"));
    QSignalSpy finished(&service, &LayoutService::finished);
    std::vector<std::pair<std::uint64_t, QString>> failures;
    connect(&service, &LayoutService::failed, &service,
            [&](std::uint64_t id, const QString &reason) { failures.emplace_back(id, reason); });
    core::LayoutRequest request = diamond(9);
    request.edges.push_back({0, 99});
    service.request(request);
    QTRY_COMPARE(failures.size(), std::size_t(1));
    QCOMPARE(failures[0].first, std::uint64_t(9));
    QVERIFY2(failures[0].second.contains("99"), qPrintable(failures[0].second));
    QCOMPARE(finished.count(), 0);
}

QTEST_MAIN(TestLayoutService)
#include "tst_layout_service.moc"
