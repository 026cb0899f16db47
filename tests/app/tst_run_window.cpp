// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions.h"
#include "app/dialogs/backward_form.h"
#include "app/dialogs/capture_dialog.h"
#include "app/dialogs/input_form.h"
#include "app/dialogs/live_report_dialog.h"
#include "app/dialogs/model_facts.h"
#include "app/frame/banner.h"
#include "app/pages/capture_page.h"
#include "app/run_state_words.h"
#include "tests/support/widget_texts.h"
#include "tests/support/window_fixture.h"
#include "views/base/formatting.h"
#include "views/reports/report_table.h"

#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSpinBox>
#include <QTest>

// How the window asks for runs and what it says of those that did not end by themselves, with the real
// worker.
class TestRunWindow : public QObject, protected support::WindowFixture
{
    Q_OBJECT

private:
    int m_runs = 0;

    app::CaptureDialog *dialog() const { return visible<app::CaptureDialog>(); }
    app::LiveReportDialog *answer() const { return visible<app::LiveReportDialog>(); }
    static bool waitUntilKnown(app::CaptureDialog *asked)
    {
        return QTest::qWaitFor([asked] { return asked->isModelKnown(); }, kRunMs);
    }
    // A dialog for MODEL, of HELPER when one is named, that knows what the model takes.
    app::CaptureDialog *ask(const QString &file, const QString &helper = {})
    {
        if (helper.isEmpty())
            m_window->actions().capture->trigger();
        for (QAction *action : m_window->actions().helpers)
            if (!helper.isEmpty() && action->data().toString() == helper)
                action->trigger();
        app::CaptureDialog *asked = dialog();
        if (asked == nullptr)
            return nullptr;
        asked->setModel(file);
        return waitUntilKnown(asked) ? asked : nullptr;
    }
    bool run(app::CaptureDialog *asked, const core::CaptureRequest &request)
    {
        asked->setRequest(request);
        named<QLineEdit>(*asked, QStringLiteral("File to write the trace to"))
            ->setText(m_folder.filePath(QStringLiteral("run-%1.opscope").arg(++m_runs)));
        for (QPushButton *each : asked->findChildren<QPushButton *>())
            if (each->isDefault())
                each->click();
        return QTest::qWaitFor([this] { return !m_session->captures().isRunning(); }, kRunMs);
    }
    app::Banner &banner() const { return *m_window->findChild<app::Banner *>(); }

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }
    void init() { QVERIFY(makeFirstWindow()); }
    void cleanup() { dropWindow(); }

    void messagesBecomeSentences()
    {
        QCOMPARE(views::asSentence("the limit was reached: 3 more"),
                 QString("The limit was reached: 3 more."));
        QCOMPARE(views::asSentence("capture_worker was ended"), QString("capture_worker was ended."));
        QCOMPARE(views::asSentence("aten::add took two"), QString("aten::add took two."));
        QCOMPARE(views::asSentence("RuntimeError: no."), QString("RuntimeError: no."));
        QCOMPARE(views::asSentence("no fit (2x6 and 5x3)"), QString("No fit (2x6 and 5x3)."));
        QCOMPARE(views::asSentence(" "), QString());
    }

    // Fields that the model or the helper brought stand between those that were there before.
    void tabGoesThroughTheDialogFromTopToBottom()
    {
        app::CaptureDialog *asked =
            ask(model("nan_cases/n09_masked_row/model.pt2"), QStringLiteral("bisect_precision"));
        QVERIFY(asked != nullptr);
        QCoreApplication::processEvents();
        auto *first = named<QLineEdit>(*asked, QStringLiteral("Model file"));
        QVERIFY(first != nullptr);
        QStringList names;
        int before = -1;
        QWidget *at = first;
        do {
            if ((at->focusPolicy() & Qt::TabFocus) != 0 && at->isVisible() && at->isEnabled()) {
                const int y = at->mapTo(asked, QPoint(0, at->height() / 2)).y();
                QVERIFY2(y > before - 8, qPrintable(names.join(", ") + ", then " + at->accessibleName()));
                before = y;
                names.push_back(at->accessibleName());
            }
            at = at->nextInFocusChain();
        } while (at != first);
        for (const char *const name :
             {"reference_dtype", "rtol", "Input x, float32[3,4]", "Input mask, bool[3,3]"})
            QVERIFY2(names.contains(QLatin1String(name)), name);
        QVERIFY(names.indexOf("rtol") < names.indexOf("Input x, float32[3,4]"));
        QVERIFY(names.indexOf("Input mask, bool[3,3]") < names.indexOf("Time limit"));
    }

    // A form that becomes longer is seen without scrolling where the screen has the room.
    void theDialogGrowsWithItsForm()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"), QStringLiteral("guess_input_shape"));
        QVERIFY(asked != nullptr);
        const auto *area = named<QScrollArea>(*asked, QStringLiteral("How the model is run"));
        QVERIFY(area != nullptr);
        const int most = asked->screen()->availableGeometry().height();
        QTRY_VERIFY2(area->viewport()->height() >= area->widget()->height() ||
                         asked->height() >= most * 8 / 10,
                     qPrintable(QString::number(asked->height())));
        QVERIFY(asked->height() > 600);
        // It looks for inputs itself and leaves no trace, so it asks for neither.
        for (const char *const name : {"File that names all inputs", "What to save", "Guess the inputs",
                                       "Backward pass", "File to write the trace to"})
            for (const QWidget *field : asked->findChildren<QWidget *>())
                QVERIFY2(field->accessibleName() != QLatin1String(name) || !field->isVisible(), name);
        QVERIFY(asked->height() <= most);
    }

    void oneIsNotMany()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        auto *passes = named<QSpinBox>(*asked, QStringLiteral("Backward passes"));
        QVERIFY(passes != nullptr);
        QCOMPARE(passes->text(), QString("1 pass"));
        passes->setValue(2);
        QCOMPARE(passes->text(), QString("2 passes"));
    }

    // The limit is named, and the way to another one is at hand.
    void theTimeLimitIsTold()
    {
        app::CaptureDialog *asked = ask(QStringLiteral(OPSCOPE_PROBE_MODELS_DIR "/steps.pt"));
        QVERIFY(asked != nullptr);
        core::CaptureRequest request = asked->request();
        request.inputs = {{"x", "f32[1,64]=randn"}, {"steps", "100000000"}};
        request.timeLimitSeconds = 0.5;
        QVERIFY(run(asked, request));
        QVERIFY(waitForTrace());
        QCOMPARE(m_session->current()->trace->info().status, core::TraceStatus::cancelled);
        QVERIFY2(banner().accessibleDescription().contains("longer than 0.5 s"),
                 qPrintable(banner().accessibleDescription()));
        QAbstractButton *again = button(banner(), QStringLiteral("Capture again…"));
        QVERIFY(again != nullptr);
        again->click();
        QVERIFY(dialog() != nullptr);
        QVERIFY(waitUntilKnown(dialog()));
        QCOMPARE(dialog()->request().timeLimitSeconds, 0.5);
        QCOMPARE(dialog()->request().inputs.size(), 2U);
    }

    void theMemoryLimitIsTold()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt"));
        QVERIFY(asked != nullptr);
        core::CaptureRequest request = asked->request();
        request.inputs = {{"x", "f32[3000000,8]=randn"}};
        request.inputsTree.clear(); // the file beside the model, which was suggested
        request.memoryLimitBytes = 400U << 20;
        QVERIFY(run(asked, request));
        QVERIFY(waitForTrace());
        QCOMPARE(banner().accessibleName(), QString("Stopped at the memory limit, 400.0 MiB"));
        QVERIFY(button(banner(), QStringLiteral("Raise the limit…")) != nullptr);
    }

    // The forward pass ran: it is not the model that stopped.
    void aBackwardPassThatCannotStartIsToldApart()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        core::CaptureRequest request = asked->request();
        request.backward = core::BackwardRequest();
        request.backward->rule = "sum";
        request.backward->path = "nonsense";
        QVERIFY(run(asked, request));
        QVERIFY(waitForTrace());
        QCOMPARE(banner().accessibleName(), QString("The backward pass did not run to its end"));
        QCOMPARE(banner().accessibleDescription(), QString("The model has no output nonsense."));
    }

    void anAnswerComesBackAfterItsWindowWasClosed()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"), QStringLiteral("graph_breaks"));
        QVERIFY(asked != nullptr);
        QVERIFY(run(asked, asked->request()));
        QVERIFY(QTest::qWaitFor([this] { return answer() != nullptr; }, kRunMs));
        const QString title = answer()->answer().title;
        QVERIFY(title.startsWith("graph_breaks on model.pt2"));
        // A refusal has no rows: its window is as high as what it says.
        QVERIFY(answer()->findChild<views::ReportTableWidget *>()->isHidden());
        button(*answer(), QStringLiteral("Close"))->click();
        QVERIFY(answer() == nullptr);
        QMenu *answers = m_window->actions().answersMenu;
        Q_EMIT answers->aboutToShow();
        QCOMPARE(answers->actions().size(), 1);
        QCOMPARE(answers->actions().front()->text(), title);
        answers->actions().front()->trigger();
        QVERIFY(answer() != nullptr);
        button(*answer(), QStringLiteral("Ask again…"))->click();
        QVERIFY(dialog() != nullptr);
        QCOMPARE(dialog()->request().task, std::string("graph_breaks"));
    }

    // The trace of its first run ended well; the window says that the helper did not.
    void aHelperWithoutItsAnswerIsTold()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"), QStringLiteral("bisect_precision"));
        QVERIFY(asked != nullptr);
        QVERIFY(run(asked, asked->request()));
        QVERIFY(waitForTrace());
        QVERIFY(!banner().isVisible());
        const QString trace = m_session->current()->path;
        Q_EMIT m_session->captures().finished(
            trace, {core::ErrorCode::workerCrashed, "the worker was ended by SIGKILL"});
        QTRY_VERIFY(banner().isVisible());
        QCOMPARE(banner().accessibleName(), QString("bisect_precision did not come to its answer"));
        QCOMPARE(banner().accessibleDescription(), QString("The worker was ended by SIGKILL."));
        button(banner(), QStringLiteral("Ask again…"))->click();
        QVERIFY(dialog() != nullptr);
        QCOMPARE(dialog()->request().task, std::string("bisect_precision"));
    }

    // A run is not lost to a slip.
    void closingTheWindowAsksWhatBecomesOfARun()
    {
        app::CaptureDialog *asked = ask(QStringLiteral(OPSCOPE_PROBE_MODELS_DIR "/steps.pt"));
        QVERIFY(asked != nullptr);
        core::CaptureRequest request = asked->request();
        request.inputs = {{"x", "f32[1,64]=randn"}, {"steps", "100000000"}};
        asked->setRequest(request);
        named<QLineEdit>(*asked, QStringLiteral("File to write the trace to"))
            ->setText(m_folder.filePath("closing.opscope"));
        button(*asked, QStringLiteral("Start"))->click();
        QVERIFY(m_session->captures().isRunning());
        const auto answerWith = [this](const QString &text) {
            m_window->close();
            QVERIFY(m_window->isVisible());
            auto *box = m_window->findChild<QMessageBox *>();
            QVERIFY(box != nullptr && box->isVisible());
            QAbstractButton *chosen = button(*box, text);
            QVERIFY(chosen != nullptr);
            chosen->click();
        };
        answerWith(QStringLiteral("Go on"));
        QVERIFY(m_session->captures().isRunning());
        QTRY_VERIFY(m_window->findChild<QMessageBox *>() == nullptr);
        QVERIFY(QTest::qWaitFor([this] { return m_session->captures().progress().calls > 0; }, kRunMs));
        answerWith(QStringLiteral("Stop, keep what is there and quit"));
        QVERIFY(QTest::qWaitFor([this] { return !m_window->isVisible(); }, kRunMs));
        QVERIFY(!m_session->captures().isRunning());
        QVERIFY(QFile::exists(m_folder.filePath("closing.opscope")));
        QCOMPARE(m_settings->recentFiles().front().path, m_folder.filePath("closing.opscope"));
    }

    void everyControlOfTheDialogHasAName()
    {
        app::CaptureDialog *asked =
            ask(model("nan_cases/n09_masked_row/model.pt2"), QStringLiteral("check_determinism"));
        QVERIFY(asked != nullptr);
        QStringList nameless;
        for (const QWidget *field : asked->findChildren<QWidget *>()) {
            const bool isPart = qobject_cast<const QAbstractSpinBox *>(field->parentWidget()) != nullptr ||
                                field->objectName().startsWith("qt_") ||
                                field->parentWidget()->inherits("QComboBoxPrivateContainer") ||
                                field->parentWidget()->inherits("QComboBox");
            if ((field->focusPolicy() & Qt::TabFocus) == 0 || isPart)
                continue;
            const auto *pressed = qobject_cast<const QAbstractButton *>(field);
            if (field->accessibleName().isEmpty() && (pressed == nullptr || pressed->text().isEmpty()))
                nameless.push_back(field->metaObject()->className());
        }
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(", ")));
    }

    // What an op was given is no input of the model; a stop at a mask offers to go on past it.
    void aStopAtAMaskIsGoneOnFrom()
    {
        app::CaptureDialog *asked =
            ask(model("nan_cases/n09_masked_row/model.pt2"), QStringLiteral("find_nan"));
        QVERIFY(asked != nullptr);
        QVERIFY(run(asked, asked->request()));
        QVERIFY(QTest::qWaitFor([this] { return answer() != nullptr; }, kRunMs));
        const core::Report &stopped = *answer()->answer().report;
        QVERIFY(stopped.result.at("by_design").toBool());
        QVERIFY(!stopped.result.at("inputs").toList().empty());
        QVERIFY(button(*answer(), QStringLiteral("Capture with these inputs…")) == nullptr);
        QAbstractButton *past = button(*answer(), QStringLiteral("Go on past the mask…"));
        QVERIFY(past != nullptr);
        past->click();
        QVERIFY(dialog() != nullptr);
        QVERIFY(waitUntilKnown(dialog()));
        QVERIFY(dialog()->request().options.at("skip_by_design").toBool());
        answer()->close();
        QVERIFY(run(dialog(), dialog()->request()));
        QVERIFY(QTest::qWaitFor([this] { return answer() != nullptr; }, kRunMs));
        const core::Report &later = *answer()->answer().report;
        QCOMPARE(later.result.at("kind").toString(), std::string("nan"));
        QVERIFY(button(*answer(), QStringLiteral("Go on past the mask…")) == nullptr);
    }

    void foundInputsAreRunWith()
    {
        app::CaptureDialog *asked = ask(model("models/gru/model.pt"), QStringLiteral("guess_input_shape"));
        QVERIFY(asked != nullptr);
        QVERIFY(run(asked, asked->request()));
        QVERIFY(QTest::qWaitFor([this] { return answer() != nullptr; }, kRunMs));
        QAbstractButton *use = button(*answer(), QStringLiteral("Capture with these inputs…"));
        QVERIFY(use != nullptr);
        const std::vector<core::InputText> found = app::foundInputs(answer()->answer().report->result);
        QCOMPARE(found.size(), 1U);
        use->click();
        QVERIFY(dialog() != nullptr);
        QVERIFY(waitUntilKnown(dialog()));
        QCOMPARE(dialog()->request().task, std::string("capture"));
        QCOMPARE(dialog()->request().inputs.size(), 1U);
        QCOMPARE(dialog()->request().inputs.front().text, found.front().text);
    }

    // The op that runs may take its time: that Stop was pressed shows at once.
    void aPressedStopAnswersAtOnce()
    {
        app::CaptureDialog *asked = ask(QStringLiteral(OPSCOPE_PROBE_MODELS_DIR "/steps.pt"), "find_nan");
        QVERIFY(asked != nullptr);
        QVERIFY(support::widgetTexts(*asked).contains(
            QStringLiteral("Nothing runs before Run. The model runs in a process of its own.")));
        core::CaptureRequest request = asked->request();
        request.inputs = {{"x", "f32[1,64]=randn"}, {"steps", "100000000"}};
        asked->setRequest(request);
        named<QLineEdit>(*asked, QStringLiteral("File to write the trace to"))
            ->setText(m_folder.filePath(QStringLiteral("stopped.opscope")));
        button(*asked, QStringLiteral("Run"))->click();
        QVERIFY(QTest::qWaitFor([this] { return m_session->captures().progress().op.starts_with("aten."); },
                                kRunMs));
        auto *page = visible<app::CapturePage>();
        QVERIFY(page != nullptr);
        QAbstractButton *stop = button(*page, QStringLiteral("Stop and keep what is there"));
        QVERIFY(stop != nullptr && stop->isEnabled());
        stop->click();
        QVERIFY(!stop->isEnabled());
        QCOMPARE(stop->text(), QStringLiteral("Stopping…"));
        QVERIFY(!support::widgetTexts(*page).filter("longer than 2 s").isEmpty());
        QVERIFY(waitForTrace());
        QCOMPARE(m_session->current()->trace->info().status, core::TraceStatus::cancelled);
    }

    // A file beside the model is suggested where its names are those of the model's arguments.
    void aFileForAnotherModelIsNotSuggested()
    {
        QTemporaryDir beside;
        QVERIFY(QFile::copy(model("models/mlp/model.pt"), beside.filePath("model.pt")));
        const auto write = [&](const char *name, const QByteArray &tree) {
            QFile file(beside.filePath(QString::fromLatin1(name)));
            return file.open(QIODevice::WriteOnly) && file.write(tree) == tree.size();
        };
        QVERIFY(write("other.json", "{\"kwargs\": {\"image\": {\"spec\": \"f32[1,3,8,8]\"}}}"));
        app::CaptureDialog *asked = ask(beside.filePath("model.pt"));
        QVERIFY(asked != nullptr);
        QCOMPARE(asked->request().inputsTree, std::string());
        asked->close();
        QVERIFY(write("own.json", "{\"kwargs\": {\"x\": {\"spec\": \"f32[4,8]\"}}}"));
        asked = ask(beside.filePath("model.pt"));
        QVERIFY(asked != nullptr);
        QCOMPARE(asked->request().inputsTree, beside.filePath("own.json").toStdString());
    }

    // What is wrong with an input stands below it and not a second time; long words make the dialog higher.
    void aRefusalIsSaidOnceAndInFull()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt"));
        QVERIFY(asked != nullptr);
        core::CaptureRequest request = asked->request();
        request.inputs = {{"x", "f32[4,8]=randn"}};
        request.inputsTree.clear();
        asked->setRequest(request);
        asked->showRefusal(core::Status(core::ErrorCode::invalidArgument, "input x: text cannot be encoded")
                               .withRemedy("encode it in Python, then --input ids.npy"));
        QStringList said = support::widgetTexts(*asked).filter("text cannot be encoded");
        QCOMPARE(said, QStringList("input x: text cannot be encoded"));
        QVERIFY(!support::widgetTexts(*asked).filter("then ids.npy.").isEmpty());
        asked->resize(asked->width(), asked->minimumSizeHint().height());
        asked->showRefusal(core::Status(core::ErrorCode::invalidArgument,
                                        QString("a word of many, ").repeated(60).toStdString()));
        const auto *area = named<QScrollArea>(*asked, QStringLiteral("How the model is run"));
        const int room = asked->screen()->availableGeometry().height() * 9 / 10 - 24;
        QTRY_VERIFY2(area->viewport()->height() >= area->widget()->height() || asked->height() >= room,
                     qPrintable(QString::number(asked->height())));
    }

    // Every line that is wrong says so in sight.
    void theDialogGrowsWithWhatIsWrong()
    {
        app::CaptureDialog *asked = ask(model("nan_cases/n09_masked_row/model.pt2"));
        QVERIFY(asked != nullptr);
        const int before = asked->height();
        for (const char *const name : {"Input x, float32[3,4]", "Input mask, bool[3,3]"})
            named<QLineEdit>(*asked, QString::fromLatin1(name))->setText(QStringLiteral("nonsense"));
        const auto *area = named<QScrollArea>(*asked, QStringLiteral("How the model is run"));
        const int room = asked->screen()->availableGeometry().height() * 9 / 10 - 24;
        QTRY_VERIFY(area->viewport()->height() >= area->widget()->height() || asked->height() >= room);
        QVERIFY(asked->height() >= before);
        QVERIFY(support::widgetTexts(*asked).contains(
            QStringLiteral("An input does not fit: what is wrong stands below it.")));
    }

    // What has no spelling on one line is sent to the file that has one.
    void wordsAreGivenInTheFile()
    {
        app::InputForm form(*m_theme, nullptr);
        app::ModelFacts facts;
        facts.inputs = {{QStringLiteral("mode"), QStringLiteral("str"), {}, false, true}};
        form.setFacts(facts);
        form.setInputs({{"mode", "abc"}}, {});
        QVERIFY2(form.problem().contains("type str are given in the file that names all inputs"),
                 qPrintable(form.problem()));
        QVERIFY(form.saysProblem());
    }

    // A helper looks at forward passes; the names of a backward pass are those of one model.
    void aBackwardPassStaysWithItsModel()
    {
        core::CaptureRequest request;
        request.backward = core::BackwardRequest();
        request.backward->rule = "sum";
        request.backward->inputGradients = {"x"};
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt2"), QStringLiteral("check_determinism"));
        QVERIFY(asked != nullptr);
        QVERIFY(asked->findChild<app::BackwardForm *>()->isHidden());
        asked->setRequest(request);
        QVERIFY(!asked->request().backward);
        // The other rows are as high as ever.
        for (const char *const name : {"Largest saved tensor", "Threads", "Memory limit"}) {
            const auto *field = named<QSpinBox>(*asked, QString::fromLatin1(name));
            QTRY_VERIFY2(field->height() >= field->minimumSizeHint().height(), name);
        }
        asked->close();
        asked = ask(model("models/mlp/model.pt2"));
        QVERIFY(asked != nullptr);
        QVERIFY(!asked->findChild<app::BackwardForm *>()->isHidden());
        asked->setRequest(request);
        QVERIFY(asked->request().backward.has_value());
        asked->setModel(model("models/cnn/model.pt2"));
        QVERIFY(!asked->request().backward);
    }

    // Names, types, fields and file buttons stand in columns, those of the file for all among them.
    void theButtonsOfTheInputsStandBelowEachOther()
    {
        app::CaptureDialog *asked = ask(model("models/mlp/model.pt"));
        QVERIFY(asked != nullptr);
        const auto right = [&](const QString &name) {
            const auto *found = named<QAbstractButton>(*asked, name);
            return found == nullptr ? -1 : found->mapTo(asked, QPoint(found->width(), 0)).x();
        };
        QVERIFY(right("Choose a file: x") > 0);
        QTRY_COMPARE(right("Choose a file: x"), right("Choose a file: all inputs"));
    }
};

QTEST_MAIN(TestRunWindow)
#include "tst_run_window.moc"
