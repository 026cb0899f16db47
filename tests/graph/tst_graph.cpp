// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_dot.h"
#include "core/graph/graph_draw.h"
#include "core/graph/graph_export.h"
#include "core/graph/graph_layout.h"
#include "core/graph/graph_look.h"
#include "core/graph/lane.h"
#include "core/layout/hierarchy_layout.h"
#include "core/layout/layered_layouter.h"
#include "core/trace/trace_builder.h"
#include "tests/support/trace_text.h"

#include <QElapsedTimer>
#include <QtTest>

#include <string>

using namespace core;

namespace {

// blocks h.0 .. h.COUNT-1 of two ops each, all reading one mask.
std::string blocksText(int count, int badBlock)
{
    std::string text = "input x:f32[2,4]=1\ninput live:f32[2,4]=1\n";
    std::string value = "x";
    for (int i = 0; i < count; ++i) {
        const std::string n = std::to_string(i);
        text += "add " + value + " live -> a" + n + ":f32[2,4]=" + (i > badBlock ? "nan" : "1") +
                " !stats in h." + n + "\n";
        text += "relu a" + n + " -> r" + n + ":f32[2,4]=" + (i >= badBlock ? "nan" : "1") + " !stats in h." +
                n + "\n";
        value = "r" + n;
    }
    return text + "sum " + value + " -> s:f32[]=" + (badBlock < count ? "nan" : "1") + " !stats\noutput s\n";
}

std::shared_ptr<const GraphTree> treeOf(const std::string &text)
{
    const auto trace = tests::traceFromText(text);
    return std::make_shared<GraphTree>(trace, marksFromStats(*trace));
}

// COUNT modules of two ops in a chain, without text.
std::shared_ptr<const Trace> bigTrace(std::uint32_t count)
{
    TraceBuilder builder;
    bool good = true;
    ModuleRecord root;
    root.id = 0;
    good = builder.add(root).isOk() && good;
    for (std::uint32_t i = 0; i < 2 * count; ++i) {
        TensorRecord tensor;
        tensor.id = i;
        tensor.dtype = DType::float32;
        tensor.shape = {4, 8};
        tensor.call = i;
        tensor.stats = TensorStats();
        tensor.stats->elements = 32;
        tensor.stats->nan = i > count ? 1 : 0;
        good = builder.add(tensor).isOk() && good;
        if (i % 2 == 0) {
            ModuleRecord module;
            module.id = i / 2 + 1;
            module.address = "layers." + std::to_string(i / 2);
            module.className = "demo.blocks.Block";
            module.parent = 0;
            good = builder.add(module).isOk() && good;
            ModuleCallRecord call;
            call.id = i / 2;
            call.module = module.id;
            good = builder.add(call).isOk() && good;
        }
        CallRecord call;
        call.id = i;
        call.op = "aten.relu.default";
        call.func = "relu";
        call.moduleCall = i / 2;
        call.outputs = {i};
        if (i > 0)
            call.parents = {i - 1};
        good = builder.add(call).isOk() && good;
    }
    auto trace = builder.finish(emptyTensorStore(), JobContext());
    return good && trace ? *trace : nullptr;
}

LayoutResult placed(const GraphPicture &picture)
{
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    return *layout.layout(graphLayoutRequest(picture, 1), context);
}

std::string printed(const GraphPicture &picture)
{
    std::string out;
    for (const PictureBox &box : picture.boxes)
        out += std::to_string(box.cluster) + " " + box.title + " | " + box.subtitle + " | " +
               std::string(nodeStateName(box.state)) + "\n";
    for (const PictureEdge &edge : picture.edges)
        out += picture.boxes[edge.from].title + " -> " + picture.boxes[edge.to].title + "\n";
    for (const PictureStub &stub : picture.stubs)
        out +=
            (stub.atProducer ? "made " : "read ") + stub.text + " at " + picture.boxes[stub.box].title + "\n";
    return out;
}

} // namespace

class TestGraph : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalSiblingsFold();
    void stateBreaksAStack();
    void unfoldedMemberStandsAlone();
    void reportedEventsMakeTheStates();
    void manyConsumersAreStubs();
    void stubsCanBeDrawn();
    void smallTraceIsShownWhole();
    void budgetHoldsForFlatTraces();
    void revealOpensTheWay();
    void everyBoxAnswersAtEveryZoom();
    void uncheckedIsHatchedAtEveryZoom();
    void statesDifferWithoutColour();
    void drawListOfASmallGraph();
    void dotIsWellFormed();
    void shapesHaveRoomInTheirBoxes();
    void laneHoldsEveryOp();
    void classesStandWithoutTheirPackage();
    void bigTracesAreQuick();
    void writtenBuffersFollowTheirOp();
    void callsOfALoopAreOneBand();
    void birthsOfTheBackwardPassAreMarked();
};

void TestGraph::equalSiblingsFold()
{
    const auto tree = treeOf(blocksText(7, 99));
    GraphFolds folds;
    const GraphSlice slice = graphSlice(*tree, folds);
    QCOMPARE(
        QString::fromStdString(printed(slice.picture)),
        QString("0 x | fp32 [2, 4] | clean\n0 live | fp32 [2, 4] | clean\n"
                "0 h | Module \u00b7 14 ops | clean\n0 sum_1 | fp32 [] | clean\n"
                "0 output_1 | fp32 [] | clean\n"
                "x -> h\nlive -> h\nh -> sum_1\nsum_1 -> output_1\n")
            .replace("Module", QString::fromStdString(slice.picture.boxes[2].subtitle).section(" ", 0, 0))
            .replace("output_1", QString::fromStdString(slice.picture.boxes[4].title)));
    const GraphFolds fit = foldsToFit(*tree);
    const GraphSlice open = graphSlice(*tree, fit);
    bool hasStack = false;
    for (const PictureBox &box : open.picture.boxes) {
        hasStack = hasStack || (box.kind == BoxKind::stack && box.memberCount == 7);
        QVERIFY(box.kind != BoxKind::stack || box.subtitle.starts_with("7 identical"));
    }
    QVERIFY(hasStack);
}

void TestGraph::stateBreaksAStack()
{
    const auto tree = treeOf(blocksText(8, 4));
    const GraphSlice slice = graphSlice(*tree, foldsToDepth(*tree, 1));
    std::vector<std::string> states;
    for (const PictureBox &box : slice.picture.boxes)
        if (box.moduleCall.isValid())
            states.push_back(box.title + " " + std::string(nodeStateName(box.state)));
    QCOMPARE(states.size(), std::size_t(3));
    QCOMPARE(states[0], std::string("0 \u2013 3 clean"));
    QCOMPARE(states[1], std::string("4 origin"));
    QCOMPARE(states[2], std::string("5 \u2013 7 propagated"));
}

void TestGraph::unfoldedMemberStandsAlone()
{
    const auto tree = treeOf(blocksText(7, 99));
    GraphFolds folds = foldsToFit(*tree);
    const Trace &trace = tree->trace();
    const OpId op = trace.findLabel("relu_4_8");
    QVERIFY(op.isValid());
    folds = foldsRevealing(*tree, folds, trace.op(op).call);
    const GraphSlice slice = graphSlice(*tree, folds);
    const std::uint32_t box = slice.boxOf(*tree, trace.op(op).call);
    QVERIFY(box != kNoBox);
    QCOMPARE(slice.picture.boxes[box].title, std::string("relu_4"));
    int stacks = 0;
    for (const PictureBox &one : slice.picture.boxes)
        stacks += one.kind == BoxKind::stack ? 1 : 0;
    QCOMPARE(stacks, 2);
}

void TestGraph::reportedEventsMakeTheStates()
{
    const auto trace =
        tests::traceFromText("input x:f32[2]=1\nmasked_fill x -> m:f32[2]=-inf !stats\n"
                             "softmax m -> p:f32[2]=nan !stats\nrelu p -> r:f32[2]=nan !stats\n"
                             "argmax r -> a:i64[]=0 !stats\noutput a\n");
    const auto op = [&](const char *label) { return trace->findLabel(label); };
    BirthEvents events;
    events.births = {op("softmax_1_2")};
    events.byDesign = {op("maskedfill_1_1")};
    events.sinks = {op("argmax_1_4")};
    for (const std::vector<OpId> &list : {events.births, events.byDesign, events.sinks})
        QVERIFY(list[0].isValid());
    const GraphMarks marks = marksFromEvents(*trace, events);
    QVERIFY(marks.of(events.births[0]) == NodeState::origin);
    QVERIFY(marks.of(events.byDesign[0]) == NodeState::cause);
    QVERIFY(marks.of(op("relu_1_3")) == NodeState::propagated);
    QVERIFY(marks.of(events.sinks[0]) == NodeState::sink);
    events.births.clear();
    QVERIFY(marksFromEvents(*trace, events).of(events.byDesign[0]) == NodeState::clean);
}

void TestGraph::manyConsumersAreStubs()
{
    const auto tree = treeOf(blocksText(12, 4));
    const GraphSlice slice = graphSlice(*tree, foldsToFit(*tree));
    int read = 0;
    int made = 0;
    for (const PictureStub &stub : slice.picture.stubs) {
        QCOMPARE(stub.text, std::string(stub.atProducer ? "12 uses" : "live"));
        ++(stub.atProducer ? made : read);
    }
    QCOMPARE(made, 1);
    QVERIFY(read >= 3);
    for (const PictureEdge &edge : slice.picture.edges)
        QVERIFY(slice.picture.boxes[edge.from].title != "live");
}

void TestGraph::stubsCanBeDrawn()
{
    const auto tree = treeOf(blocksText(12, 4));
    GraphFolds folds = foldsToFit(*tree);
    folds.drawnValues.insert(tree->trace().findLabel("input_2"));
    bool drawn = false;
    for (const OpId op : tree->trace().orderedOps())
        if (tree->trace().op(op).kind == CallKind::input)
            folds.drawnValues.insert(op);
    const GraphSlice slice = graphSlice(*tree, folds);
    for (const PictureEdge &edge : slice.picture.edges)
        drawn = drawn || slice.picture.boxes[edge.from].title == "live";
    QVERIFY(drawn);
    QVERIFY(slice.picture.stubs.empty());
}

void TestGraph::smallTraceIsShownWhole()
{
    const auto tree = treeOf("input x:f32[2]=1\nrelu x -> y:f32[2]=1\nsum y -> s:f32[]=2\noutput s\n");
    const GraphSlice slice = graphSlice(*tree, foldsToFit(*tree));
    QCOMPARE(slice.picture.boxes.size(), std::size_t(4));
    QCOMPARE(slice.picture.edges.size(), std::size_t(3));
    QCOMPARE(slice.picture.totalOps, 2U);
}

void TestGraph::budgetHoldsForFlatTraces()
{
    for (const int count : {10, 36, 37, 45, 300, 900}) {
        std::string text = "input x:f32[2]=1\n";
        for (int i = 0; i < count; ++i)
            text += std::string(i % 3 == 0 ? "relu" : "exp") + " " +
                    (i == 0 ? "x" : "v" + std::to_string(i - 1)) + " -> v" + std::to_string(i) +
                    ":f32[2]=1\n";
        const auto tree = treeOf(text);
        GraphFolds folds = foldsToFit(*tree);
        QVERIFY(graphSlice(*tree, folds).picture.boxes.size() <= kFirstPictureBoxes);
        // Every op can be reached, and what is in front of it stays small.
        const OpId last = tree->trace().orderedOps().back();
        folds = foldsRevealing(*tree, folds, tree->trace().op(last).call);
        const GraphSlice slice = graphSlice(*tree, folds);
        const std::uint32_t box = slice.boxOf(*tree, tree->trace().op(last).call);
        QVERIFY(slice.picture.boxes[box].kind == BoxKind::op);
        QVERIFY(slice.picture.boxes.size() <= 150);
    }
}

void TestGraph::revealOpensTheWay()
{
    const auto tree = treeOf(blocksText(7, 99));
    const ModuleCallId call = tree->group(3).call;
    const GraphFolds folds = foldsRevealing(*tree, GraphFolds(), call);
    const GraphSlice slice = graphSlice(*tree, folds);
    bool found = false;
    for (const PictureBox &box : slice.picture.boxes)
        found = found || (box.kind == BoxKind::module && box.moduleCall == call);
    QVERIFY(found);
}

// The dtype and shape of an origin or of a view say most: glyph and marks must not push them out.
void TestGraph::shapesHaveRoomInTheirBoxes()
{
    for (const NodeState state : {NodeState::clean, NodeState::origin, NodeState::propagated})
        for (const bool mark : {false, true})
            for (std::size_t length = 1; length < 30; ++length) {
                PictureBox box;
                box.title = "wo";
                box.subtitle = std::string(length, '0');
                box.state = state;
                box.view = box.inPlace = mark;
                const double taken = (state == NodeState::clean ? 14.0 : 32.0) + 8.0 + (mark ? 28.0 : 0.0);
                QVERIFY2(boxWidth(box) * kTextZoom - taken >= textWidth(box.subtitle, kDetailFont),
                         box.subtitle.c_str());
            }
}

void TestGraph::everyBoxAnswersAtEveryZoom()
{
    const auto tree = treeOf(blocksText(12, 4));
    const GraphSlice slice = graphSlice(*tree, foldsToDepth(*tree, 2));
    const LayoutResult layout = placed(slice.picture);
    for (const double zoom : {0.1, 0.4, 0.84, 1.0, 1.3, 3.0}) {
        GraphLook look;
        look.zoom = zoom;
        const DrawList list = drawGraph(slice.picture, layout, look);
        for (std::uint32_t i = 0; i < slice.picture.boxes.size(); ++i) {
            const Point middle = boxRect(slice.picture, layout, i).center();
            const HitId hit = list.hitTest({middle.x * zoom, middle.y * zoom}, 4.0);
            QVERIFY((hit == HitId{static_cast<std::uint16_t>(GraphHit::box), i}));
        }
        for (std::size_t i = 0; zoom >= 0.25 && i < slice.picture.stubs.size(); ++i) {
            const Point middle = stubRect(slice.picture, layout, slice.picture.stubs[i]).center();
            const HitId hit = list.hitTest({middle.x * zoom, middle.y * zoom}, 4.0);
            QVERIFY(
                (hit == HitId{static_cast<std::uint16_t>(GraphHit::stub), static_cast<std::uint32_t>(i)}));
        }
    }
}

void TestGraph::uncheckedIsHatchedAtEveryZoom()
{
    const auto tree = treeOf("input x:f32[2]=1\nrelu x -> y:f32[2]\nsum y -> s:f32[]=2\n");
    const GraphSlice slice = graphSlice(*tree, foldsToFit(*tree));
    QVERIFY(slice.picture.boxes[1].unchecked);
    QVERIFY(!slice.picture.boxes[2].unchecked);
    const LayoutResult layout = placed(slice.picture);
    for (const double zoom : {0.1, 0.4, 0.84, 1.3}) {
        GraphLook look;
        look.zoom = zoom;
        int hatched = 0;
        const DrawList list = drawGraph(slice.picture, layout, look);
        for (const DrawItem &item : list.items())
            hatched += item.paint.hatch == Hatch::sparse ? 1 : 0;
        QCOMPARE(hatched, 1);
    }
}

void TestGraph::statesDifferWithoutColour()
{
    std::vector<std::string> forms;
    for (int i = 0; i <= static_cast<int>(NodeState::origin); ++i) {
        GraphPicture picture;
        picture.boxes.resize(1);
        picture.boxes[0].title = "softmax_8";
        picture.boxes[0].state = static_cast<NodeState>(i);
        GraphLook look;
        look.zoom = 0.84;
        const DrawList list = drawGraph(picture, placed(picture), look);
        std::string form;
        for (const DrawItem &item : list.items())
            if (item.kind == DrawKind::glyph)
                form += glyphName(item.glyph);
        form += std::to_string(list.items().size());
        QVERIFY(std::find(forms.begin(), forms.end(), form) == forms.end());
        forms.push_back(form);
    }
    QCOMPARE(forms.size(), std::size_t(8));
}

void TestGraph::drawListOfASmallGraph()
{
    const auto tree = treeOf("input x:f32[2]=1\nlog x -> y:f32[2]=nan,0 !stats\n");
    const GraphSlice slice = graphSlice(*tree, foldsToFit(*tree));
    GraphLook look;
    look.selected = {1};
    const DrawList list = drawGraph(slice.picture, placed(slice.picture), look);
    QCOMPARE(QString::fromStdString(printDrawList(list)),
             QString("polyline 103.0,46.0 103.0,65.6 stroke=edge/1.5\n"
                     "polygon 103.0,72.0 99.0,64.0 107.0,64.0 fill=edge\n"
                     "rect 33.0,0.0 140.0x46.0 r=6.0 fill=node stroke=nodeb/1.0\n"
                     "text 47.0,2.3 119.0x23.0 \"x\" words 13.0 semibold text\n"
                     "text 47.0,21.2 118.0x23.0 \"fp32 [2]\" mono 12.0 second\n"
                     "rect 0.0,72.0 206.0x46.0 r=6.0 fill=nanbg stroke=nan/2.0\n"
                     "rect 3.0,75.0 6.0x40.0 r=1.5 fill=nan\n"
                     "glyph diamond 14.0,79.8 12.0x12.0 fill=nan\n"
                     "rect 159.0,77.8 40.0x16.0 r=3.0 fill=nan\n"
                     "text 159.0,77.8 40.0x16.0 \"NaN 1\" mono 10.0 medium ontint center\n"
                     "text 32.0,74.3 121.0x23.0 \"log_1\" words 13.0 semibold text\n"
                     "text 32.0,93.2 166.0x23.0 \"fp32 [2]\" mono 12.0 second\n"
                     "rect -3.5,68.5 213.0x53.0 r=9.0 stroke=accent/2.5\n"
                     "hit 2:0 line 103.0,46.0 103.0,72.0\n"
                     "hit 1:0 33.0,0.0 140.0x46.0\n"
                     "hit 1:1 0.0,72.0 206.0x46.0\n"));
}

void TestGraph::dotIsWellFormed()
{
    const auto tree = treeOf(blocksText(4, 2));
    const GraphSlice slice = graphSlice(*tree, foldsToDepth(*tree, 3));
    const std::string dot = graphDot(slice.picture, "a \"quoted\" name");
    QVERIFY(dot.starts_with("digraph \"a \\\"quoted\\\" name\" {"));
    QCOMPARE(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
    for (std::size_t i = 0; i < slice.picture.boxes.size(); ++i)
        QVERIFY(dot.find("  b" + std::to_string(i) + " [label=") != std::string::npos);
    for (const PictureEdge &edge : slice.picture.edges)
        QVERIFY(dot.find("b" + std::to_string(edge.from) + " -> b" + std::to_string(edge.to)) !=
                std::string::npos);
}

void TestGraph::laneHoldsEveryOp()
{
    const auto tree = treeOf(blocksText(300, 150));
    const LaneModel model = laneModel(*tree);
    QCOMPARE(model.forward.size(), tree->calls().size());
    LaneLook look;
    look.width = 900.0;
    look.height = 78.0;
    look.count = static_cast<double>(model.forward.size());
    std::vector<bool> reached(model.forward.size(), false);
    // Zoomed so that a cell is at least a pixel wide, every op is under some pixel.
    look.count /= 2.0;
    for (const double first : {0.0, look.count}) {
        look.first = first;
        for (double x = 0.0; x < look.width; x += 1.0) {
            const std::uint32_t cell = laneCellAt(model, look, x);
            QCOMPARE(cell == LaneModel::kNoCell, x < kLaneCaption);
            if (cell != LaneModel::kNoCell)
                reached[cell] = true;
        }
    }
    QVERIFY(std::find(reached.begin(), reached.end(), false) == reached.end());
    // The one origin is drawn although many ops share a pixel column.
    look.first = 0.0;
    look.count = static_cast<double>(model.forward.size());
    look.width = 150.0;
    int diamonds = 0;
    const DrawList list = drawLane(model, look);
    for (const DrawItem &item : list.items())
        diamonds += item.kind == DrawKind::glyph && item.glyph == Glyph::diamond ? 1 : 0;
    QCOMPARE(diamonds, 1);
    QCOMPARE(laneHeight(0.0), 0.0F);
    QCOMPARE(laneHeight(1.0), 1.0F);
    QVERIFY(laneHeight(1e-9) > 0.1F);
}

void TestGraph::classesStandWithoutTheirPackage()
{
    const auto trace = bigTrace(2);
    const GraphTree tree(trace, marksFromStats(*trace));
    const GraphSlice slice = graphSlice(tree, GraphFolds());
    bool hasBlock = false;
    for (const PictureBox &box : slice.picture.boxes) {
        QVERIFY2(box.subtitle.find("demo") == std::string::npos, box.subtitle.c_str());
        hasBlock = hasBlock || box.subtitle.starts_with("Block");
    }
    QVERIFY(hasBlock);
}

void TestGraph::bigTracesAreQuick()
{
    const auto trace = bigTrace(50000);
    QVERIFY(trace != nullptr);
    QElapsedTimer timer;
    timer.start();
    const GraphTree tree(trace, marksFromStats(*trace));
    const qint64 treeMs = timer.restart();
    const GraphFolds folds = foldsToFit(tree);
    const GraphSlice slice = graphSlice(tree, folds);
    const qint64 sliceMs = timer.elapsed();
    qInfo("%zu ops: tree %lld ms, folds and slice %lld ms, %zu boxes", tree.calls().size(), treeMs, sliceMs,
          slice.picture.boxes.size());
    QVERIFY(slice.picture.boxes.size() <= kFirstPictureBoxes);
    QVERIFY(treeMs + sliceMs < 5000); // a bound against growth that is not linear, not a figure
}

// The rows of all buffers come first in a trace; in lane and graph what an op wrote stands behind it.
void TestGraph::writtenBuffersFollowTheirOp()
{
    const auto tree = treeOf("input x:f32[2]=1\n"
                             "relu x -> a:f32[2]=1\n"
                             "bufferrow n:f32[2]=1 of a\n"
                             "batch_norm a -> b:f32[2]=1 in bn\n"
                             "bufferrow mean:f32[2]=1 of b\n"
                             "relu b -> c:f32[2]=1\n"
                             "output c\n");
    const Trace &trace = tree->trace();
    QCOMPARE(trace.call(trace.op(trace.orderedOps()[0]).call).kind, CallKind::buffer);
    std::string order;
    for (const LaneCell &cell : laneModel(*tree).forward)
        order += std::string(trace.string(trace.call(trace.op(cell.op).call).func)) + ":" +
                 std::string(trace.string(trace.callOf(cell.op).address)) + " ";
    QCOMPARE(QString::fromStdString(order),
             QString("none:x relu: none:n batch_norm: none:mean relu: none: "));
}

// A loop over one layer names it once above the lane.
void TestGraph::callsOfALoopAreOneBand()
{
    std::string text = "input x:f32[2]=1\n";
    for (int i = 0; i < 6; ++i)
        text += "relu x -> a" + std::to_string(i) + ":f32[2]=1 in fc:" + std::to_string(i + 1) + "\ntanh a" +
                std::to_string(i) + " -> b" + std::to_string(i) + ":f32[2]=1\n";
    const auto tree = treeOf(text + "relu b5 -> c:f32[2]=1 in head\noutput c\n");
    const LaneModel lane = laneModel(*tree);
    QCOMPARE(lane.bands.size(), std::size_t(2));
    QCOMPARE(QString::fromStdString(lane.bands[0].title), QString("fc"));
    QCOMPARE(lane.bands[0].begin, 1U);
    QCOMPARE(lane.bands[0].end, 12U);
    QCOMPARE(QString::fromStdString(lane.bands[1].title), QString("head"));
}

// A gradient that is made bad looks like a birth, dashed and with the sign of gradients; where the forward
// pass has an origin already, that keeps its look and says the other beside it.
void TestGraph::birthsOfTheBackwardPassAreMarked()
{
    const auto trace = tests::traceFromText("input x:f32[2]=0,1\n"
                                            "sqrt x -> y:f32[2]=0,1 !stats in net.root\n"
                                            "log y -> z:f32[2]=nan,0 !stats in net.head\n"
                                            "relu z -> r:f32[2]=nan,0 !stats in net.head\n"
                                            "output r\n");
    GraphMarks marks = marksFromStats(*trace);
    TensorStats counts;
    counts.elements = 2;
    counts.posInf = 1;
    const OpId root = tests::opNamed(*trace, "sqrt");
    const OpId log = tests::opNamed(*trace, "log");
    marks.bornInBackward = {{root, counts}, {log, counts}};
    const GraphTree tree(trace, marks);
    const GraphSlice slice = graphSlice(tree, foldsToDepth(tree, 9));
    const auto boxOf = [&](OpId op) {
        for (const PictureBox &box : slice.picture.boxes)
            if (box.kind != BoxKind::output && box.op == op)
                return box;
        return PictureBox();
    };
    const PictureBox made = boxOf(root);
    QVERIFY(made.bornInBackward && isBirth(made));
    QCOMPARE(made.state, NodeState::clean);
    QCOMPARE(QString::fromStdString(made.badges.front().text), QString("grad Inf 1"));
    QCOMPARE(made.badges.front().tone, BadgeTone::nanSolid);
    QCOMPARE(lookOf(made).glyph, stateLook(NodeState::origin).glyph);
    QCOMPARE(lookOf(made).bar, StateBar::solid);
    QCOMPARE(lookOf(made).dash, Dash::dashed);
    const PictureBox both = boxOf(log);
    QVERIFY(both.bornInBackward);
    QCOMPARE(both.state, NodeState::origin);
    QCOMPARE(lookOf(both).dash, Dash::solid);
    QVERIFY(both.badges.front().text.starts_with("NaN"));
    QCOMPARE(QString::fromStdString(both.badges.back().text), QString("grad Inf 1"));
    // At every zoom: the sign in the box, the diamond beside bars and on the map.
    const LayoutResult layout = placed(slice.picture);
    const auto signs = [](const DrawList &list, Glyph glyph) {
        return std::count_if(list.items().begin(), list.items().end(), [glyph](const DrawItem &item) {
            return item.kind == DrawKind::glyph && item.glyph == glyph;
        });
    };
    GraphLook look;
    const DrawList near = drawGraph(slice.picture, layout, look);
    QCOMPARE(signs(near, Glyph::gradient), 2);
    QVERIFY(signs(near, Glyph::diamond) >= 2);
    look.zoom = 0.1;
    QCOMPARE(signs(drawGraph(slice.picture, layout, look), Glyph::diamond), 2);
    QCOMPARE(signs(drawGraphMap(slice.picture, layout, {0, 0, 100, 100}, {}), Glyph::diamond), 2);
    // A folded module says it for what is in it.
    const GraphSlice folded = graphSlice(tree, GraphFolds());
    QVERIFY(std::any_of(folded.picture.boxes.begin(), folded.picture.boxes.end(), [](const PictureBox &box) {
        return box.kind == BoxKind::module && box.bornInBackward && box.badges.back().text == "grad Inf";
    }));
    QVERIFY(graphDot(slice.picture, "births").find("grad Inf 1") != std::string::npos);
}

QTEST_APPLESS_MAIN(TestGraph)
#include "tst_graph.moc"
