// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.h"
#include "app/dialogs/capture_dialog.h"
#include "app/job_runner.h"
#include "app/palette/palette_dialog.h"
#include "app/palette/search_index.h"
#include "app/settings.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QFile>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <ctime>
#include <string>
#include <thread>

using app::HitKind;
using app::JobRunner;
using app::SearchIndex;

namespace {

const char *const kText = "input x:f32[4,256]=1\n"
                          "softmax x dim=1 -> s:f32[4,256]=nan @model.py:116 in h.7.attn\n"
                          "relu s -> r:f16[2,3]=1 @model.py:120 in h.8\n"
                          "output r\n";

QStringList names(const SearchIndex &index, const QString &query)
{
    QStringList result;
    for (const app::SearchHit &hit : index.find(query))
        result.push_back(index.nameOf(hit));
    return result;
}

} // namespace

class TestServices : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void jobsDeliverOnTheGuiThread()
    {
        JobRunner jobs;
        int value = 0;
        bool sameThread = false;
        jobs.start(
            "key", "title", this, [](core::JobContext &) { return 42; },
            [&](int result) {
                value = result;
                sameThread = QThread::currentThread() == thread();
            });
        QVERIFY(jobs.isRunning("key"));
        QTRY_COMPARE(value, 42);
        QVERIFY(sameThread);
        QVERIFY(!jobs.isRunning("key"));
    }

    void newerJobsReplaceOlderOnes()
    {
        JobRunner jobs;
        std::atomic<bool> stopped = false;
        QList<int> delivered;
        jobs.start(
            "key", "first", this,
            [&](core::JobContext &job) {
                while (!job.isCancelled())
                    std::this_thread::yield();
                stopped = true;
                return 1;
            },
            [&](int value) { delivered.push_back(value); });
        jobs.start(
            "key", "second", this, [](core::JobContext &) { return 2; },
            [&](int value) { delivered.push_back(value); });
        QTRY_COMPARE(delivered, QList<int>{2});
        QTRY_VERIFY(stopped);
        QCOMPARE(delivered.size(), 1);
    }

    void cancelDropsAndStopDelivers()
    {
        JobRunner jobs;
        int delivered = 0;
        const auto untilStopped = [](core::JobContext &job) {
            while (!job.isCancelled())
                std::this_thread::yield();
            return 7;
        };
        jobs.start("a", "a", this, untilStopped, [&](int) { ++delivered; });
        jobs.cancel("a");
        QVERIFY(!jobs.isRunning("a"));
        jobs.start("b", "b", this, untilStopped, [&](int) { delivered += 10; });
        jobs.requestStop("b");
        QVERIFY(jobs.isRunning("b"));
        QTRY_COMPARE(delivered, 10);
    }

    // What a job says beside its value is heard, also when the value is dropped.
    void warningsOfJobsAreTold()
    {
        JobRunner jobs;
        QSignalSpy warned(&jobs, &JobRunner::warned);
        const auto warn = [](core::JobContext &job) {
            job.warn("the file cannot be removed");
            return 1;
        };
        jobs.start("a", "Discarding", this, warn, [](int) {});
        QTRY_COMPARE(warned.count(), 1);
        QCOMPARE(warned[0][0].toString(), QStringLiteral("Discarding"));
        QCOMPARE(warned[0][1].toStringList(), QStringList{"the file cannot be removed"});
        jobs.start("b", "b", this, warn, [](int) {});
        jobs.cancel("b");
        QTRY_COMPARE(warned.count(), 2);
    }

    void deadContextsGetNothing()
    {
        JobRunner jobs;
        bool delivered = false;
        auto context = std::make_unique<QObject>();
        jobs.start(
            "key", "title", context.get(), [](core::JobContext &) { return 1; },
            [&](int) { delivered = true; });
        context.reset();
        QTRY_VERIFY(!jobs.isRunning("key"));
        QVERIFY(!delivered);
    }

    void recentFilesAreTwentyPinnedFirst()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("opscope.ini");
        {
            app::Settings settings(path);
            for (int i = 0; i < 25; ++i)
                settings.addRecentFile(folder.filePath(QString("run-%1.opscope").arg(i)));
            settings.setPinned(settings.recentFiles().back().path, true);
            settings.addRecentFile(folder.filePath("run-24.opscope"), "1 NaN birth");
        }
        app::Settings again(path);
        const auto files = again.recentFiles();
        QCOMPARE(files.size(), app::Settings::kRecentLimit);
        QVERIFY(files.front().pinned);
        QCOMPARE(files[1].badge, QStringLiteral("1 NaN birth"));
        again.clearRecentFiles();
        QCOMPARE(again.recentFiles().size(), 1U);
        again.setThemeMode(views::ThemeMode::highContrast);
        QCOMPARE(again.themeMode(), views::ThemeMode::highContrast);
        again.reset();
        QVERIFY(again.recentFiles().empty());
        QCOMPARE(again.themeMode(), views::ThemeMode::system);
    }

    void commandLineIsRead()
    {
        const auto read = [](QStringList arguments) {
            arguments.prepend("opscope");
            return app::readCommandLine(arguments);
        };
        const app::CommandLine full =
            read({"--theme", "light", "--window-size", "1024x640", "--screenshot", "a.png", "--quit-after",
                  "--config", "c.ini", "one.opscope", "two.tlspec"});
        QVERIFY(full.message.isEmpty());
        QCOMPARE(full.files, (QStringList{"one.opscope", "two.tlspec"}));
        QCOMPARE(full.theme, views::ThemeMode::light);
        QCOMPARE(full.windowSize, QSize(1024, 640));
        QVERIFY(full.screenshot.quit);
        QCOMPARE(read({"--theme", "pink"}).exitCode, 2);
        QCOMPARE(read({"--window-size", "big"}).exitCode, 2);
        QCOMPARE(read({"--nonsense"}).exitCode, 2);
        QCOMPARE(read({"--version"}).exitCode, 0);
        QVERIFY(!read({"--help"}).message.isEmpty());
    }

    void captureDialogAsksAndRemembers()
    {
        QTemporaryDir folder;
        app::Settings settings(folder.filePath("opscope.ini"));
        views::Theme theme;
        {
            app::CaptureDialog dialog(theme, settings, nullptr);
            QVERIFY(!dialog.problem().isEmpty());
            dialog.setModel(folder.filePath("net.pt2"));
            QVERIFY(dialog.problem().contains("net.pt2"));
            QFile model(folder.filePath("other.pt2"));
            QVERIFY(model.open(QIODevice::WriteOnly));
            dialog.setModel(model.fileName());
            QVERIFY(QFile::copy(model.fileName(), folder.filePath("net.pt2")));
            dialog.setModel(folder.filePath("net.pt2"));
            QVERIFY2(dialog.problem().isEmpty(), qPrintable(dialog.problem()));
            auto *inputs = dialog.findChild<QPlainTextEdit *>();
            inputs->setPlainText("f32[1,3=randn");
            QVERIFY(dialog.problem().contains("f32[1,3=randn"));
            inputs->setPlainText("f32[1,3]=randn\nmask=i64[4]=ones");
            QSignalSpy wanted(&dialog, &app::CaptureDialog::captureRequested);
            for (QPushButton *button : dialog.findChildren<QPushButton *>())
                if (button->isDefault())
                    button->click();
            QCOMPARE(wanted.count(), 1);
            QCOMPARE(dialog.request().inputs.size(), 2U);
            QVERIFY(dialog.request().outputPath.find("net-") != std::string::npos);
        }
        app::CaptureDialog again(theme, settings, nullptr);
        again.setModel(folder.filePath("net.pt2"));
        QCOMPARE(again.findChild<QPlainTextEdit *>()->toPlainText(),
                 QStringLiteral("f32[1,3]=randn\nmask=i64[4]=ones"));
    }

    // Limits that the fields show rounded stay as they were given.
    void captureDialogKeepsLimitsExact()
    {
        QTemporaryDir folder;
        app::Settings settings(folder.filePath("opscope.ini"));
        views::Theme theme;
        QFile model(folder.filePath("net.pt2"));
        QVERIFY(model.open(QIODevice::WriteOnly));
        core::CaptureRequest given;
        given.memoryLimitBytes = 512ULL << 20;
        given.timeLimitSeconds = 0.25;
        given.save.maxBytesPerTensor = 1000;
        given.saveSources = false;
        given.repeat = 3;
        app::CaptureDialog dialog(theme, settings, nullptr);
        dialog.setModel(QStringLiteral("  %1 ").arg(model.fileName()));
        dialog.setRequest(given);
        QVERIFY2(dialog.problem().isEmpty(), qPrintable(dialog.problem()));
        core::CaptureRequest asked = dialog.request();
        QCOMPARE(asked.modelPath, model.fileName().toStdString());
        QCOMPARE(asked.memoryLimitBytes, given.memoryLimitBytes);
        QCOMPARE(asked.timeLimitSeconds, given.timeLimitSeconds);
        QCOMPARE(asked.save.maxBytesPerTensor, given.save.maxBytesPerTensor);
        QCOMPARE(asked.saveSources, false);
        QCOMPARE(asked.repeat, 3U);
        for (QSpinBox *field : dialog.findChildren<QSpinBox *>())
            if (field->accessibleName() == QStringLiteral("Memory limit"))
                field->setValue(field->value() + 1);
        QCOMPARE(dialog.request().memoryLimitBytes, 513ULL << 20);
    }

    // The options of a helper come back for the same model, and from the trace of its run.
    void captureDialogKeepsTheOptionsOfAHelper()
    {
        QTemporaryDir folder;
        app::Settings settings(folder.filePath("opscope.ini"));
        views::Theme theme;
        QFile model(folder.filePath("net.pt2"));
        QVERIFY(model.open(QIODevice::WriteOnly));
        const core::LiveHelper &helper = *core::findLiveHelper("check_determinism");
        const auto runs = [](const app::CaptureDialog &dialog) {
            return dialog.request().options.at("runs").toInt();
        };
        {
            app::CaptureDialog dialog(theme, settings, nullptr);
            dialog.setHelper(helper, core::Value::object({{"runs", 5}}));
            dialog.setModel(model.fileName());
            QCOMPARE(runs(dialog), 5);
            for (QPushButton *button : dialog.findChildren<QPushButton *>())
                if (button->isDefault())
                    button->click();
        }
        app::CaptureDialog again(theme, settings, nullptr);
        again.setHelper(helper);
        QCOMPARE(runs(again), 2);
        again.setModel(model.fileName());
        QCOMPARE(runs(again), 5);
        core::CaptureRequest recorded;
        recorded.task = "check_determinism";
        recorded.options = core::Value::object({{"runs", 7}});
        again.setRequest(recorded);
        QCOMPARE(runs(again), 7);
        // What the worker would refuse is said before Start.
        recorded.options = core::Value::object({{"runs", 7}, {"rtol", -1.0}});
        again.setRequest(recorded);
        QVERIFY2(again.problem().contains("rtol"), qPrintable(again.problem()));
    }

    // A choice without a default may be left open, and a field of another kind of name is no op's.
    void helperFormsAskForWhatTheyMean()
    {
        QTemporaryDir folder;
        app::Settings settings(folder.filePath("opscope.ini"));
        views::Theme theme;
        app::CaptureDialog dialog(theme, settings, nullptr);
        dialog.setHelper(*core::findLiveHelper("guess_input_shape"));
        QVERIFY(dialog.request().options.at("device").isNull());
        QCOMPARE(dialog.request().options.at("spatial_rank").toString(), std::string("auto"));
        for (const QPushButton *button : dialog.findChildren<QPushButton *>())
            QVERIFY(button->text() != QStringLiteral("Use selected op"));
    }

    void paletteFindsByEverything_data()
    {
        QTest::addColumn<QString>("query");
        QTest::addColumn<QString>("first");
        QTest::newRow("name") << "softm"
                              << "softmax";
        QTest::newRow("module") << "@h.7.attn"
                                << "h.7.attn";
        QTest::newRow("line") << ":model.py:116"
                              << "model.py:116";
        QTest::newRow("number") << "#2"
                                << "relu";
        QTest::newRow("shape") << "[2,3"
                               << "relu";
        QTest::newRow("dtype") << "fp16 relu"
                               << "relu";
        QTest::newRow("two words") << "model.py:120 relu"
                                   << "relu";
    }
    void paletteFindsByEverything()
    {
        QFETCH(QString, query);
        QFETCH(QString, first);
        const SearchIndex index(tests::traceFromText(kText), nullptr);
        const QStringList found = names(index, query);
        QVERIFY2(!found.isEmpty(), qPrintable(query));
        QVERIFY2(found.front().startsWith(first), qPrintable(found.join(", ")));
        QVERIFY(names(index, "no such thing").isEmpty());
        QVERIFY(names(index, "").isEmpty());
    }

    void paletteFindsFindings()
    {
        const auto trace = tests::traceFromText(kText);
        const auto facts = views::makeTraceFacts(trace, core::JobContext());
        QVERIFY(facts.isOk());
        const SearchIndex index(trace, *facts);
        const auto hits = index.find("!nan");
        QVERIFY(!hits.empty());
        QCOMPARE(hits.front().kind, HitKind::finding);
        QVERIFY(std::holds_alternative<views::OpItem>(index.itemOf(hits.front())));
    }

    void paletteIsFastOnManyOps()
    {
        std::string text = "input x:f32[4]=1\n";
        for (int i = 0; i < 20000; ++i)
            text += "relu x -> r" + std::to_string(i) + ":f32[4] @model.py:" + std::to_string(i % 500 + 1) +
                    " in h." + std::to_string(i % 96) + "\n";
        const SearchIndex index(tests::traceFromText(text), nullptr);
        // Processor time, so that a busy machine does not fail the test.
        double best = 1e9;
        for (int turn = 0; turn < 5; ++turn) {
            const std::clock_t start = std::clock();
            QVERIFY(!index.find("relu h.95 model.py:17").empty());
            best = std::min(best, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        }
        QVERIFY2(best <= 50, qPrintable(QString::number(best)));
    }

    void paletteRunsCommands()
    {
        views::Theme theme;
        QWidget window;
        app::PaletteDialog palette(theme, &window);
        QAbstractItemModelTester tester(const_cast<app::PaletteModel *>(&palette.model()),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        QAction open("&Open…");
        QAction close("&Close");
        QSignalSpy command(&palette, &app::PaletteDialog::commandChosen);
        QSignalSpy item(&palette, &app::PaletteDialog::itemChosen);
        palette.start(std::make_shared<const SearchIndex>(tests::traceFromText(kText), nullptr),
                      {&open, &close});
        QCOMPARE(palette.model().rowCount(), 0);
        QTest::keyClicks(&palette.field(), ">clo");
        QCOMPARE(palette.model().rowCount(), 1);
        QTest::keyClick(&palette.field(), Qt::Key_Return);
        QCOMPARE(command.count(), 1);
        QVERIFY(!palette.isVisible());
        palette.start(std::make_shared<const SearchIndex>(tests::traceFromText(kText), nullptr),
                      {&open, &close}, "softmax");
        QTest::keyClick(&palette.field(), Qt::Key_Return, Qt::AltModifier);
        QCOMPARE(item.count(), 1);
        QVERIFY(item.front()[1].toBool());
    }
};

QTEST_MAIN(TestServices)
#include "tst_services.moc"
