// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/trace_text.h"
#include "tests/support/widget_texts.h"
#include "views/audit/audit_pane.h"
#include "views/base/filter_line.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"
#include "views/base/trace_facts.h"
#include "views/details/details_pane.h"
#include "views/findings/findings_pane.h"
#include "views/log/log_pane.h"
#include "views/modules/modules_pane.h"
#include "views/ops/ops_pane.h"
#include "views/source/code_view.h"
#include "views/source/source_pane.h"
#include "views/tensor/histogram_plot.h"
#include "views/tensor/tensor_pane.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QFontMetrics>
#include <QLabel>
#include <QListWidget>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTreeView>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

using tests::opNamed;
using views::OpItem;
using views::TraceSelection;

namespace {

const char *const kText = "input x:f32[2,3]=1,2,3,4,5,6\n"
                          "read param fc.weight:f32[3]=1,2,3\n"
                          "softmax x dim=1 -> s:f32[2,3]=1,nan,0,1,0,0 !stats @model.py:14 in h.attn\n"
                          "relu s -> r:f16[2,3]=1,nan,0,1,0,0 !stats @model.py:20 in h\n"
                          "sum r -> t:f32[]=3 !stats @step.py:3\n"
                          "output t\n";

const char *const kCleanText = "input x:f32[2]=1,2\n"
                               "relu x -> r:f32[2]=1,2 @model.py:20 in h\n"
                               "output r\n";

bool shows(const QWidget &widget, const QString &part)
{
    return !support::widgetTexts(widget).filter(part).isEmpty();
}

} // namespace

// Every pane: empty, trace set, a selection arrives (visible effect and no selection signal), a gesture
// (exactly one signal), hidden (works only when shown).
class TestPanes : public QObject
{
    Q_OBJECT

private:
    views::Theme m_theme;
    std::unique_ptr<TraceSelection> m_selection;
    std::shared_ptr<const core::Trace> m_trace;

    views::PaneContext context() { return {m_theme, *m_selection}; }
    std::shared_ptr<const views::TraceFacts> facts()
    {
        auto made = views::makeTraceFacts(m_trace, core::JobContext());
        return made ? *made : nullptr;
    }
    void setTrace(const char *text)
    {
        m_trace = tests::traceFromText(text);
        m_selection->setTrace(m_trace);
    }
    void show(QWidget &widget)
    {
        widget.resize(480, 700);
        widget.show();
        QVERIFY(QTest::qWaitForWindowExposed(&widget));
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }
    void init()
    {
        m_selection = std::make_unique<TraceSelection>();
        m_trace.reset();
    }

    void opsFiveCases()
    {
        views::OpsPane pane(context());
        QAbstractItemModelTester tester(const_cast<views::TableModel *>(&pane.model()),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        show(pane);
        QCOMPARE(pane.model().rowCount(), 0);
        setTrace(kText);
        QCOMPARE(pane.model().rowCount(), static_cast<int>(m_trace->orderedOps().size()));
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        m_selection->selectOp(opNamed(*m_trace, "relu"));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(pane.table().selectionModel()->selectedRows().size(), 1);
        const int row = pane.table().currentIndex().row();
        QTest::mouseClick(pane.table().viewport(), Qt::LeftButton, {},
                          pane.table().visualRect(pane.model().index(row - 1, 1)).center());
        QCOMPARE(changed.count(), 2);
        QCOMPARE(m_selection->op(), opNamed(*m_trace, "softmax"));
        pane.filterLine().setText("kind:relu");
        QCOMPARE(pane.model().rowCount(), 1);
        QCOMPARE(changed.count(), 2);
    }

    // Inputs, buffers and results have rows in the table and are no ops.
    void opsAreCountedWithoutWhatSurroundsThem()
    {
        setTrace(kText);
        views::OpsPane pane(context());
        show(pane);
        QCOMPARE(pane.subtitle(), QStringLiteral("4 ops, 1 input, 1 output"));
        const views::TraceCoverage coverage = views::coverageOf(*m_trace);
        QCOMPARE(coverage.ops, 4U);
        QCOMPARE(coverage.opsWithLine, 3U);
        QCOMPARE(coverage.outputs, 3U);
        QCOMPARE(views::lastStep(*m_trace), 4U);
    }

    void aModuleStandsForItsFirstOp()
    {
        setTrace("input x:f32[2]=1,2\nbufferrow b:f32[2]=1,2 in h.0\nrelu x -> r:f32[2]=1,2 in h.0\n"
                 "output r\n");
        for (std::size_t i = 0; i < m_trace->modules().size(); ++i) {
            m_selection->select(views::ModuleItem{core::ModuleId(i)});
            QCOMPARE(m_selection->op(), opNamed(*m_trace, "relu"));
        }
    }

    void modulesStandAsTheyRan()
    {
        views::ModulesPane pane(context());
        show(pane);
        setTrace("input x:f32[2]=1,2\nrelu x -> a:f32[2]=1,2 in h.2\nrelu a -> b:f32[2]=1,2 in h.10\n"
                 "relu b -> c:f32[2]=1,2 in h.1\noutput c\n");
        const QAbstractItemModel *model = pane.findChild<QTreeView *>()->model();
        const QModelIndex h = model->index(0, 0, model->index(0, 0));
        QStringList names;
        for (int row = 0; row < model->rowCount(h); ++row)
            names.push_back(model->index(row, 0, h).data().toString());
        QCOMPARE(names, (QStringList{"2", "10", "1"}));
    }

    // Nothing unchecked looks clean.
    void nothingCheckedDoesNotLookClean_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("no op") << "input x:f32[2]=1,2\noutput x\n";
        QTest::newRow("nothing saved") << "input x:f32[2]=1,2\nrelu x -> r:f32[2]\noutput r\n";
    }
    void nothingCheckedDoesNotLookClean()
    {
        QFETCH(const QString, text);
        setTrace(text.toUtf8().constData());
        QCOMPARE(facts()->verdict, QStringLiteral("Nothing was checked"));
        views::AuditPane pane(context());
        pane.setFacts(facts());
        show(pane);
        bool warns = false;
        for (const QWidget *card : pane.findChildren<QWidget *>())
            warns = warns || card->property("card").toString() == QLatin1String("warn");
        QVERIFY(warns);
        QVERIFY(!shows(pane, "is finite"));
    }

    // A number whose first digits are out of sight would be read as another one.
    void cellsHaveRoomForTheirNumbers_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<std::uint64_t>("bits");
        QTest::newRow("complex") << "input x:c64[2]=1" << std::uint64_t(0x449a51ecc49a51ecU);
        QTest::newRow("whole numbers") << "input x:i64[2]=-9223372036854775807,1" << ~std::uint64_t(0) / 2;
        QTest::newRow("small") << "input x:f64[2]=-1.23456789e-38,1" << std::uint64_t(0xb7f0cd00deadbeefU);
    }
    void cellsHaveRoomForTheirNumbers()
    {
        QFETCH(const QString, text);
        QFETCH(const std::uint64_t, bits);
        setTrace((text + "\noutput x\n").toUtf8().constData());
        views::TensorPane pane(context());
        show(pane);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        const core::TensorId tensor = pane.tensor();
        pane.setSummary(tensor, views::summarizeTensor(*m_trace, tensor, core::JobContext()));
        views::Tile tile{0, 0, 2, 1, 8, std::vector<std::byte>(16)};
        std::memcpy(tile.bytes.data(), &bits, sizeof(bits));
        pane.setTile(pane.tensor(), pane.slices().slice(), tile);
        const QString shown = pane.slices().index(0, 0).data().toString();
        QVERIFY2(shown.size() > 8, qPrintable(shown));
        const QFontMetrics metrics(m_theme.font(views::FontRole::monoCaption));
        QVERIFY2(pane.grid().columnWidth(0) >= metrics.horizontalAdvance(shown) + 9, qPrintable(shown));
    }

    void complexCellsHaveOneSign()
    {
        const float parts[] = {1.0F, std::numeric_limits<float>::infinity(), 2.0F, std::nanf("")};
        setTrace("input x:c64[2]=1\noutput x\n");
        views::TensorPane pane(context());
        show(pane);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        views::Tile tile{0, 0, 2, 1, 8, std::vector<std::byte>(sizeof(parts))};
        std::memcpy(tile.bytes.data(), parts, sizeof(parts));
        pane.setTile(pane.tensor(), pane.slices().slice(), tile);
        QCOMPARE(pane.slices().index(0, 0).data().toString(), QStringLiteral("1+Infi"));
        QCOMPARE(pane.slices().index(1, 0).data().toString(), QStringLiteral("2+NaNi"));
    }

    // Selecting a tensor of many dimensions must not push the other panes aside.
    void manyDimensionsDoNotWidenThePane()
    {
        setTrace("input x:f32[2,2,2,2,2,2,3]=1\noutput x\n");
        views::TensorPane pane(context());
        show(pane);
        const int before = pane.minimumSizeHint().width();
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        QCoreApplication::processEvents();
        QVERIFY2(pane.minimumSizeHint().width() <= std::max(before, 440),
                 qPrintable(QString::number(pane.minimumSizeHint().width())));
    }

    void severalRowsMakeARange()
    {
        views::OpsPane pane(context());
        show(pane);
        setTrace(kText);
        pane.table().selectRow(1);
        QTest::keyClick(&pane.table(), Qt::Key_Down, Qt::ShiftModifier);
        QVERIFY(std::holds_alternative<views::RangeItem>(m_selection->item()));
    }

    void hiddenPanesWaitUntilShown()
    {
        views::OpsPane pane(context());
        setTrace(kText);
        m_selection->selectOp(opNamed(*m_trace, "relu"));
        QCOMPARE(pane.model().rowCount(), 0);
        show(pane);
        QCOMPARE(pane.model().rowCount(), static_cast<int>(m_trace->orderedOps().size()));
        QCOMPARE(pane.table().selectionModel()->selectedRows().size(), 1);
    }

    void pinnedPaneKeepsItsItem()
    {
        views::DetailsPane pane(context());
        show(pane);
        setTrace(kText);
        m_selection->selectOp(opNamed(*m_trace, "softmax"));
        pane.setPinned(true);
        for (int i = 0; i < 10; ++i)
            m_selection->selectOp(opNamed(*m_trace, i % 2 == 0 ? "relu" : "sum"));
        QCOMPARE(views::opOf(*m_trace, pane.item()), opNamed(*m_trace, "softmax"));
        QVERIFY(shows(pane, "softmax"));
        pane.setPinned(false);
        QCOMPARE(views::opOf(*m_trace, pane.item()), m_selection->op());
    }

    void modulesFiveCases()
    {
        views::ModulesPane pane(context());
        QAbstractItemModelTester tester(const_cast<views::ModuleTreeModel *>(&pane.model()),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        show(pane);
        QCOMPARE(pane.model().rowCount(), 0);
        setTrace(kText);
        QVERIFY(pane.model().rowCount() >= 1);
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        m_selection->selectOp(opNamed(*m_trace, "softmax"));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(pane.tree().currentIndex().data().toString(), QStringLiteral("attn"));
        QCOMPARE(pane.tree().currentIndex().data(views::ModuleTreeModel::kNanRole).toUInt(), 1U);
        pane.tree().setFocus();
        QTest::keyClick(&pane.tree(), Qt::Key_Up);
        QCOMPARE(changed.count(), 2);
        QVERIFY(std::holds_alternative<views::ModuleItem>(m_selection->item()));
    }

    void detailsFiveCases()
    {
        views::DetailsPane pane(context());
        show(pane);
        QVERIFY(shows(pane, "No trace"));
        setTrace(kText);
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        m_selection->selectOp(opNamed(*m_trace, "relu"));
        QCOMPARE(changed.count(), 1);
        QVERIFY(shows(pane, "relu"));
        QVERIFY(shows(pane, "model.py:20"));
        for (QAbstractButton *button : pane.findChildren<QAbstractButton *>())
            if (button->text().startsWith("sum")) {
                button->click();
                break;
            }
        QCOMPARE(changed.count(), 2);
        QCOMPARE(m_selection->op(), opNamed(*m_trace, "sum"));
    }

    void findingsFiveCases()
    {
        views::FindingsPane pane(context());
        show(pane);
        setTrace(kText);
        pane.setFacts(facts());
        QVERIFY(pane.model().rowCount() >= 1);
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        pane.table().selectRow(0);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(m_selection->op(), opNamed(*m_trace, "softmax"));
        m_selection->selectOp(opNamed(*m_trace, "sum"));
        QCOMPARE(changed.count(), 2);
    }

    void zeroFindingsSayWhatWasNotChecked()
    {
        views::FindingsPane pane(context());
        show(pane);
        setTrace(kCleanText);
        pane.setFacts(facts());
        QCOMPARE(pane.model().rowCount(), 0);
        QVERIFY(shows(pane, "CHECKED"));
        QVERIFY(shows(pane, "NOT CHECKED"));
        QVERIFY(shows(pane, "grad_health"));
        QVERIFY(pane.minimumSizeHint().height() < 200); // fits a small window, the lists scroll
    }

    void auditNamesTheVerdict()
    {
        views::AuditPane pane(context());
        show(pane);
        QVERIFY(shows(pane, "No trace"));
        setTrace(kText);
        QVERIFY(shows(pane, "Looking for NaN"));
        pane.setFacts(facts());
        QVERIFY(shows(pane, "NaN"));
        QSignalSpy hunt(&pane, &views::AuditPane::huntRequested);
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        for (QAbstractButton *button : pane.findChildren<QAbstractButton *>())
            if (button->text() == QStringLiteral("Open NaN hunt"))
                button->click();
        QCOMPARE(hunt.count(), 1);
        QCOMPARE(changed.count(), 1);
    }

    // A run that was stopped before its first op shows no clean checks.
    void withoutAnOpNothingIsCalledClean()
    {
        views::AuditPane audit(context());
        views::FindingsPane findings(context());
        show(audit);
        show(findings);
        // A row tells its value by its accessible name.
        const auto tells = [](const QWidget &pane, const QString &part) {
            const auto rows = pane.findChildren<QAbstractButton *>();
            return std::any_of(rows.begin(), rows.end(), [&](const QAbstractButton *row) {
                return row->accessibleName().contains(part);
            });
        };
        setTrace("status cancelled\ninput x:f32[2]=1,2\n");
        audit.setFacts(facts());
        findings.setFacts(facts());
        QVERIFY(tells(audit, "had nothing to look at"));
        QVERIFY(!tells(audit, "0 births"));
        QVERIFY(!tells(audit, "no further finding"));
        QVERIFY(shows(findings, "There was no value to look at."));
        QVERIFY(!tells(findings, "0 NaN"));
        QVERIFY(shows(findings, "NOT CHECKED"));
        setTrace(kCleanText);
        audit.setFacts(facts());
        QVERIFY(tells(audit, "0 births"));
        QVERIFY(!tells(audit, "had nothing to look at"));
    }

    void sourceFiveCases()
    {
        views::SourcePane pane(context());
        show(pane);
        QSignalSpy wanted(&pane, &views::SourcePane::textRequested);
        setTrace(kText);
        QCOMPARE(wanted.count(), 0);
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        m_selection->selectOp(opNamed(*m_trace, "softmax"));
        QCOMPARE(wanted.count(), 1);
        QVERIFY(pane.frames().count() >= 1);
        views::SourceText text;
        text.text = QString("x = 1\n").repeated(30);
        text.note = "from disk";
        pane.setText(m_selection->line()->file, text);
        QVERIFY(pane.code().markersAtLine(13) != 0);
        QVERIFY(shows(pane, "from disk"));
        QCOMPARE(changed.count(), 1);
        Q_EMIT pane.code().linePicked(20);
        QCOMPARE(changed.count(), 2);
        QCOMPARE(m_selection->op(), opNamed(*m_trace, "relu"));
    }

    void logShowsTheNotes()
    {
        views::LogPane pane(context());
        show(pane);
        QVERIFY(pane.text().contains("nothing to say") || pane.text().contains("Neither"));
        pane.append("opened");
        QVERIFY(pane.text().contains("opened"));
        setTrace(kText);
        QVERIFY(pane.text().contains("opened"));
    }

    void tensorShowsBinsBesideTheAxis()
    {
        setTrace("input x:f32[2,4]=1,nan,inf,-inf,0,0,2,3\noutput x\n");
        const core::TensorId tensor = m_trace->op(m_trace->orderedOps()[0]).tensor;
        views::TensorPane pane(context());
        show(pane);
        QSignalSpy wanted(&pane, &views::TensorPane::summaryRequested);
        QSignalSpy tiles(&pane, &views::TensorPane::tileRequested);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        QCOMPARE(wanted.count(), 1);
        QTRY_VERIFY(tiles.count() >= 1);
        pane.setSummary(tensor, views::summarizeTensor(*m_trace, tensor, core::JobContext()));
        QCOMPARE(pane.histogram().sideCounts(), (std::vector<std::uint64_t>{1, 1, 1, 2}));
        QVERIFY(pane.histogram().hasFiniteBars());
        pane.setTile(tensor, pane.slices().slice(),
                     views::readTile(*m_trace, tensor, pane.slices().slice(), 0, 0, core::JobContext()));
        QCOMPARE(pane.slices().index(0, 1).data().toString(), QStringLiteral("NaN"));
        QCOMPARE(pane.slices().index(0, 3).data().toString(), QStringLiteral("−Inf"));
        QVERIFY(pane.slices().exactText(0, 0).contains("0x3f800000"));
        QSignalSpy changed(m_selection.get(), &TraceSelection::changed);
        pane.grid().setCurrentIndex(pane.slices().index(1, 2));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(std::get<views::ElementItem>(m_selection->item()).index, 6U);
        QSignalSpy bad(&pane, &views::TensorPane::badElementRequested);
        pane.stepBadElement(1);
        QCOMPARE(bad.count(), 1);
        pane.showBadElement(tensor, views::findBadElement(*m_trace, tensor, 6, 1, core::JobContext()));
        QCOMPARE(std::get<views::ElementItem>(m_selection->item()).index, 1U);
        QCOMPARE(pane.grid().currentIndex().column(), 1);
    }

    void tensorKindsAreSensible_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("rows");
        QTest::addColumn<bool>("finite");
        QTest::newRow("all NaN") << "input x:f32[3]=nan" << 3 << false;
        QTest::newRow("scalar") << "input x:f32[]=2.5" << 1 << true;
        QTest::newRow("boolean") << "input x:b8[2,2]=1,0,1,1" << 2 << true;
        QTest::newRow("integers") << "input x:i64[4]=1,2,3,400" << 4 << true;
        QTest::newRow("rank four") << "input x:f16[2,3,4,5]=1,2" << 4 << true;
    }
    void tensorKindsAreSensible()
    {
        QFETCH(QString, text);
        QFETCH(int, rows);
        QFETCH(bool, finite);
        setTrace((text + "\noutput x\n").toUtf8().constData());
        views::TensorPane pane(context());
        show(pane);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        const core::TensorId tensor = pane.tensor();
        QVERIFY(tensor.isValid());
        pane.setSummary(tensor, views::summarizeTensor(*m_trace, tensor, core::JobContext()));
        QCOMPARE(pane.slices().rowCount(), rows);
        QCOMPARE(pane.histogram().hasFiniteBars(), finite);
    }

    void emptyAndUnsavedTensorsSayWhy()
    {
        setTrace("input x:f32[0,3]=1\ninput y:f32[2,3]\noutput x\noutput y\n");
        views::TensorPane pane(context());
        show(pane);
        QSignalSpy wanted(&pane, &views::TensorPane::summaryRequested);
        const auto inputOfRows = [this](std::int64_t rows) {
            for (const core::OpId op : m_trace->orderedOps())
                if (m_trace->op(op).tensor.isValid() && m_trace->shape(m_trace->op(op).tensor)[0] == rows)
                    return op;
            return core::OpId();
        };
        m_selection->select(OpItem{inputOfRows(0)});
        QVERIFY2(pane.noteText().contains("no element"), qPrintable(pane.noteText()));
        m_selection->select(OpItem{inputOfRows(2)});
        QVERIFY2(pane.noteText().contains("not saved"), qPrintable(pane.noteText()));
        QCOMPARE(wanted.count(), 0);
    }

    // Every digit of a whole number, also where a double has none left.
    void wholeNumbersAreExact()
    {
        const auto shown = [this](const char *text, std::uint64_t bits) {
            setTrace(text);
            views::TensorPane pane(context());
            show(pane);
            m_selection->select(OpItem{m_trace->orderedOps()[0]});
            views::Tile tile{0, 0, 1, 1, sizeof(bits), std::vector<std::byte>(sizeof(bits))};
            std::memcpy(tile.bytes.data(), &bits, sizeof(bits));
            pane.setTile(pane.tensor(), pane.slices().slice(), tile);
            return pane.slices().index(0, 0).data().toString();
        };
        QCOMPARE(shown("input x:i64[1]=1\noutput x\n", 9007199254740993ULL),
                 QStringLiteral("9007199254740993"));
        QCOMPARE(shown("input x:i64[1]=1\noutput x\n", 0x8000000000000001ULL),
                 QStringLiteral("-9223372036854775807"));
        QCOMPARE(shown("input x:u64[1]=1\noutput x\n", 0xffffffffffffffffULL),
                 QStringLiteral("18446744073709551615"));
    }

    // Of a complex element either part may be NaN.
    void aComplexCellIsBadByEitherPart()
    {
        setTrace("input x:c64[4]=1\noutput x\n");
        views::TensorPane pane(context());
        show(pane);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        const float inf = std::numeric_limits<float>::infinity();
        const float values[] = {3.0F, 4.0F, 1.0F, std::nanf(""), inf, std::nanf(""), 1.0F, -inf};
        views::Tile tile{0, 0, 4, 1, 8, std::vector<std::byte>(sizeof(values))};
        std::memcpy(tile.bytes.data(), values, sizeof(values));
        pane.setTile(pane.tensor(), pane.slices().slice(), tile);
        const auto colouredBy = [&](int row) {
            return pane.slices().index(row, 0).data(views::SliceModel::kValueRole).toDouble();
        };
        QCOMPARE(colouredBy(0), 5.0);
        QVERIFY(std::isnan(colouredBy(1)));
        QVERIFY(std::isnan(colouredBy(2)));
        QVERIFY(std::isinf(colouredBy(3)));
    }

    // A grid has no place for every row of a very long axis: it says so and moves to what is asked for.
    void longAxesAreAWindow()
    {
        setTrace("input x:f32[2500000]=0\noutput x\n");
        views::TensorPane pane(context());
        show(pane);
        QSignalSpy tiles(&pane, &views::TensorPane::tileRequested);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        QCOMPARE(pane.slices().rowCount(), 1000000);
        QVERIFY(shows(pane, "rows 0 to 999,999 of 2,500,000"));
        const core::TensorId tensor = pane.tensor();
        m_selection->select(views::ElementItem{m_trace->orderedOps()[0], tensor, 2400123});
        const QModelIndex current = pane.grid().currentIndex();
        QVERIFY(current.isValid());
        QCOMPARE(pane.slices().headerData(current.row(), Qt::Vertical, Qt::DisplayRole).toInt(), 2400123);
        QCOMPARE(pane.slices().flatOf(current.row(), 0), 2400123U);
        QVERIFY(!shows(pane, "rows 0 to 999,999"));
        const auto tile = views::readTile(*m_trace, tensor, pane.slices().slice(), 2400123 / 64 * 64, 0,
                                          core::JobContext());
        pane.setTile(tensor, pane.slices().slice(), tile);
        QVERIFY(shows(pane, "0x00000000"));
        // The last row is reached, and the first one again.
        m_selection->select(views::ElementItem{m_trace->orderedOps()[0], tensor, 2499999});
        QCOMPARE(pane.slices().flatOf(pane.grid().currentIndex().row(), 0), 2499999U);
        for (int i = 0; i < 3; ++i)
            for (QAbstractButton *button : pane.findChildren<QAbstractButton *>())
                if (button->text() == QStringLiteral("Earlier"))
                    button->click();
        QCOMPARE(pane.slices().firstRow(), 0);
        QVERIFY(tiles.count() > 1);
    }

    // What cannot be read, or was stopped, is said; nothing waits for ever.
    void unreadValuesSayWhy()
    {
        setTrace(kText);
        views::TensorPane pane(context());
        show(pane);
        m_selection->select(OpItem{m_trace->orderedOps()[0]});
        const core::Status gone(core::ErrorCode::unreadable, "run.opscope is gone");
        const core::Status stopped(core::ErrorCode::cancelled, "reading values was cancelled");
        pane.showBadElement(pane.tensor(), gone);
        QVERIFY(shows(pane, "run.opscope is gone"));
        pane.setTile(pane.tensor(), pane.slices().slice(), stopped);
        QVERIFY2(pane.noteText().contains("stopped"), qPrintable(pane.noteText()));
    }

    // A check that ended early is no clean one: audit, findings and trail say why.
    void missingFactsAreSaidEverywhere()
    {
        views::AuditPane audit(context());
        views::FindingsPane findings(context());
        show(audit);
        show(findings);
        setTrace(kCleanText);
        const auto missing =
            views::missingFacts(*m_trace, core::Status(core::ErrorCode::unreadable, "the disk is gone"));
        audit.setFacts(missing);
        findings.setFacts(missing);
        QVERIFY(shows(audit, "NaN and Inf were not looked for"));
        QVERIFY(shows(audit, "the disk is gone"));
        QVERIFY(!shows(audit, "Looking for NaN"));
        QVERIFY(shows(findings, "the disk is gone"));
        QVERIFY(!shows(findings, "0 NaN"));
    }

    void slicesOfAnyRank()
    {
        const std::vector<std::int64_t> shape = {2, 3, 4, 5};
        views::Slice slice = views::Slice::standard(shape);
        QCOMPARE(slice.rows(shape), 4);
        QCOMPARE(slice.columns(shape), 5);
        const auto [row, column] = slice.moveTo(shape, 119);
        QCOMPARE(row, 3);
        QCOMPARE(column, 4);
        QCOMPARE(slice.flat(shape, row, column), 119U);
        setTrace(
            "input x:f32[2,3,4]=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24\noutput x\n");
        const core::TensorId tensor = m_trace->op(m_trace->orderedOps()[0]).tensor;
        views::Slice turned{0, 1, {0, 0, 2}};
        const auto tile = views::readTile(*m_trace, tensor, turned, 0, 0, core::JobContext());
        QVERIFY(tile.isOk());
        QCOMPARE(tile->rows, 2);
        QCOMPARE(tile->columns, 3);
        float value = 0;
        std::memcpy(&value, tile->bytes.data() + 4 * 4, 4);
        QCOMPARE(value, 19.0F);
    }

    void searchForBadElementsGoesAround()
    {
        setTrace("input x:f32[6]=1,nan,2,inf,3,4\noutput x\n");
        const core::TensorId tensor = m_trace->op(m_trace->orderedOps()[0]).tensor;
        const auto next = [&](std::int64_t from, int direction) {
            return **views::findBadElement(*m_trace, tensor, from, direction, core::JobContext());
        };
        QCOMPARE(next(-1, 1), 1U);
        QCOMPARE(next(1, 1), 3U);
        QCOMPARE(next(3, 1), 1U);
        QCOMPARE(next(3, -1), 1U);
        QCOMPARE(next(1, -1), 3U);
    }
};

QTEST_MAIN(TestPanes)
#include "tst_panes.moc"
