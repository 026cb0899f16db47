// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions.h"
#include "app/dialogs/table_file.h"
#include "app/dock_layout.h"
#include "core/analysis/grad_fn_walk.h"
#include "tests/support/window_fixture.h"
#include "views/base/table_view.h"
#include "views/canvas/picture_view.h"
#include "views/gradfn/grad_fn_pane.h"
#include "views/lineage/lineage_pane.h"
#include "views/reports/option_form.h"
#include "views/reports/report_table.h"
#include "views/reports/reports_pane.h"

#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QHeaderView>
#include <QTest>

#include <array>

using app::PaneKind;
using views::ReportState;

// The reports and the pictures in the window, on real bundles.
class TestReportsWindow : public QObject, protected support::WindowFixture
{
    Q_OBJECT

private:
    views::ReportEntry entry(const QString &name) const { return *m_session->reports().board()->find(name); }
    views::ReportsPane *pane() const
    {
        return qobject_cast<views::ReportsPane *>(m_window->docks().pane(PaneKind::reports));
    }
    QAction *action(const QString &report) const
    {
        for (QAction *each : m_window->actions().reports)
            if (each->data().toString() == report)
                return each;
        return nullptr;
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }
    void init() { QVERIFY(makeFirstWindow({1600, 1000})); }
    void cleanup() { dropWindow(); }

    void theAuditRunsByItself()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        QCOMPARE(entry("audit").state, ReportState::done);
        // One answer for the dock, the audit pane and the findings.
        QCOMPARE(entry("audit").report, m_session->current()->facts->audit);
        QVERIFY(entry("audit").report->found);
        QCOMPARE(entry("find_nan").state, ReportState::notRun);
    }

    void everyReportHasAMenuEntry()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        QCOMPARE(m_window->actions().reports.size(), core::reportDefinitions().size());
        action("find_nan")->trigger();
        QCOMPARE(pane()->chosen(), QString("find_nan"));
        QTRY_COMPARE(entry("find_nan").state, ReportState::done);
        QVERIFY(pane()->isVisible());
        QVERIFY(entry("find_nan").report->found);
        const auto all = m_window->actions().all();
        QVERIFY(std::find(all.begin(), all.end(), action("compare")) != all.end());
    }

    // One that needs an op shows the field it waits for.
    void aReportThatWaitsShowsItsOptions()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        action("lineage")->trigger();
        QCOMPARE(pane()->chosen(), QString("lineage"));
        QCOMPARE(entry("lineage").state, ReportState::notRun);
        QVERIFY(pane()->form().isVisible());
        QVERIFY(pane()->form().field("op_or_label")->isVisible());
    }

    void answersAreKept()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        m_session->reports().run({"dtype_range", core::Value::object(), {}});
        QTRY_COMPARE(entry("dtype_range").state, ReportState::done);
        const auto first = entry("dtype_range").report;
        m_session->reports().run({"dtype_range", core::Value::object({{"max_fraction", 0.5}}), {}});
        QTRY_VERIFY(entry("dtype_range").state == ReportState::done && entry("dtype_range").report != first);
        m_session->reports().run({"dtype_range", core::Value::object(), {}});
        QCOMPARE(entry("dtype_range").state, ReportState::done);
        QCOMPARE(entry("dtype_range").report, first);
    }

    void aCancelledReportLeavesWhatWasThere()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        m_session->reports().run({"dead_neurons", core::Value::object(), {}});
        QCOMPARE(entry("dead_neurons").state, ReportState::running);
        m_session->reports().cancel("dead_neurons");
        QCOMPARE(entry("dead_neurons").state, ReportState::notRun);
        m_session->reports().run({"dead_neurons", core::Value::object(), {}});
        QTRY_COMPARE(entry("dead_neurons").state, ReportState::done);
    }

    void comparesWithAFileAndWithAnOpenDocument()
    {
        const QString file = goldenTrace("01_zero_over_zero");
        QVERIFY(open(file));
        m_session->reports().setOther("compare", file);
        QCOMPARE(entry("compare").otherPath, file);
        m_session->reports().run({"compare", core::Value::object(), file});
        QTRY_COMPARE_WITH_TIMEOUT(entry("compare").state, ReportState::done, 20000);
        QCOMPARE(entry("compare").report->error.has_value(), false);
        m_session->reports().run({"compare", core::Value::object(), m_folder.filePath("missing.opscope")});
        QTRY_COMPARE_WITH_TIMEOUT(entry("compare").state, ReportState::failed, 20000);
        QVERIFY(entry("compare").failure.message().find("missing.opscope") != std::string::npos);
    }

    void lineageDockFollowsTheSelectionByTheLayoutWorker()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        m_window->actions().showLineage->trigger();
        auto *lineage = qobject_cast<views::LineagePane *>(m_window->docks().pane(PaneKind::lineage));
        QVERIFY(lineage->isVisible());
        m_session->goToOrigin();
        QTRY_VERIFY_WITH_TIMEOUT(lineage->view().hasPicture(), 20000);
        QCOMPARE(lineage->start(), m_session->selection().op());
        QVERIFY(lineage->view().picture().boxes.size() >= 2);
    }

    void columnsAndChoiceSurviveARestart()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        action("dead_neurons")->trigger();
        QTRY_COMPARE(entry("dead_neurons").state, ReportState::done);
        action("nonfinite_origin")->trigger();
        QTRY_COMPARE(entry("nonfinite_origin").state, ReportState::done);
        views::TableView &table = pane()->table().table();
        QVERIFY(table.model()->columnCount() > 2);
        table.setColumnShown(1, false);
        dropWindow();
        QVERIFY(makeWindow({1600, 1000}));
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        m_window->docks().reveal(PaneKind::reports);
        QCOMPARE(pane()->chosen(), QString("nonfinite_origin"));
        pane()->runChosen();
        QTRY_COMPARE(entry("nonfinite_origin").state, ReportState::done);
        QVERIFY(pane()->table().table().isColumnHidden(1));
    }

    void tablesAreWrittenWholeOrNotAtAll()
    {
        const QString path = m_folder.filePath("rows.csv");
        QVERIFY(app::writeTextFile(path, "op,norm\r\n").isOk());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("op,norm\r\n"));
        const core::Status status = app::writeTextFile(m_folder.filePath("no/such/folder.csv"), "x");
        QVERIFY(!status.isOk());
        QVERIFY(status.message().find("folder.csv") != std::string::npos);
    }

    void anAuditThatDidNotRunSaysWhy()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        const int id = m_session->current()->id;
        m_session->reports().setAudit(id, nullptr,
                                      core::Status(core::ErrorCode::unreadable, "the disk is gone"));
        QCOMPARE(entry("audit").state, ReportState::failed);
        QCOMPARE(entry("audit").failure.message(), std::string("the disk is gone"));
    }

    // Bundles tie nodes to ops and not to tensors: a walk from an op starts there too.
    void gradFnWalksFromTheSelectedOpOfABundle()
    {
        QVERIFY(open(goldenTrace("32_backward_birth_sqrt")));
        QCOMPARE(m_session->current()->facts->verdict, QString("NaN or Inf in the backward pass"));
        m_session->goToOrigin();
        const core::Trace &trace = *m_session->current()->trace;
        const core::OpId op = m_session->selection().op();
        QVERIFY(op.isValid() && trace.label(op).substr(0, 4) == "sqrt");
        const auto sketch = core::walkGradFn(trace, std::array{op}, 400);
        QVERIFY2(sketch.isOk(), sketch.isOk() ? "" : sketch.error().message().c_str());
        QVERIFY(sketch->nodes.size() > 2);
        QCOMPARE(sketch->nodes[0].op, op);
        QCOMPARE(sketch->nodes[1].name, std::string("SqrtBackward0"));
        m_window->actions().showGradFn->trigger();
        auto *pane = qobject_cast<views::GradFnPane *>(m_window->docks().pane(PaneKind::gradFn));
        pane->setStartsAtSelection(true);
        QTRY_VERIFY_WITH_TIMEOUT(pane->view().hasPicture(), 20000);
        QCOMPARE(pane->view().picture().boxes.size(), sketch->nodes.size());
    }

    void closingADocumentTakesItsReports()
    {
        QVERIFY(open(goldenTrace("01_zero_over_zero")));
        QVERIFY(m_session->reports().board() != nullptr);
        m_session->close(0);
        QVERIFY(m_session->reports().board() == nullptr);
    }
};

QTEST_MAIN(TestReportsWindow)
#include "tst_reports_window.moc"
