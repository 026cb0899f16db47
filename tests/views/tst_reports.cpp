// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/trace_text.h"
#include "tests/support/widget_texts.h"
#include "views/base/filter_line.h"
#include "views/base/table_view.h"
#include "views/reports/option_form.h"
#include "views/reports/report_card.h"
#include "views/reports/report_facts.h"
#include "views/reports/report_table.h"
#include "views/reports/reports_pane.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using tests::opNamed;
using views::OpItem;
using views::ReportState;
using views::TraceSelection;

namespace {

const char *const kText = "input x:f32[2,3]=1,2,3,4,5,6\n"
                          "read param fc.weight:f32[3]=1,2,3\n"
                          "softmax x dim=1 -> s:f32[2,3]=1,nan,0,1,0,0 @model.py:14 in h.attn\n"
                          "relu s -> r:f32[2,3]=1,nan,0,1,0,0 @model.py:20 in h\n"
                          "sum r -> t:f32[]=nan @step.py:3\n"
                          "output t\n";

core::Report answer(const char *name, const std::shared_ptr<const core::Trace> &trace,
                    const core::Value &options = core::Value::object())
{
    core::ReportRequest request;
    request.trace = trace;
    request.options = options;
    const auto report = core::runReport(*core::findReport(name), request, core::JobContext());
    return report ? *report : core::Report();
}

// A board of all reports, none of which ran.
views::ReportBoard freshBoard(const core::Trace &trace)
{
    views::ReportBoard board;
    board.document = 1;
    for (const core::ReportDefinition &definition : core::reportDefinitions()) {
        views::ReportEntry entry;
        entry.definition = &definition;
        entry.reason = views::whyNotApplicable(definition, trace);
        entry.state = entry.reason.isEmpty() ? ReportState::notRun : ReportState::notApplicable;
        board.entries.push_back(entry);
    }
    return board;
}

views::ReportEntry &entryOf(views::ReportBoard &board, const QString &name)
{
    for (views::ReportEntry &entry : board.entries)
        if (entry.name() == name)
            return entry;
    qFatal("no report %s", qPrintable(name));
}

bool shows(const QWidget &widget, const QString &part)
{
    return !support::widgetTexts(widget).filter(part).isEmpty();
}

QAbstractButton *buttonNamed(const QWidget &widget, const QString &name)
{
    for (QAbstractButton *button : widget.findChildren<QAbstractButton *>())
        if ((button->accessibleName() == name || button->text() == name) && button->isVisible())
            return button;
    return nullptr;
}

} // namespace

// The pane of the reports: which there are, how one is asked for, what its card says.
class TestReports : public QObject
{
    Q_OBJECT

private:
    views::Theme m_theme;
    std::unique_ptr<TraceSelection> m_selection;
    std::shared_ptr<const core::Trace> m_trace;
    std::unique_ptr<views::ReportsPane> m_pane;
    views::ReportBoard m_board;

    void give() { m_pane->setBoard(std::make_shared<const views::ReportBoard>(m_board)); }
    void done(const QString &name, const core::Value &options = core::Value::object())
    {
        views::ReportEntry &entry = entryOf(m_board, name);
        entry.options = options;
        entry.report =
            std::make_shared<const core::Report>(answer(name.toUtf8().constData(), m_trace, options));
        entry.state = ReportState::done;
        give();
    }
    int listRow(const QString &name) const
    {
        for (int row = 0; row < m_pane->list().model()->rowCount(); ++row)
            if (m_pane->list().model()->index(row, 0).data().toString() == name)
                return row;
        return -1;
    }
    QString stateOf(const QString &name) const
    {
        return m_pane->list().model()->index(listRow(name), 1).data().toString();
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }
    void init()
    {
        m_selection = std::make_unique<TraceSelection>();
        m_trace = tests::traceFromText(kText);
        m_pane = std::make_unique<views::ReportsPane>(views::PaneContext{m_theme, *m_selection});
        m_pane->resize(1100, 500);
        m_pane->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_pane.get()));
        m_selection->setTrace(m_trace);
        m_board = freshBoard(*m_trace);
        give();
    }
    void cleanup() { m_pane.reset(); }

    void listsEveryReportWithItsState()
    {
        QAbstractItemModelTester tester(m_pane->list().model(),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(m_pane->list().model()->rowCount(), static_cast<int>(core::reportDefinitions().size()));
        QCOMPARE(stateOf("dtype_range"), QString("not run"));
        QCOMPARE(stateOf("grad_health"), QString("not applicable: no backward pass in this trace"));
        entryOf(m_board, "dtype_range").state = ReportState::running;
        give();
        QCOMPARE(stateOf("dtype_range"), QString("running"));
        done("find_nan");
        QCOMPARE(stateOf("find_nan"), QString("1 finding"));
        done("hot_path");
        QVERIFY2(stateOf("hot_path").endsWith("rows"), qPrintable(stateOf("hot_path")));
        done("lineage");
        QCOMPARE(stateOf("lineage"), QString("unavailable"));
    }

    void emptyWithoutATrace()
    {
        m_selection->setTrace(nullptr);
        m_pane->setBoard(nullptr);
        QCOMPARE(m_pane->list().model()->rowCount(), 0);
        QVERIFY(shows(*m_pane, "Open a trace"));
        QVERIFY(buttonNamed(*m_pane, "Run") == nullptr);
    }

    void aClickChoosesAndTheButtonRuns()
    {
        QSignalSpy wished(m_pane.get(), &views::ReportsPane::runWished);
        const QRect cell =
            m_pane->list().visualRect(m_pane->list().model()->index(listRow("dtype_range"), 0));
        QTest::mouseClick(m_pane->list().viewport(), Qt::LeftButton, {}, cell.center());
        QCOMPARE(m_pane->chosen(), QString("dtype_range"));
        QTest::mouseClick(buttonNamed(*m_pane, "Run"), Qt::LeftButton);
        QCOMPARE(wished.count(), 1);
        const auto wish = wished[0][0].value<views::ReportWish>();
        QCOMPARE(wish.name, QString("dtype_range"));
        QCOMPARE(wish.options, core::Value::object());
    }

    void enterInTheListRunsAndControlReturnToo()
    {
        QSignalSpy wished(m_pane.get(), &views::ReportsPane::runWished);
        m_pane->list().setFocus();
        m_pane->choose("find_nan");
        QTest::keyClick(&m_pane->list(), Qt::Key_Return);
        QCOMPARE(wished.count(), 1);
        QTest::keyClick(&m_pane->list(), Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(wished.count() >= 1);
    }

    // The rows are the answer of a ranking, also when it was looked at before it ran.
    void aNewAnswerShowsItsRows()
    {
        m_pane->choose("hot_path");
        done("hot_path");
        const auto *findings = buttonNamed(*m_pane, "Findings");
        QVERIFY(findings != nullptr);
        QVERIFY(!findings->isChecked());
    }

    void optionsLeaveRoomForTheAnswer()
    {
        m_pane->resize(1000, 300);
        m_pane->choose("lineage");
        m_pane->showOptions();
        QCoreApplication::processEvents();
        QVERIFY(m_pane->form().field("op_or_label")->hasFocus());
        const auto *card = m_pane->findChild<views::ReportCard *>();
        QVERIFY(card != nullptr);
        QVERIFY2(card->width() >= 220, qPrintable(QString::number(card->width())));
    }

    void aRunningReportCanBeCancelled()
    {
        entryOf(m_board, "dtype_range").state = ReportState::running;
        give();
        m_pane->choose("dtype_range");
        QSignalSpy cancelled(m_pane.get(), &views::ReportsPane::cancelWished);
        QVERIFY(shows(*m_pane, "working"));
        QTest::mouseClick(buttonNamed(*m_pane, "Cancel"), Qt::LeftButton);
        QCOMPARE(cancelled.count(), 1);
        QCOMPARE(cancelled[0][0].toString(), QString("dtype_range"));
    }

    void optionsAreTypedAndReset()
    {
        m_pane->choose("dtype_range");
        QTest::mouseClick(buttonNamed(*m_pane, "Show the options"), Qt::LeftButton);
        auto *field = qobject_cast<QLineEdit *>(m_pane->form().field("max_fraction"));
        QVERIFY(field != nullptr && field->isVisible());
        QCOMPARE(field->text(), QString("0.9"));
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, "half");
        QSignalSpy wished(m_pane.get(), &views::ReportsPane::runWished);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(wished.count(), 0);
        QVERIFY(shows(m_pane->form(), "“half” is no number"));
        field->selectAll();
        QTest::keyClicks(field, "0.5");
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(wished.count(), 1);
        QCOMPARE(wished[0][0].value<views::ReportWish>().options.at("max_fraction").toDouble(), 0.5);
        QVERIFY(!m_pane->form().isAtDefaults());
        QTest::mouseClick(buttonNamed(m_pane->form(), "Reset"), Qt::LeftButton);
        QVERIFY(m_pane->form().isAtDefaults());
        QCOMPARE(field->text(), QString("0.9"));
    }

    void everyOptionKindHasAFieldWithItsDefault()
    {
        for (const core::ReportDefinition &definition : core::reportDefinitions()) {
            views::OptionForm form(m_theme);
            form.setReport(&definition, core::Value::object());
            QVERIFY2(form.isAtDefaults(), definition.name.data());
            const auto options = form.options();
            QVERIFY(options.has_value());
            QCOMPARE(*options, core::Value::object());
            for (const core::ReportOption &option : definition.options) {
                QVERIFY(form.field(option.name) != nullptr);
                QVERIFY(!form.field(option.name)->accessibleName().isEmpty());
            }
        }
        views::OptionForm form(m_theme);
        form.setReport(core::findReport("grad_health"), core::Value::object());
        form.setText("grad_scales", "{\"1\": 65536}");
        form.setText("basis", "rms");
        form.setText("bwd", "2");
        const auto options = form.options();
        QVERIFY(options.has_value());
        QCOMPARE(options->at("grad_scales").at("1").toInt(), 65536);
        QCOMPARE(options->at("basis").toString(), std::string("rms"));
        QCOMPARE(options->at("bwd").toInt(), 2);
        form.setText("grad_scales", "[1]");
        QVERIFY(!form.options().has_value());
    }

    void lineageTakesTheSelectedOp()
    {
        m_pane->choose("lineage");
        QVERIFY(m_pane->asksFirst());
        m_selection->selectOp(opNamed(*m_trace, "relu"));
        QTest::mouseClick(buttonNamed(*m_pane, "Show the options"), Qt::LeftButton);
        QTest::mouseClick(buttonNamed(m_pane->form(), "Use selected op"), Qt::LeftButton);
        QCOMPARE(qobject_cast<QLineEdit *>(m_pane->form().field("op_or_label"))->text(),
                 QString::fromStdString(std::string(m_trace->publicLabel(m_selection->op()))));
        QVERIFY(!m_pane->asksFirst());
    }

    void rowsSelectTheirOpOnceAndActivate()
    {
        done("dead_neurons");
        m_pane->choose("dead_neurons");
        done("lineage", core::Value::object(
                            {{"op_or_label", std::string(m_trace->label(m_trace->orderedOps().back()))}}));
        m_pane->choose("lineage");
        views::TableView &table = m_pane->table().table();
        QVERIFY(table.model()->rowCount() >= 3);
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        QSignalSpy activated(m_selection.get(), &TraceSelection::activated);
        QSignalSpy source(m_pane.get(), &views::ReportsPane::sourceWished);
        const QModelIndex third = table.model()->index(2, 0);
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(third).center());
        QCOMPARE(changed.count(), 1);
        QCOMPARE(m_selection->op(), m_trace->findLabel(third.data().toString().toStdString()));
        QCOMPARE(table.currentIndex().row(), 2);
        QTest::keyClick(&table, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(source.count(), 1);
        // Selected elsewhere: the row follows and nothing echoes.
        m_selection->selectOp(m_trace->findLabel(table.model()->index(0, 0).data().toString().toStdString()));
        QCOMPARE(changed.count(), 2);
        QCOMPARE(table.currentIndex().row(), 0);
    }

    void theCardHasFiveFindingsAndTheRemainder()
    {
        core::Report report;
        report.reportType = "audit";
        report.status = "findings";
        report.coverage = "all of it";
        report.found = true;
        for (int i = 0; i < 8; ++i) {
            core::ReportFinding finding;
            finding.severity = core::Severity::critical;
            finding.message = "finding number " + std::to_string(i);
            finding.ops = {m_trace->orderedOps()[static_cast<std::size_t>(i % 3)]};
            report.findings.push_back(finding);
        }
        views::ReportEntry &entry = entryOf(m_board, "audit");
        entry.report = std::make_shared<const core::Report>(report);
        entry.state = ReportState::done;
        give();
        m_pane->choose("audit");
        QVERIFY(shows(m_pane->card(), "8 findings"));
        QVERIFY(shows(m_pane->card(), "finding number 4"));
        QVERIFY(!shows(m_pane->card(), "finding number 5"));
        QVERIFY(shows(m_pane->card(), "3 more findings"));
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        QTRY_VERIFY(buttonNamed(m_pane->card(), "finding number 1") != nullptr);
        QTest::mouseClick(buttonNamed(m_pane->card(), "finding number 1"), Qt::LeftButton);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(m_selection->op(), m_trace->orderedOps()[1]);
        QTest::mouseClick(buttonNamed(*m_pane, "Copy the card"), Qt::LeftButton);
        QCOMPARE(QApplication::clipboard()->text(), QString::fromStdString(core::reportCard(report)));
        QCOMPARE(m_pane->table().model().rowCount(), 8);
    }

    void aRefusalSaysWhyAndWhatToDo()
    {
        done("hot_path", core::Value::object({{"by", "device_time"}}));
        m_pane->choose("hot_path");
        QCOMPARE(stateOf("hot_path"), QString("refused"));
        QVERIFY(shows(m_pane->card(), "no device times"));
        QVERIFY(shows(m_pane->card(), "Rank by flops")); // as a sentence
        QVERIFY(shows(m_pane->table(), "the card says why"));
    }

    void comparisonsAskForASecondFile()
    {
        m_pane->choose("compare");
        QVERIFY(!buttonNamed(*m_pane, "Run")->isEnabled());
        QSignalSpy file(m_pane.get(), &views::ReportsPane::fileWished);
        QTest::mouseClick(buttonNamed(*m_pane, "Choose file…"), Qt::LeftButton);
        QCOMPARE(file.count(), 1);
        QCOMPARE(file[0][1].toBool(), false);
        m_board.others = {{"/a/other.opscope", "other.opscope"}};
        give();
        m_pane->otherBox().setFocus();
        QTest::keyClick(&m_pane->otherBox(), Qt::Key_Down);
        QSignalSpy wished(m_pane.get(), &views::ReportsPane::runWished);
        QTest::mouseClick(buttonNamed(*m_pane, "Run"), Qt::LeftButton);
        QCOMPARE(wished.count(), 1);
        QCOMPARE(wished[0][0].value<views::ReportWish>().otherPath, QString("/a/other.opscope"));
    }

    void aHiddenPaneShowsTheBoardWhenItComesBack()
    {
        m_pane->hide();
        done("find_nan");
        QCOMPARE(stateOf("find_nan"), QString("not run"));
        m_pane->show();
        QCOMPARE(stateOf("find_nan"), QString("1 finding"));
    }

    void narrowPanesStackTheirParts()
    {
        m_pane->resize(420, 640);
        QTRY_VERIFY(m_pane->table().mapTo(m_pane.get(), QPoint()).y() >
                    m_pane->list().mapTo(m_pane.get(), QPoint()).y() + m_pane->list().height() - 1);
    }

    void theFilterLineActsOnTheTable()
    {
        done("lineage", core::Value::object(
                            {{"op_or_label", std::string(m_trace->label(m_trace->orderedOps().back()))}}));
        m_pane->choose("lineage");
        const int all = m_pane->table().model().rowCount();
        m_pane->focusFilter();
        QTest::keyClicks(m_pane->focusWidget(), "op:softmax*");
        QCOMPARE(m_pane->table().model().rowCount(), 1);
        QVERIFY(shows(*m_pane, QString("1 of %1").arg(all)));
        QTest::keyClick(m_pane->focusWidget(), Qt::Key_Escape);
        QCOMPARE(m_pane->table().model().rowCount(), all);
        m_pane->table().filterLine().setText("nosuch:1");
        QVERIFY(shows(*m_pane, "no column is called “nosuch”"));
        QCOMPARE(m_pane->table().model().rowCount(), all);
    }

    // A verdict is clean only where it says so.
    void onlyCleanVerdictsLookClean()
    {
        for (const char *const status :
             {"differ", "nondeterminism_observed", "inconclusive", "multi_input_required", "counted",
              "budget_exhausted", "clean_among_checked", "a word of tomorrow"}) {
            core::Report report;
            report.status = status;
            QVERIFY2(views::answerWords(report).tone != core::ColorToken::ok, status);
        }
        for (const char *const status : {"ok", "clean", "match", "agree", "repeatable_under_test"}) {
            core::Report report;
            report.status = status;
            QCOMPARE(views::answerWords(report).tone, core::ColorToken::ok);
        }
    }

    // A dock at the bottom of a small window has room for more than a row or two.
    void aLowPaneHasItsCardBesideTheTable()
    {
        done("find_nan");
        m_pane->choose("find_nan");
        m_pane->resize(1000, 230);
        QCoreApplication::processEvents();
        const QWidget &card = *m_pane->findChild<views::ReportCard *>();
        const QWidget &table = m_pane->table();
        const QPoint at = table.mapTo(m_pane.get(), QPoint());
        QVERIFY(at.x() >= card.mapTo(m_pane.get(), QPoint(card.width() / 2, 0)).x());
        QTRY_VERIFY2(m_pane->table().table().viewport()->height() >= 3 * 24,
                     qPrintable(QString("%1 in %2 in %3")
                                    .arg(m_pane->table().table().viewport()->height())
                                    .arg(table.height())
                                    .arg(m_pane->height())));
        m_pane->resize(1000, 700);
        QCoreApplication::processEvents();
        QVERIFY(table.mapTo(m_pane.get(), QPoint()).y() > card.mapTo(m_pane.get(), QPoint()).y());
    }
};

QTEST_MAIN(TestReports)
#include "tst_reports.moc"
