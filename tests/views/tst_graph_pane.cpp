// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_layout.h"
#include "core/graph/graph_look.h"
#include "core/layout/hierarchy_layout.h"
#include "core/layout/layered_layouter.h"
#include "tests/support/trace_text.h"
#include "views/graph/graph_legend.h"
#include "views/graph/graph_pane.h"
#include "views/lane/lane_view.h"

#include <QAccessible>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QtTest>

using namespace views;

namespace {

std::string traceText()
{
    std::string text = "input x:f32[2,4]=1\ninput live:f32[2,4]=1\n";
    std::string value = "x";
    for (int i = 0; i < 12; ++i) {
        const std::string n = std::to_string(i);
        text += "add " + value + " live -> a" + n + ":f32[2,4]=" + (i > 4 ? "nan" : "1") + " !stats in h." +
                n + "\n";
        text +=
            "relu a" + n + " -> r" + n + ":f32[2,4]=" + (i >= 4 ? "nan" : "1") + " !stats in h." + n + "\n";
        value = "r" + n;
    }
    return text + "sum " + value + " -> s:f32[]=nan !stats\noutput s\n";
}

core::LayoutResult answerTo(const core::LayoutRequest &request)
{
    core::LayeredLayouter layered;
    core::HierarchyLayout layout(layered);
    core::JobContext context;
    return *layout.layout(request, context);
}

// A pane whose layout wishes are answered at once.
struct Stage
{
    Stage() : pane({theme, selection})
    {
        QObject::connect(&pane, &GraphPane::layoutRequested, &pane,
                         [this](const core::LayoutRequest &request) { pane.setLayout(answerTo(request)); });
        pane.setReducedMotion(true);
        pane.resize(900, 700);
        pane.show();
    }
    std::uint32_t boxTitled(const std::string &title) const
    {
        for (std::uint32_t i = 0; i < pane.state().picture().boxes.size(); ++i)
            if (pane.state().picture().boxes[i].title == title)
                return i;
        return core::kNoBox;
    }
    QPoint pointOf(std::uint32_t box) const
    {
        const core::Point at = pane.state().boxRect(box).center();
        const core::Point window =
            const_cast<GraphPane &>(pane).canvas().viewport().toWindow({at.x, at.y - 4.0});
        return QPoint(static_cast<int>(window.x), static_cast<int>(window.y));
    }

    Theme theme;
    TraceSelection selection;
    GraphPane pane;
};

// A bar and the words beside it in the lower left corner of a canvas of 900 by 400.
struct BarOnCanvas
{
    BarOnCanvas()
    {
        canvas.resize(900, 400);
        bar.setFixedSize(176, 36);
        canvas.setCornerBar(&bar, &words);
    }

    Theme theme;
    QWidget pane;
    Canvas canvas{theme, &pane};
    QWidget bar{&pane};
    QLabel words{&pane};
};

} // namespace

class TestGraphPane : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void emptyWithoutTrace();
    void traceGivesAPictureOfAtMostFortyBoxes();
    void firstPictureShowsTheBirthInReadableSize();
    void noBoxComesToLieUnderTheBar();
    void selectionArrivesWithoutEcho();
    void clickSelectsOnce();
    void doubleClickUnfoldsInPlace();
    void keysFollowEdges();
    void everyBoxIsReachedByKeys();
    void stubLeadsToItsProducer();
    void findCountsAndSteps();
    void staleLayoutsAreIgnored();
    void hiddenPaneWaits();
    void laneFollowsAndSelects();
    void theBarHasAStripWhereNothingElseHelps();
    void graphAndLaneGrowWithTheText();
    void signsAreSaidInALegend();
    void readersHearWhereTheyAre();
};

// A wide scene reaches the lower left corner, where the bar is.
void TestGraphPane::noBoxComesToLieUnderTheBar()
{
    BarOnCanvas shown;
    auto &[theme, pane, canvas, bar, words] = shown;
    canvas.placeCornerBar(true, {});
    QCOMPARE(bar.geometry(), QRect(12, 400 - 12 - 36, 176, 36));
    const core::Rect corner = {0, 960, 200, 40};
    const core::Rect whole = {0, 0, 2000, 1000};
    const auto windowOf = [&](const core::Rect &scene) {
        const core::Point at = canvas.viewport().toWindow({scene.x, scene.bottom()});
        return at;
    };
    canvas.setScene(whole, {});
    canvas.fit(false);
    const double free = canvas.viewport().zoom();
    QVERIFY(windowOf(corner).y > 340.0);
    canvas.setScene(whole, {corner});
    canvas.fit(false);
    QVERIFY(canvas.viewport().zoom() < free);
    QVERIFY2(windowOf(corner).y <= 340.0, qPrintable(QString::number(windowOf(corner).y)));
    // One that is shown is moved above it too.
    Viewport view = canvas.viewport();
    view.setZoom(1.0, {0, 600});
    canvas.setViewport(view);
    const Viewport showing = canvas.viewShowing(corner, 10.0);
    QVERIFY(showing.toWindow({0, corner.bottom()}).y <= 340.0);
    QVERIFY(showing.toWindow({0, corner.y}).y >= 0.0);
    // Words stand behind the bar where there is room for them.
    canvas.placeCornerBar(true, QStringLiteral("36 boxes stand for 41 ops"));
    QVERIFY(!words.isHidden() && words.x() > bar.geometry().right());
    canvas.placeCornerBar(true, QString(200, QLatin1Char('x')));
    QVERIFY(words.isHidden());
}

void TestGraphPane::emptyWithoutTrace()
{
    Stage stage;
    QVERIFY(!stage.pane.state().hasPicture());
    QCOMPARE(stage.pane.summary(), QString());
}

void TestGraphPane::traceGivesAPictureOfAtMostFortyBoxes()
{
    Stage stage;
    stage.selection.setTrace(tests::traceFromText(traceText()));
    QVERIFY(stage.pane.state().hasPicture());
    QVERIFY(stage.pane.state().picture().boxes.size() <= core::kFirstPictureBoxes);
    QVERIFY(stage.pane.summary().endsWith("for 25 ops"));
    QVERIFY(!stage.pane.grab().isNull());
}

void TestGraphPane::firstPictureShowsTheBirthInReadableSize()
{
    Stage stage;
    stage.pane.resize(900, 260);
    const auto trace = tests::traceFromText(traceText());
    stage.selection.setTrace(trace);
    QVERIFY(stage.pane.canvas().viewport().zoom() >= 0.7);
    std::uint32_t birth = core::kNoBox;
    for (std::uint32_t i = 0; i < stage.pane.state().picture().boxes.size() && birth == core::kNoBox; ++i)
        if (stage.pane.state().picture().boxes[i].state == core::NodeState::origin)
            birth = i;
    QVERIFY(birth != core::kNoBox);
    const core::Rect box = stage.pane.state().boxRect(birth);
    const core::Rect seen = stage.pane.canvas().viewport().visible();
    QVERIFY(box.y >= seen.y && box.bottom() <= seen.bottom());
    QVERIFY(box.x >= seen.x && box.right() <= seen.right());
    // A window of another size shows it too, until the view is moved.
    stage.pane.resize(700, 220);
    const core::Rect after = stage.pane.canvas().viewport().visible();
    QVERIFY(box.y >= after.y && box.bottom() <= after.bottom());
}

void TestGraphPane::selectionArrivesWithoutEcho()
{
    Stage stage;
    const auto trace = tests::traceFromText(traceText());
    stage.selection.setTrace(trace);
    QSignalSpy changed(&stage.selection, &TraceSelection::changed);
    const core::OpId op = trace->findLabel("relu_5_10");
    QVERIFY(op.isValid());
    stage.selection.select(OpItem{op});
    QCOMPARE(changed.count(), 1);
    QVERIFY(stage.pane.state().boxOf(op) != core::kNoBox); // the folded module that holds it
    stage.selection.activate(OpItem{op});
    QCOMPARE(stage.pane.state().picture().boxes[stage.pane.state().boxOf(op)].title, std::string("relu_5"));
    QCOMPARE(changed.count(), 1);
}

void TestGraphPane::clickSelectsOnce()
{
    Stage stage;
    stage.selection.setTrace(tests::traceFromText(traceText()));
    QSignalSpy changed(&stage.selection, &TraceSelection::changed);
    const std::uint32_t box = stage.boxTitled("x");
    QVERIFY(box != core::kNoBox);
    QTest::mouseClick(&stage.pane.canvas(), Qt::LeftButton, {}, stage.pointOf(box));
    QCOMPARE(changed.count(), 1);
    QVERIFY(stage.selection.item() == SelectedItem(OpItem{stage.pane.state().picture().boxes[box].op}));
}

void TestGraphPane::doubleClickUnfoldsInPlace()
{
    Stage stage;
    stage.selection.setTrace(tests::traceFromText(traceText()));
    stage.pane.foldToDepth(1);
    const std::uint32_t box = stage.boxTitled("4");
    QVERIFY(box != core::kNoBox);
    const std::uint64_t key = stage.pane.state().picture().boxes[box].foldKey;
    const core::Rect rect = stage.pane.state().boxRect(box);
    const core::Point before = stage.pane.canvas().viewport().toWindow({rect.center().x, rect.y});
    QTest::mouseDClick(&stage.pane.canvas(), Qt::LeftButton, {}, stage.pointOf(box));
    QVERIFY(stage.pane.folds().isOpen(key));
    const auto frame = stage.pane.state().placeOf(key, 0);
    QVERIFY(frame.has_value());
    const core::Point after = stage.pane.canvas().viewport().toWindow({frame->center().x, frame->y});
    QVERIFY(std::abs(before.x - after.x) < 0.01);
    QVERIFY(std::abs(before.y - after.y) < 0.01);
    stage.selection.select(OpItem{stage.pane.state().picture().boxes[stage.boxTitled("relu_5")].op});
    QTest::keyClick(&stage.pane, Qt::Key_Minus);
    QVERIFY(!stage.pane.folds().isOpen(key));
}

void TestGraphPane::keysFollowEdges()
{
    Stage stage;
    stage.selection.setTrace(
        tests::traceFromText("input x:f32[2]=1\nrelu x -> y:f32[2]=1\nexp y -> z:f32[2]=1\n"));
    QTest::keyClick(&stage.pane, Qt::Key_Down);
    QTest::keyClick(&stage.pane, Qt::Key_Down);
    QCOMPARE(stage.selection.trace()->publicLabel(stage.selection.op()), std::string_view("relu_1_1"));
    QTest::keyClick(&stage.pane, Qt::Key_Down);
    QCOMPARE(stage.selection.trace()->publicLabel(stage.selection.op()), std::string_view("exp_1_2"));
    QTest::keyClick(&stage.pane, Qt::Key_Up);
    QCOMPARE(stage.selection.trace()->publicLabel(stage.selection.op()), std::string_view("relu_1_1"));
}

void TestGraphPane::everyBoxIsReachedByKeys()
{
    Stage stage;
    stage.selection.setTrace(tests::traceFromText(traceText()));
    stage.pane.foldToDepth(3);
    const GraphState &state = stage.pane.state();
    std::vector<bool> seen(state.picture().boxes.size(), false);
    std::vector<std::uint32_t> waiting = {0};
    seen[0] = true;
    while (!waiting.empty()) {
        const std::uint32_t box = waiting.back();
        waiting.pop_back();
        for (const Direction direction :
             {Direction::up, Direction::down, Direction::left, Direction::right}) {
            const std::uint32_t next = state.neighbour(box, direction);
            if (next != core::kNoBox && !seen[next]) {
                seen[next] = true;
                waiting.push_back(next);
            }
        }
    }
    QVERIFY(std::find(seen.begin(), seen.end(), false) == seen.end());
}

void TestGraphPane::stubLeadsToItsProducer()
{
    Stage stage;
    stage.selection.setTrace(tests::traceFromText(traceText()));
    const auto &picture = stage.pane.state().picture();
    std::size_t reader = picture.stubs.size();
    for (std::size_t i = 0; i < picture.stubs.size(); ++i)
        if (!picture.stubs[i].atProducer)
            reader = i;
    QVERIFY(reader < picture.stubs.size());
    const core::Point middle =
        core::stubRect(picture, stage.pane.state().layout(), picture.stubs[reader]).center();
    const core::Point window = stage.pane.canvas().viewport().toWindow(middle);
    const QPoint at(static_cast<int>(window.x), static_cast<int>(window.y));
    QSignalSpy activated(&stage.selection, &TraceSelection::activated);
    QTest::mouseDClick(&stage.pane.canvas(), Qt::LeftButton, {}, at);
    QCOMPARE(activated.count(), 1);
    QCOMPARE(stage.pane.state().picture().boxes[stage.pane.state().boxOf(stage.selection.op())].title,
             std::string("live"));
}

void TestGraphPane::findCountsAndSteps()
{
    Stage stage;
    stage.selection.setTrace(tests::traceFromText(traceText()));
    QSignalSpy matches(&stage.pane, &GraphPane::matchesChanged);
    stage.pane.openFind();
    auto *field = stage.pane.findChild<QLineEdit *>();
    QVERIFY(field != nullptr);
    field->setText("relu");
    QCOMPARE(matches.last().at(0).value<std::vector<core::OpId>>().size(), std::size_t(12));
    stage.pane.findStep(1);
    QCOMPARE(stage.selection.trace()->publicLabel(stage.selection.op()), std::string_view("relu_1_2"));
    stage.pane.findStep(-1);
    QCOMPARE(stage.selection.trace()->publicLabel(stage.selection.op()), std::string_view("relu_12_24"));
    stage.pane.closeFind();
    QVERIFY(matches.last().at(0).value<std::vector<core::OpId>>().empty());
}

void TestGraphPane::staleLayoutsAreIgnored()
{
    Theme theme;
    TraceSelection selection;
    GraphPane pane({theme, selection});
    std::vector<core::LayoutRequest> requests;
    connect(&pane, &GraphPane::layoutRequested, &pane,
            [&](const core::LayoutRequest &request) { requests.push_back(request); });
    pane.resize(600, 400);
    pane.show();
    selection.setTrace(tests::traceFromText(traceText()));
    QCOMPARE(requests.size(), std::size_t(1));
    pane.foldAll();
    QCOMPARE(requests.size(), std::size_t(2));
    pane.setLayout(answerTo(requests[0]));
    QVERIFY(!pane.state().hasPicture());
    core::LayoutResult wrong = answerTo(requests[1]);
    wrong.nodes.pop_back();
    pane.setLayout(wrong);
    QVERIFY(!pane.state().hasPicture());
    pane.setLayout(answerTo(requests[1]));
    QVERIFY(pane.state().hasPicture());
}

void TestGraphPane::hiddenPaneWaits()
{
    Theme theme;
    TraceSelection selection;
    GraphPane pane({theme, selection});
    QSignalSpy requests(&pane, &GraphPane::layoutRequested);
    selection.setTrace(tests::traceFromText(traceText()));
    QCOMPARE(requests.count(), 0);
    pane.show();
    QCOMPARE(requests.count(), 1);
}

void TestGraphPane::laneFollowsAndSelects()
{
    Theme theme;
    TraceSelection selection;
    LaneView lane({theme, selection});
    lane.resize(1000, 78);
    lane.show();
    const auto trace = tests::traceFromText(traceText());
    selection.setTrace(trace);
    QCOMPARE(lane.model().forward.size(), std::size_t(28));
    QSignalSpy changed(&selection, &TraceSelection::changed);
    QVERIFY(!lane.grab().isNull());
    for (int x = 0; x < 1000; x += 7) {
        const core::OpId under = lane.opAt(x);
        QCOMPARE(under.isValid(), x >= core::kLaneCaption && x < 988);
        if (!under.isValid())
            continue;
        QTest::mouseClick(&lane, Qt::LeftButton, {}, QPoint(x, 40));
        QVERIFY(selection.item() == SelectedItem(OpItem{under}));
    }
    QVERIFY(changed.count() >= 28);
    const int before = changed.count();
    selection.select(OpItem{trace->findLabel("relu_5_10")});
    QCOMPARE(changed.count(), before + 1);
}

// A graph that is not to be smaller: first the words beside the bar go, then the bar gets a strip of its own.
void TestGraphPane::theBarHasAStripWhereNothingElseHelps()
{
    BarOnCanvas shown;
    auto &[theme, pane, canvas, bar, words] = shown;
    canvas.placeCornerBar(true, QStringLiteral("36 boxes stand for 41 ops"));
    QVERIFY(!words.isHidden());
    const core::Rect whole = {0, 0, 1200, 3000};
    // In the lower part of what is seen at 70 %, behind the bar, then under it.
    canvas.setScene(whole, {{300, 460, 100, 40}});
    canvas.fit(false, Canvas::kFirstZoom);
    QVERIFY(canvas.viewport().zoom() >= Canvas::kFirstZoom);
    QVERIFY(words.isHidden());
    QCOMPARE(canvas.barStrip(), 0);
    canvas.setScene(whole, {{20, 460, 100, 40}});
    canvas.fit(false, Canvas::kFirstZoom);
    QVERIFY(canvas.viewport().zoom() >= Canvas::kFirstZoom);
    QVERIFY(canvas.barStrip() >= bar.height());
    QCOMPARE(canvas.viewport().height(), 400.0 - canvas.barStrip());
    QVERIFY(bar.y() >= canvas.viewport().height());
    QVERIFY(!words.isHidden());
    // Where the graph may be smaller, it is.
    canvas.fit(false);
    QCOMPARE(canvas.barStrip(), 0);
}

void TestGraphPane::graphAndLaneGrowWithTheText()
{
    Stage stage;
    LaneView lane({stage.theme, stage.selection});
    lane.resize(1000, 200);
    lane.show();
    const auto trace = tests::traceFromText(traceText());
    stage.selection.setTrace(trace);
    const core::Rect box = stage.pane.state().boxRect(0);
    const auto widthOnScreen = [&] {
        const Canvas &canvas = stage.pane.canvas();
        return canvas.toWidget({box.right(), box.y}).x() - canvas.toWidget({box.x, box.y}).x();
    };
    const double zoom = stage.pane.zoom();
    const double before = widthOnScreen();
    const int height = lane.sizeHint().height();
    stage.theme.setTextPercent(200);
    QVERIFY(lane.sizeHint().height() >= 2 * height - 1);
    QVERIFY2(widthOnScreen() / stage.pane.zoom() > 1.99 * before / zoom,
             qPrintable(QString("%1 at %2, was %3 at %4")
                            .arg(widthOnScreen())
                            .arg(stage.pane.zoom())
                            .arg(before)
                            .arg(zoom)));
    // What is under the pointer is still what is drawn there.
    const std::uint32_t last = static_cast<std::uint32_t>(stage.pane.state().picture().boxes.size()) - 1;
    for (const std::uint32_t at : {0U, last}) {
        stage.pane.canvas().centerOn(stage.pane.state().boxRect(at).center());
        const QPointF middle = stage.pane.canvas().toWidget(stage.pane.state().boxRect(at).center());
        const core::HitId hit = stage.pane.canvas().hitAt(middle - QPointF(0.0, 6.0));
        QCOMPARE(hit.index, at);
    }
    for (int x = 0; x < 1000; x += 31) {
        QVERIFY(!lane.grab().isNull());
        const core::OpId under = lane.opAt(x);
        QCOMPARE(under.isValid(), x >= 2 * core::kLaneCaption && x < 976);
        if (!under.isValid())
            continue;
        QTest::mouseClick(&lane, Qt::LeftButton, {}, QPoint(x, 80));
        QVERIFY(stage.selection.item() == SelectedItem(OpItem{under}));
    }
}

void TestGraphPane::signsAreSaidInALegend()
{
    Stage stage;
    auto *legend = stage.pane.findChild<GraphLegend *>();
    QVERIFY(legend != nullptr);
    stage.selection.setTrace(tests::traceFromText(traceText()));
    QVERIFY(legend->isVisible());
    QVERIFY(!legend->grab().isNull());
    const QString words = legend->accessibleDescription();
    QVERIFY2(words.startsWith("Origin, Propagated"), qPrintable(words));
    QVERIFY(!words.contains("Born in backward"));
    core::GraphMarks marks = core::marksFromStats(*stage.selection.trace());
    core::TensorStats born;
    born.elements = born.nan = 1;
    marks.bornInBackward.emplace(stage.selection.trace()->findLabel("relu_2_4"), born);
    stage.pane.setMarks(std::move(marks));
    QVERIFY(legend->accessibleDescription().startsWith("Origin, Born in backward, Propagated"));
    stage.pane.toggleMap();
    QVERIFY(!legend->isVisible());
    // Nothing to explain, no legend.
    stage.pane.toggleMap();
    stage.selection.setTrace(tests::traceFromText("input x:f32[2]=1\nrelu x -> y:f32[2]=1\noutput y\n"));
    QVERIFY(!legend->isVisible());
}

void TestGraphPane::readersHearWhereTheyAre()
{
    Stage stage;
    LaneView lane({stage.theme, stage.selection});
    lane.show();
    const auto trace = tests::traceFromText(traceText());
    stage.selection.setTrace(trace);
    const core::OpId birth = trace->findLabel("relu_5_10");
    stage.selection.activate(OpItem{birth});
    for (const QWidget *widget :
         {static_cast<const QWidget *>(&stage.pane.canvas()), static_cast<const QWidget *>(&lane)}) {
        QAccessibleInterface *reader = QAccessible::queryAccessibleInterface(const_cast<QWidget *>(widget));
        QVERIFY(reader != nullptr);
        QVERIFY(!reader->text(QAccessible::Name).isEmpty());
        const QString heard = reader->text(QAccessible::Description);
        QVERIFY2(heard.contains("relu_5") && heard.contains("origin") && heard.contains("h.4"),
                 qPrintable(heard));
    }
}

QTEST_MAIN(TestGraphPane)
#include "tst_graph_pane.moc"
