// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/lane.h"
#include "tests/support/trace_text.h"
#include "views/base/composition.h"
#include "views/base/formatting.h"
#include "views/base/history.h"
#include "views/base/icon.h"
#include "views/base/op_filter.h"
#include "views/base/table_model.h"
#include "views/base/theme.h"
#include "views/base/trace_facts.h"
#include "views/base/trace_selection.h"
#include "views/findings/findings_source.h"
#include "views/ops/op_table_source.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QFontInfo>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <ctime>
#include <numeric>

using core::ColorToken;
using tests::opNamed;
using views::OpFilter;
using views::OpItem;

namespace {

const char *const kText = "input x:f32[2,3]=1,2,3,4,5,6\n"
                          "softmax x dim=1 -> s:f32[2,3]=1,nan,0,1,0,0 !stats @model.py:14 in h.attn\n"
                          "relu s -> r:f16[2,3]=1,nan,0,1,0,0 !stats @model.py:20 in h\n"
                          "sum r -> t:f32[]=3 !stats @step.py:3\n"
                          "output t\n";

// Rows whose number is their own, backwards, and whose text repeats.
class NumberSource : public views::TableSource
{
public:
    explicit NumberSource(std::size_t rows) : m_rows(rows)
    {
        for (std::size_t i = 0; i < rows; ++i)
            m_texts.push_back("text " + std::to_string(i * 7919 % 1000));
    }
    const std::vector<views::TableColumn> &columns() const override { return m_columns; }
    std::size_t rowCount() const override { return m_rows; }
    QString text(std::size_t row, std::size_t column) const override
    {
        return column == 0 ? QString::number(m_rows - row) : QString::fromStdString(m_texts[row]);
    }
    double number(std::size_t row, std::size_t) const override
    {
        return row == 3 ? std::nan("") : static_cast<double>(m_rows - row);
    }
    std::string_view key(std::size_t row, std::size_t) const override { return m_texts[row]; }

private:
    std::size_t m_rows;
    std::vector<std::string> m_texts;
    std::vector<views::TableColumn> m_columns = {{"number", "Number", 80, true, true},
                                                 {"text", "Text", 80, false, true}};
};

} // namespace

class TestBase : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English)); }

    // One gesture, one signal; what is already selected emits none.
    void selectionEmitsOncePerChange()
    {
        const auto trace = tests::traceFromText(kText);
        views::TraceSelection selection;
        QSignalSpy changed(&selection, &views::TraceSelection::changed);
        QSignalSpy traceChanged(&selection, &views::TraceSelection::traceChanged);
        selection.setTrace(trace);
        QCOMPARE(traceChanged.count(), 1);
        QCOMPARE(changed.count(), 0);
        const core::OpId op = opNamed(*trace, "softmax");
        selection.selectOp(op);
        selection.selectOp(op);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(selection.op(), op);
        QVERIFY(selection.line().has_value());
        QCOMPARE(selection.line()->line.oneBased(), 14U);
        QCOMPARE(views::moduleText(*trace, selection.module()), QStringLiteral("h.attn"));
        selection.select(views::LineItem{selection.line()->file, core::LineNumber::fromOneBased(20)});
        QCOMPARE(selection.op(), opNamed(*trace, "relu"));
    }

    void historyWalksBackAndForward()
    {
        views::History<int, 3> history;
        for (const int step : {1, 1, 2, 3, 4})
            history.push(step);
        QCOMPARE(history.size(), 3U);
        QCOMPARE(*history.back(), 3);
        QCOMPARE(*history.back(), 2);
        QVERIFY(!history.back().has_value());
        QCOMPARE(*history.forward(), 3);
        history.push(9);
        QVERIFY(!history.canGoForward());
        QCOMPARE(*history.back(), 3);
    }

    void filterSelectsOps_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("count");
        QTest::newRow("all") << "" << 5;
        QTest::newRow("kind") << "kind:softmax" << 1;
        QTest::newRow("below a module") << "module:h" << 2;
        QTest::newRow("module pattern") << "module:h.*" << 1;
        QTest::newRow("shape with a star") << "shape:[2,*]" << 3;
        QTest::newRow("open shape") << "shape:[2" << 3;
        QTest::newRow("scalar shape") << "shape:[]" << 2;
        QTest::newRow("dtype") << "dtype:fp16" << 1;
        QTest::newRow("line range") << "line:model.py:10-15" << 1;
        QTest::newRow("file") << "line:step.py" << 1;
        QTest::newRow("count of NaN") << "nan>0" << 2;
        QTest::newRow("not saved") << "kind:sum -saved" << 1;
        QTest::newRow("or") << "kind:relu | kind:sum" << 2;
        QTest::newRow("brackets and not") << "-(kind:relu | kind:sum) module:h" << 1;
        QTest::newRow("text") << "\"soft\"" << 1;
        QTest::newRow("regex") << "/^re.u/" << 1;
    }
    void filterSelectsOps()
    {
        QFETCH(QString, text);
        QFETCH(int, count);
        const auto trace = tests::traceFromText(kText);
        const OpFilter::Parsed parsed = OpFilter::parse(text);
        QVERIFY2(!parsed.problem, qPrintable(parsed.problem ? parsed.problem->message : QString()));
        QCOMPARE(static_cast<int>(parsed.filter.matching(*trace, trace->orderedOps()).size()), count);
        QCOMPARE(parsed.filter.explanation().isEmpty(), text.isEmpty());
    }

    void filterNamesTheWrongToken_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("token");
        QTest::newRow("unknown field") << "kind:a colour:red"
                                       << "colour:red";
        QTest::newRow("unknown number") << "weight>3"
                                        << "weight>3";
        QTest::newRow("no number") << "nan>many"
                                   << "nan>many";
        QTest::newRow("open bracket") << "(kind:a"
                                      << "(";
        QTest::newRow("open quote") << "kind:a \"b"
                                    << "\"b";
        QTest::newRow("nothing to negate") << "kind:a -"
                                           << "-";
        QTest::newRow("bad regex") << "/[/"
                                   << "/[/";
        QTest::newRow("bad dtype") << "dtype:float99"
                                   << "dtype:float99";
    }
    void filterNamesTheWrongToken()
    {
        QFETCH(QString, text);
        QFETCH(QString, token);
        const OpFilter::Parsed parsed = OpFilter::parse(text);
        QVERIFY(parsed.problem.has_value());
        QCOMPARE(text.mid(parsed.problem->position, parsed.problem->length), token);
        QVERIFY(!parsed.problem->message.isEmpty());
    }

    void tableSortsFiltersAndCopies()
    {
        views::TableModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSource(std::make_shared<NumberSource>(5));
        const QPersistentModelIndex kept = model.index(1, 0);
        model.sort(0, Qt::AscendingOrder);
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("1"));
        QCOMPARE(kept.data().toString(), QStringLiteral("4"));
        // Row 3 has no number and stands last both ways.
        QCOMPARE(model.sourceRow(4), 3U);
        model.sort(0, Qt::DescendingOrder);
        QCOMPARE(model.sourceRow(4), 3U);
        QCOMPARE(model.sourceRow(0), 0U);
        model.setFilter(std::vector<std::uint32_t>{1, 4});
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.rowOf(0), -1);
        QCOMPARE(model.copyText({0, 1}), QStringLiteral("number\ttext\n4\ttext 919\n1\ttext 676"));
    }

    void bigTablesSortAndFilterFast()
    {
        views::TableModel model;
        model.setSource(std::make_shared<NumberSource>(100000));
        std::vector<std::uint32_t> even(50000);
        std::iota(even.begin(), even.end(), 0U);
        // Processor time, so that a busy machine does not fail the test; three sorts a turn.
        double best = 1e9;
        for (int turn = 0; turn < 3; ++turn) {
            const std::clock_t start = std::clock();
            model.sort(1, turn % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
            model.setFilter(even);
            model.setFilter(std::nullopt);
            best = std::min(best, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        }
        QCOMPARE(model.rowCount(), 100000);
        QVERIFY2(best <= 500, qPrintable(QString::number(best)));
    }

    void placesAreShort()
    {
        QCOMPARE(views::withShortPlaces("/a/b/model.py:116: 22 GFLOPs in 60 ops"),
                 QStringLiteral("model.py:116: 22 GFLOPs in 60 ops"));
        QCOMPARE(views::withShortPlaces("never above 0 at /usr/lib/x/net.py:7 in head (/usr/a.py:1)"),
                 QStringLiteral("never above 0 at net.py:7 in head (a.py:1)"));
        QCOMPARE(views::withShortPlaces("1/2 of 3/4 at http://a/b:80"),
                 QStringLiteral("1/2 of 3/4 at http://a/b:80"));
    }

    void compositionAddsUp()
    {
        core::TensorStats stats;
        stats.elements = 3145728;
        stats.nan = 18432;
        stats.negInf = 5;
        stats.zero = 2766714;
        stats.subnormal = 4117;
        const views::Composition composition = views::Composition::of(stats);
        QCOMPARE(composition.total(), stats.elements);
        const auto widths = views::stripWidths(composition, 500, 3);
        QCOMPARE(std::accumulate(widths.begin(), widths.end(), 0), 500);
        QCOMPARE(widths[1], 3);
        QCOMPARE(widths[2], 0);
        QCOMPARE(views::stripWidths(views::Composition(), 500, 3)[5], 0);
    }

    void wordsForNumbers()
    {
        QCOMPARE(views::countText(3145728), QStringLiteral("3,145,728"));
        QCOMPARE(views::shareText(1, 1000000), QStringLiteral("< 0.01 %"));
        QCOMPARE(views::shareText(999999, 1000000), QStringLiteral("> 99.99 %"));
        QCOMPARE(views::shareText(0, 10), QStringLiteral("0 %"));
        QCOMPARE(views::numberText(-INFINITY), QStringLiteral("−Inf"));
        QCOMPARE(views::durationText(-1), QStringLiteral("–"));
        QCOMPARE(views::durationText(740000), QStringLiteral("740 µs"));
        const std::vector<std::int64_t> shape = {4, 12, 256};
        QCOMPARE(views::indexText(shape, 3 * 12 * 256 + 2 * 256 + 7), QStringLiteral("[3, 2, 7]"));
    }

    void themeSwitchesLive()
    {
        QVERIFY(views::loadBundledFonts());
        views::Theme theme;
        QSignalSpy changed(&theme, &views::Theme::changed);
        theme.setMode(views::ThemeMode::dark);
        QCOMPARE(changed.count(), 0);
        theme.setMode(views::ThemeMode::light);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(theme.color(ColorToken::panel), QColor(0xFF, 0xFF, 0xFF));
        theme.setMode(views::ThemeMode::system);
        QCOMPARE(theme.scheme(), core::ThemeScheme::dark);
        theme.setDesktopIsDark(false);
        QCOMPARE(theme.scheme(), core::ThemeScheme::light);
        theme.setMode(views::ThemeMode::highContrast);
        QCOMPARE(theme.color(ColorToken::window), QColor(Qt::black));
        QCOMPARE(views::themeModeFromName(views::themeModeName(views::ThemeMode::highContrast)),
                 views::ThemeMode::highContrast);
    }

    // No token may be left in the sheet: it would be a leftover colour of no theme.
    void styleSheetHasNoToken()
    {
        views::Theme theme;
        for (const auto mode :
             {views::ThemeMode::dark, views::ThemeMode::light, views::ThemeMode::highContrast}) {
            theme.setMode(mode);
            const QString sheet = theme.styleSheet();
            QVERIFY(sheet.size() > 1000);
            QVERIFY2(!sheet.section("*/", 2).contains('@'),
                     qPrintable(sheet.mid(sheet.lastIndexOf('@') - 40, 80)));
        }
    }

    void bundledFontsAreUsed()
    {
        views::Theme theme;
        QCOMPARE(QFontInfo(theme.font(views::FontRole::body)).family(), QStringLiteral("Inter"));
        QCOMPARE(QFontInfo(theme.font(views::FontRole::mono)).family(), QStringLiteral("JetBrains Mono"));
        theme.setTextPercent(150);
        QCOMPARE(theme.font(views::FontRole::title).pixelSize(), 30);
    }

    void everyIconCanBeRead()
    {
        for (int i = 0; i <= static_cast<int>(views::IconName::command); ++i)
            for (const views::IconShape &shape : views::iconShapes(static_cast<views::IconName>(i)))
                QVERIFY(views::parseIconPath(shape.path).has_value());
        QVERIFY(!views::parseIconPath("M 1").has_value());
        QVERIFY(!views::parseIconPath("X 1 2").has_value());
    }

    void factsTellBirthAndReach()
    {
        const auto trace = tests::traceFromText(kText);
        const auto facts = views::makeTraceFacts(trace, core::JobContext());
        QVERIFY(facts.isOk());
        QVERIFY((*facts)->hasFinding());
        QCOMPARE((*facts)->headline, opNamed(*trace, "softmax"));
        QVERIFY((*facts)->births >= 1);
        QCOMPARE((*facts)->coverage.ops, 3U);
    }

    // A forward pass without a finding is no clean run when its backward pass made the NaN.
    void factsTellOfTheBackwardPassAlone()
    {
        const auto trace = tests::traceFromText("input x:f32[2]=0,1\n"
                                                "read param w:f32[2]=1,1\n"
                                                "mul x w -> m:f32[2]=0,1 @model.py:12\n"
                                                "sqrt m -> y:f32[2]=0,1 @model.py:13\n"
                                                "sum y -> s:f32[]=1 @model.py:14\n"
                                                "output s\n"
                                                "node n3 AccumulateGrad leaf=w\n"
                                                "node n2 MulBackward0 next=n3 of m\n"
                                                "node n1 SqrtBackward0 next=n2 of y\n"
                                                "node n0 SumBackward0 next=n1 of s\n"
                                                "backward loss=s roots=n0\n"
                                                "fire n0 arriving=f32[]=1 emitted=f32[2]=1,1\n"
                                                "fire n1 arriving=f32[2]=1,1 emitted=f32[2]=inf,0.5\n"
                                                "fire n2 arriving=f32[2]=inf,0.5 emitted=f32[2]=nan,0.5\n");
        const auto facts = views::makeTraceFacts(trace, core::JobContext());
        QVERIFY(facts.isOk());
        QVERIFY(!(*facts)->hasFinding());
        QVERIFY((*facts)->isBad());
        QCOMPARE((*facts)->allBirths(), 1U);
        QCOMPARE((*facts)->verdict, QStringLiteral("NaN or Inf in the backward pass"));
        QVERIFY2((*facts)->verdictDetail.contains("sqrt_1"), qPrintable((*facts)->verdictDetail));
        QCOMPARE((*facts)->headline, opNamed(*trace, "sqrt"));
        // The pictures mark the same op, and only that: its NaN goes on in the op before.
        const core::GraphMarks &marks = (*facts)->marks;
        QCOMPARE(marks.bornInBackward.size(), 1U);
        const core::TensorStats *born = marks.bornBackwardOf(opNamed(*trace, "sqrt"));
        QVERIFY(born != nullptr);
        QCOMPARE(born->posInf, 1U);
        const core::LaneModel lane = core::laneModel(core::GraphTree(trace, marks));
        QCOMPARE(lane.backward.size(), lane.forward.size());
        for (std::size_t i = 0; i < lane.backward.size(); ++i) {
            QVERIFY(lane.forward[i].state == core::NodeState::clean);
            QCOMPARE(lane.backward[i].state == core::NodeState::origin,
                     lane.backward[i].op == opNamed(*trace, "sqrt"));
        }
    }

    // Facts are news to a pane once, and only when they tell what the trace does not.
    void factsAreNewsOnce()
    {
        auto made = std::make_shared<views::TraceFacts>();
        std::shared_ptr<const views::TraceFacts> mine;
        QVERIFY(!views::takeFacts(made, mine));
        QCOMPARE(mine, made);
        auto measured = std::make_shared<views::TraceFacts>();
        measured->marks.measured.emplace(core::TensorId(0), core::TensorStats());
        QVERIFY(views::takeFacts(measured, mine));
        QVERIFY(!views::takeFacts(measured, mine));
        QVERIFY(!views::takeFacts(nullptr, mine));
        QVERIFY(mine == nullptr);
    }

    void missingFactsSayWhy()
    {
        const auto trace = tests::traceFromText(kText);
        const auto facts =
            views::missingFacts(*trace, core::Status(core::ErrorCode::unreadable, "disk gone"));
        QVERIFY(!facts->failure.isOk());
        QVERIFY(facts->verdictDetail.contains("disk gone"));
        QCOMPARE(facts->coverage.ops, 3U);
    }

    // Shapes by their numbers, lines by theirs.
    void textColumnsSortByMeaning()
    {
        const auto trace = tests::traceFromText("input x:f32[256]=1\n"
                                                "relu x -> a:f32[2,3]=1 @b/model.py:9\n"
                                                "relu x -> b:f32[10]=1 @b/model.py:113\n"
                                                "relu x -> c:f32[2]=1 @a/model.py:20\n"
                                                "relu x -> d:f32[300]=1 @c/layer.py:7\n"
                                                "output d\n");
        views::TableModel model;
        auto source = std::make_shared<views::OpTableSource>(trace);
        model.setSource(source);
        const auto texts = [&](int column) {
            QStringList shown;
            for (int row = 0; row < model.rowCount(); ++row)
                if (source->text(model.sourceRow(row), views::OpTableSource::op_).startsWith("relu"))
                    shown.push_back(model.index(row, column).data().toString());
            return shown;
        };
        model.sort(views::OpTableSource::shape_, Qt::AscendingOrder);
        QCOMPARE(texts(views::OpTableSource::shape_), (QStringList{"[2]", "[2, 3]", "[10]", "[300]"}));
        model.sort(views::OpTableSource::source_, Qt::AscendingOrder);
        QCOMPARE(texts(views::OpTableSource::source_),
                 (QStringList{"layer.py:7", "model.py:20", "model.py:9", "model.py:113"}));
        const auto facts = views::makeTraceFacts(tests::traceFromText(kText), core::JobContext());
        const views::FindingsSource findings(tests::traceFromText(kText), *facts);
        QVERIFY(findings.rowCount() > 0);
        QCOMPARE(findings.key(0, views::FindingsSource::check_), std::string_view("find_nan"));
        QVERIFY(!findings.key(0, views::FindingsSource::source_).empty());
    }

    void findingsAlikeShareARow()
    {
        std::string text = "input x:f16[2]=60000,1\n";
        for (int i = 0; i < 6; ++i)
            text += "relu x -> r" + std::to_string(i) + ":f16[2]=60000,1 !stats in h\n";
        const auto trace = tests::traceFromText((text + "output r5\n").c_str());
        const auto facts = views::makeTraceFacts(trace, core::JobContext());
        QVERIFY(facts.isOk());
        std::map<QString, std::size_t> told;
        for (const core::ReportFinding &finding : (*facts)->audit->findings)
            ++told[views::fromView(finding.check)];
        std::map<QString, std::vector<views::FindingRow>> rows;
        for (const views::FindingRow &row : (*facts)->findings)
            rows[row.check].push_back(row);
        QVERIFY(told["dtype_near_max"] >= 6);
        QCOMPARE(rows["dtype_near_max"].size(), std::size_t(1));
        const views::FindingRow &row = rows["dtype_near_max"].front();
        QCOMPARE(row.elementCount, told["dtype_near_max"]);
        QVERIFY2(row.text.contains("more like it"), qPrintable(row.text));
        QVERIFY(row.op.isValid());
    }
};

QTEST_MAIN(TestBase)
#include "tst_base.moc"
