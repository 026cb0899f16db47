// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions.h"
#include "app/dialogs/capture_dialog.h"
#include "app/dialogs/input_form.h"
#include "app/dialogs/live_report_dialog.h"
#include "app/dock_layout.h"
#include "app/frame/banner.h"
#include "app/pages/capture_page.h"
#include "app/pages/message_page.h"
#include "tests/support/widget_texts.h"
#include "tests/support/window_fixture.h"
#include "views/base/formatting.h"
#include "views/findings/findings_pane.h"
#include "views/source/source_pane.h"

#include <QDropEvent>
#include <QElapsedTimer>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <csignal>

// From a model file to its picture inside the window, with the real worker.
class TestCaptureStory : public QObject, protected support::WindowFixture
{
    Q_OBJECT

private:
    // model.pt of a folder of the corpus with its inputs, alone in a folder: other tests leave files in the
    // corpus.
    QString ownCopy(const QString &name) const
    {
        const QString folder = m_folder.filePath(QString(name).replace('/', '_'));
        QDir().mkpath(folder);
        for (const char *const file : {"model.pt", "expected.json", "x.npy"})
            QFile::copy(model(name + '/' + file), folder + '/' + file);
        return folder + "/model.pt";
    }
    app::CaptureDialog *dialog() const { return visible<app::CaptureDialog>(); }
    // Opens the model and waits until the dialog knows what it takes.
    app::CaptureDialog *ask(const QString &path)
    {
        m_window->openFile(path);
        const auto isKnown = [&] { return dialog() != nullptr && dialog()->isModelKnown(); };
        return QTest::qWaitFor(isKnown, kRunMs) ? dialog() : nullptr;
    }
    void start(app::CaptureDialog *asked)
    {
        for (QLineEdit *field : asked->findChildren<QLineEdit *>())
            if (field->accessibleName().contains("write the trace"))
                field->setText(m_folder.filePath(QString("run-%1.opscope").arg(++m_runs)));
        for (QPushButton *button : asked->findChildren<QPushButton *>())
            if (button->isDefault())
                button->click();
    }
    // Of a run: over the start page, or in a window beside a document.
    app::CapturePage *shownPage() const { return visible<app::CapturePage>(); }
    QString bannerTitle() const { return m_window->findChild<app::Banner *>()->accessibleName(); }
    int m_runs = 0;

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }
    void init() { QVERIFY(makeFirstWindow()); }
    void cleanup() { dropWindow(); }

    // A model with a NaN: dialog, run, finding, op, line.
    void fromAModelToTheLine()
    {
        app::CaptureDialog *asked = ask(model("nan_cases/n09_masked_row/model.pt2"));
        QVERIFY(asked != nullptr);
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        start(asked);
        QVERIFY(m_session->captures().isRunning());
        QVERIFY(waitForTrace());
        QVERIFY(m_session->current()->facts->hasFinding());
        m_window->actions().origin->trigger();
        const core::OpId op = m_session->selection().op();
        QVERIFY(op.isValid());
        QVERIFY(m_session->selection().line().has_value());
        m_window->actions().showSource->trigger();
        QVERIFY(m_window->docks().pane(app::PaneKind::source)->isVisible());
        QCOMPARE(m_settings->recentFiles().size(), 2U); // the model and its trace
        // The model quotes single lines of its file; what lies between them is not there.
        const auto sourceTexts = [this] {
            return support::widgetTexts(*m_window->docks().pane(app::PaneKind::source));
        };
        QVERIFY2(QTest::qWaitFor([&] { return !sourceTexts().filter("only the lines").isEmpty(); }, kRunMs),
                 qPrintable(sourceTexts().join('|')));
        // What softmax computed with is told by name; its dimension is an argument of it.
        m_window->docks().reveal(app::PaneKind::why);
        const auto whyTexts = [this] {
            return support::widgetTexts(*m_window->docks().pane(app::PaneKind::why));
        };
        QVERIFY2(QTest::qWaitFor([&] { return whyTexts().contains(QStringLiteral("ARGUMENTS")); }, kRunMs),
                 qPrintable(whyTexts().join('|')));
        QVERIFY(whyTexts().contains(QStringLiteral("self")));
        QVERIFY(whyTexts().contains(QStringLiteral("dim")));
        QVERIFY(whyTexts().filter(QStringLiteral("operand ")).isEmpty());
    }

    void torchScriptAsksForItsInputs()
    {
        // A folder without a file that names inputs.
        QVERIFY(QFile::copy(model("models/attention/model.pt"), m_folder.filePath("bare.pt")));
        app::CaptureDialog *asked = ask(m_folder.filePath("bare.pt"));
        QVERIFY(asked != nullptr);
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem())); // all are guessed then
        auto *form = asked->findChild<app::InputForm *>();
        form->setInputs({{"x", "f32[2,4,8]=randn"}}, {});
        QVERIFY2(asked->problem().contains("mask is not given"), qPrintable(asked->problem()));
        form->setInputs({{"x", "f32[2,4,8]=randn"}, {"mask", "b8[2,4]=zeros"}}, {});
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        start(asked);
        QVERIFY(waitForTrace());
        QCOMPARE(m_session->current()->trace->info().modelKind, std::string("torchscript"));
    }

    void inputsBesideTheModelAreTaken()
    {
        app::CaptureDialog *asked = ask(ownCopy("models/mlp"));
        QVERIFY(asked != nullptr);
        QVERIFY(asked->findChild<app::InputForm *>()->tree().endsWith("expected.json"));
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
    }

    // A picture is read for the check as it is for the run, and what was made of it is said.
    void anImageIsCheckedAsItIsRun()
    {
        QImage picture(40, 20, QImage::Format_RGB32);
        picture.fill(Qt::darkGreen);
        QVERIFY(picture.save(m_folder.filePath("green.png")));
        app::CaptureDialog *asked = ask(ownCopy("models/cnn"));
        QVERIFY(asked != nullptr);
        asked->findChild<app::InputForm *>()->setInputs(
            {{"image", m_folder.filePath("green.png").toStdString() + "?resize=18&crop=16"}}, {});
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        Q_EMIT asked->inputCheckWished(asked->request());
        const auto texts = [&] { return support::widgetTexts(*asked); };
        const auto isAnswered = [&] {
            return !texts().filter("[1,3,16,16]").isEmpty() || !texts().filter("input image:").isEmpty();
        };
        QVERIFY2(QTest::qWaitFor(isAnswered, kRunMs), qPrintable(texts().join('|')));
        QVERIFY2(texts().filter("input image:").isEmpty(), qPrintable(texts().join('|')));
        QVERIFY2(!texts().filter("green.png (resize=18&crop=16x16").isEmpty(), qPrintable(texts().join('|')));
        start(asked);
        QVERIFY(waitForTrace());
    }

    // What does not fit is said at the input, by a check and after a run alike.
    void wrongInputsAreSaidAtTheField()
    {
        app::CaptureDialog *asked = ask(model("models/attention/model.pt2"));
        QVERIFY(asked != nullptr);
        auto *form = asked->findChild<app::InputForm *>();
        form->setInputs({{"x", "f32[2,4,"}}, {});
        QVERIFY(asked->problem().contains("Input x"));
        form->setInputs({{"x", "f32[2,4,9]=randn"}}, {});
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        Q_EMIT asked->inputCheckWished(asked->request());
        const auto problemShown = [](const app::CaptureDialog &where) {
            for (const QLabel *label : where.findChild<app::InputForm *>()->findChildren<QLabel *>())
                if (label->isVisible() && label->text().startsWith("input x"))
                    return true;
            return false;
        };
        QVERIFY(QTest::qWaitFor([&] { return problemShown(*asked); }, kRunMs));
        start(asked);
        QVERIFY(QTest::qWaitFor([this] { return !m_session->captures().isRunning() && dialog() != nullptr; },
                                kRunMs));
        QCOMPARE(dialog()->request().inputs.size(), 1U);
        QVERIFY(QTest::qWaitFor([&] { return problemShown(*dialog()); }, kRunMs));
        QVERIFY(m_session->current() == nullptr);
    }

    // The window goes while a field of its dialog has been edited and has the focus.
    void anOpenDialogGoesWithItsWindow()
    {
        app::CaptureDialog *asked = ask(model("models/attention/model.pt2"));
        QVERIFY(asked != nullptr);
        asked->activateWindow();
        QLineEdit *field = nullptr;
        for (QLineEdit *each : asked->findChildren<QLineEdit *>())
            if (each->text() == asked->model())
                field = each;
        QVERIFY(field != nullptr);
        field->setFocus();
        QVERIFY(QTest::qWaitFor([field] { return field->hasFocus(); }, kRunMs));
        field->setText(model("models/mlp/model.pt2"));
        int wished = 0;
        connect(asked, &app::CaptureDialog::descriptionWished, this, [&wished] { ++wished; });
        const QPointer<app::CaptureDialog> gone(asked);
        dropWindow();
        QVERIFY(gone.isNull());
        QVERIFY2(wished == 0, "a dialog that was half destroyed went on working");
    }

    void aModelThatRaisesShowsWhatRan()
    {
        app::CaptureDialog *asked = ask(ownCopy("models/raises"));
        QVERIFY(asked != nullptr);
        start(asked);
        QVERIFY(waitForTrace());
        QCOMPARE(m_session->current()->trace->info().status, core::TraceStatus::failed);
        QVERIFY2(bannerTitle().contains("The model stopped"), qPrintable(bannerTitle()));
        // The op that raised is not one of those before it.
        const QString body = m_window->findChild<app::Banner *>()->accessibleDescription();
        QVERIFY2(body.endsWith("The 2 ops before it are shown."), qPrintable(body));
    }

    void aModelThatCannotRunIsRefusedBeforeStart()
    {
        app::CaptureDialog *asked = ask(model("models/custom_op/model.pt2"));
        QVERIFY(asked != nullptr);
        QVERIFY2(asked->problem().contains("cannot run here"), qPrintable(asked->problem()));
    }

    void backwardAndOptionsTravel()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        core::CaptureRequest request = asked->request();
        request.backward = core::BackwardRequest();
        request.backward->rule = "sum";
        request.seed = 7;
        request.threads = 1;
        request.save.mode = core::SavePolicy::Mode::none;
        asked->setRequest(request);
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        start(asked);
        QVERIFY(waitForTrace());
        const core::Trace &trace = *m_session->current()->trace;
        QVERIFY(!trace.gradFires().empty());
        QCOMPARE(trace.info().request.at("seed").toString(), std::string("7"));
        for (const core::OpId op : trace.computeOps())
            if (trace.op(op).tensor.isValid())
                QVERIFY(trace.tensor(trace.op(op).tensor).payload.state != core::PayloadState::saved);
    }

    // A helper that runs the model: its own form, its answer, and the trace it left.
    void aHelperRunsTheModelAndAnswers()
    {
        QAction *findNan = nullptr;
        for (QAction *action : m_window->actions().helpers)
            if (action->data().toString() == "find_nan")
                findNan = action;
        QVERIFY(findNan != nullptr);
        findNan->trigger();
        app::CaptureDialog *asked = dialog();
        QVERIFY(asked != nullptr);
        asked->setModel(model("nan_cases/n09_masked_row/model.pt2"));
        QVERIFY(QTest::qWaitFor([asked] { return asked->isModelKnown(); }, kRunMs));
        QCOMPARE(asked->request().task, std::string("find_nan"));
        start(asked);
        QVERIFY(QTest::qWaitFor([this] { return m_window->findChild<app::LiveReportDialog *>() != nullptr; },
                                kRunMs));
        QVERIFY(waitForTrace());
    }

    void everyHelperOfTheRunMenuAnswers_data()
    {
        QTest::addColumn<QString>("name");
        for (const core::LiveHelper &helper : core::liveHelpers())
            QTest::addRow("%s", std::string(helper.name).c_str())
                << QString::fromUtf8(helper.name.data(), qsizetype(helper.name.size()));
    }
    // Each has its own form with its options, and ends in an answer or a refusal in words.
    void everyHelperOfTheRunMenuAnswers()
    {
        QFETCH(QString, name);
        const core::LiveHelper &helper = *core::findLiveHelper(name.toStdString());
        QAction *action = nullptr;
        for (QAction *each : m_window->actions().helpers)
            if (each->data().toString() == name)
                action = each;
        QVERIFY(action != nullptr && action->isEnabled());
        QVERIFY(!action->toolTip().isEmpty());
        action->trigger();
        app::CaptureDialog *asked = dialog();
        QVERIFY(asked != nullptr);
        QCOMPARE(asked->windowTitle(), name);
        asked->setModel(model("models/mlp/model.pt2"));
        QVERIFY(QTest::qWaitFor([asked] { return asked->isModelKnown(); }, kRunMs));
        for (const core::ReportOption &option : helper.options) {
            bool there = false;
            for (const QWidget *field : asked->findChildren<QWidget *>())
                there = there || field->accessibleName() == views::fromView(option.name);
            QVERIFY2(there, std::string(option.name).c_str());
        }
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        start(asked);
        QVERIFY(QTest::qWaitFor([this] { return !m_session->captures().isRunning(); }, kRunMs));
        auto *answer = m_window->findChild<app::LiveReportDialog *>();
        QVERIFY(answer != nullptr);
        QVERIFY(answer->isVisible() && !answer->isModal());
        QVERIFY2(answer->windowTitle().startsWith(name), qPrintable(answer->windowTitle()));
    }

    void discardLeavesNothing()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        start(asked);
        const QString trace = m_folder.filePath(QString("run-%1.opscope").arg(m_runs));
        m_session->captures().discard();
        QVERIFY(!m_session->captures().isRunning());
        QVERIFY(m_session->current() == nullptr);
        // The worker may write for a moment yet; once it is gone the file is too.
        QElapsedTimer since;
        since.start();
        QVERIFY(QTest::qWaitFor([&] { return since.elapsed() > 3000 && !QFile::exists(trace); }, kRunMs));
    }

    // G63: within a second the window is as it was, and so is the document that was open.
    void cancelTakesLessThanASecond()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        start(asked);
        QVERIFY(waitForTrace());
        const app::Document *before = m_session->current();
        asked = ask(QStringLiteral(OPSCOPE_PROBE_MODELS_DIR "/steps.pt"));
        QVERIFY(asked != nullptr);
        asked->findChild<app::InputForm *>()->setInputs({{"x", "f32[1,64]=randn"}, {"steps", "100000000"}},
                                                        {});
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        start(asked);
        // It runs, and the page says by the name of its op.
        QVERIFY(QTest::qWaitFor([this] { return m_session->captures().progress().op.starts_with("aten."); },
                                kRunMs));
        app::CapturePage *page = shownPage();
        QVERIFY(page != nullptr);
        QElapsedTimer since;
        since.start();
        for (QPushButton *button : m_window->findChildren<QPushButton *>())
            if (button->text() == QStringLiteral("Discard") && button->isVisible())
                button->click();
        QVERIFY(
            QTest::qWaitFor([&] { return !m_session->captures().isRunning() && !page->isVisible(); }, 1000));
        QVERIFY2(since.elapsed() < 1000, qPrintable(QString::number(since.elapsed())));
        QCOMPARE(m_session->current(), before);
        QCOMPARE(m_session->documents().size(), 1U);
    }

    // The dialog looks for inputs itself, fills them in, and the run takes them.
    void guessFillsTheInputs()
    {
        QVERIFY(QFile::copy(model("models/cnn/model.pt"), m_folder.filePath("unknown.pt")));
        app::CaptureDialog *asked = ask(m_folder.filePath("unknown.pt"));
        QVERIFY(asked != nullptr);
        QPushButton *guess = nullptr;
        for (QPushButton *button : asked->findChildren<QPushButton *>())
            if (button->accessibleName() == QStringLiteral("Guess the inputs"))
                guess = button;
        QVERIFY(guess != nullptr && guess->isEnabled());
        QVERIFY(asked->request().inputs.empty());
        guess->click();
        QCOMPARE(guess->text(), QStringLiteral("Stop guessing"));
        QVERIFY(QTest::qWaitFor([guess] { return guess->text() == QStringLiteral("Guess"); }, kRunMs));
        QVERIFY(!asked->request().inputs.empty());
        QVERIFY2(asked->problem().isEmpty(), qPrintable(asked->problem()));
        start(asked);
        QVERIFY(waitForTrace());
        QCOMPARE(m_session->current()->trace->info().status, core::TraceStatus::finished);
    }

    void theSizeOfTheTraceIsSaidBeforeStart()
    {
        app::CaptureDialog *asked = ask(model("models/tiny_gpt/model.pt2"));
        QVERIFY(asked != nullptr);
        const auto said = [asked] {
            for (const QLabel *label : asked->findChildren<QLabel *>())
                if (label->isVisible() && label->text().startsWith(QStringLiteral("the trace will take")))
                    return label->text();
            return QString();
        };
        QVERIFY(!said().isEmpty());
        const QString whole = said();
        core::CaptureRequest request = asked->request();
        request.save.mode = core::SavePolicy::Mode::none;
        asked->setRequest(request);
        QVERIFY(said() != whole);
        request.save.mode = core::SavePolicy::Mode::all;
        asked->setRequest(request);
        QCOMPARE(said(), whole);
        const app::ModelFacts facts = asked->facts();
        start(asked);
        QVERIFY(waitForTrace());
        const auto expected = app::expectedTraceBytes(facts, request);
        QVERIFY(expected.has_value());
        const auto real = static_cast<double>(QFileInfo(m_session->current()->path).size());
        const double ratio = static_cast<double>(*expected) / real;
        QVERIFY2(ratio > 0.5 && ratio < 2.0, qPrintable(QString::number(ratio)));
    }

    // Two models dropped at once: each dialog gets the answer of its own file.
    void twoDialogsAskForThemselves()
    {
        m_window->openFile(model("models/mlp/model.pt2"));
        m_window->openFile(model("models/attention/model.pt2"));
        const auto known = [this] {
            int count = 0;
            for (const app::CaptureDialog *each : m_window->findChildren<app::CaptureDialog *>())
                count += each->isModelKnown() && !each->facts().summary.isEmpty() ? 1 : 0;
            return count;
        };
        QVERIFY(QTest::qWaitFor([&] { return known() == 2; }, kRunMs));
    }

    // The run keeps its place: its window may be closed and comes back, a document that is opened meanwhile
    // does not hide it, and another run says first that this one ends.
    void aRunIsNotLostBehindOtherThings()
    {
        app::CaptureDialog *asked = ask(QStringLiteral(OPSCOPE_PROBE_MODELS_DIR "/steps.pt"));
        QVERIFY(asked != nullptr);
        asked->findChild<app::InputForm *>()->setInputs({{"x", "f32[1,64]=randn"}, {"steps", "100000000"}},
                                                        {});
        start(asked);
        QVERIFY(m_session->captures().isRunning());
        QVERIFY(m_window->actions().showRun->isEnabled());
        m_window->openFile(goldenTrace());
        QVERIFY(waitForTrace());
        QVERIFY(m_session->captures().isRunning());
        QVERIFY(shownPage() != nullptr);
        QTest::keyClick(shownPage()->window(), Qt::Key_Escape);
        QVERIFY(shownPage() == nullptr);
        QVERIFY(m_session->captures().isRunning());
        QCOMPARE(bannerTitle(), QStringLiteral("The run goes on"));
        m_window->actions().showRun->trigger();
        QVERIFY(shownPage() != nullptr);
        m_window->actions().capture->trigger();
        app::CaptureDialog *second = dialog();
        QVERIFY(second != nullptr);
        second->setModel(model("models/mlp/model.pt2"));
        const auto says = [second](const QString &text) {
            for (const QPushButton *button : second->findChildren<QPushButton *>())
                if (button->text() == text && !button->isDefault())
                    return true;
            return false;
        };
        QVERIFY(says(QStringLiteral("Discard that run and start")));
        m_session->captures().discard();
        QVERIFY(!says(QStringLiteral("Discard that run and start")));
        QVERIFY(!m_window->actions().showRun->isEnabled());
    }

    // Asking for a model again brings its dialog to the front, with what was answered by then.
    void aModelIsAskedAboutOnce()
    {
        const auto dialogs = [this] {
            int visible = 0;
            for (const app::CaptureDialog *asked : m_window->findChildren<app::CaptureDialog *>())
                visible += asked->isVisible() ? 1 : 0;
            return visible;
        };
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        for (const char *name : {"models/mlp/model.pt2", "models/mlp/model.pt2", "models/cnn/model.pt2"})
            m_window->openFile(model(name));
        const auto isAskedAbout = [this](const char *name) {
            const auto all = m_window->findChildren<app::CaptureDialog *>();
            return std::any_of(all.begin(), all.end(), [&](const app::CaptureDialog *one) {
                return one->isVisible() && one->asksFor("capture", model(name));
            });
        };
        QVERIFY(QTest::qWaitFor([&] { return isAskedAbout("models/cnn/model.pt2"); }, kRunMs));
        QCOMPARE(dialogs(), 2);
        // A helper asks another question about it, once too.
        QAction *helper = m_window->actions().helpers.front();
        helper->trigger();
        helper->trigger();
        QCOMPARE(dialogs(), 3);
        QVERIFY(asked->asksFor("capture", model("models/mlp/model.pt2")));
        QVERIFY(!asked->asksFor(helper->data().toString().toStdString(), model("models/mlp/model.pt2")));
    }

    void severalFilesDroppedAllOpen()
    {
        for (const char *name : {"models/mlp/model.pt2", "models/cnn/model.pt2"}) {
            app::CaptureDialog *asked = ask(model(name));
            QVERIFY(asked != nullptr);
            start(asked);
            QVERIFY(QTest::qWaitFor([this] { return !m_session->captures().isRunning(); }, kRunMs));
            QVERIFY(QTest::qWaitFor([this] { return !m_session->isOpening(); }, kRunMs));
        }
        QStringList paths;
        for (const auto &document : m_session->documents())
            paths.push_back(document->path);
        QCOMPARE(paths.size(), 2);
        m_session->close(0);
        m_session->close(0);
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(paths[0]), QUrl::fromLocalFile(paths[1])});
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QVERIFY(QTest::qWaitFor([this] { return m_session->documents().size() == 2; }, kRunMs));
        // They come back with the next start, and so does the op.
        const core::OpId op = m_session->current()->trace->computeOps()[1];
        const std::string label(m_session->current()->trace->label(op));
        m_session->selection().selectOp(op);
        const QString shown = m_session->current()->path;
        m_window->close();
        m_window.reset();
        m_session = std::make_unique<app::Session>(*m_settings);
        m_window = std::make_unique<app::MainWindow>(*m_session, *m_theme);
        m_window->show();
        m_window->restoreSession();
        QVERIFY(QTest::qWaitFor(
            [this] { return m_session->documents().size() == 2 && !m_session->isOpening(); }, kRunMs));
        QCOMPARE(m_session->current()->path, shown);
        QCOMPARE(std::string(m_session->current()->trace->label(m_session->selection().op())), label);
    }
};

QTEST_MAIN(TestCaptureStory)
#include "tst_capture_story.moc"
