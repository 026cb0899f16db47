// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/hierarchy_layout.h"
#include "core/layout/layered_layouter.h"
#include "tests/support/trace_text.h"
#include "views/base/formatting.h"
#include "views/canvas/picture_view.h"
#include "views/gradfn/grad_fn_pane.h"
#include "views/lineage/lineage_pane.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QSignalSpy>
#include <QTest>

#include <map>

using namespace views;

namespace {

// Six relus in a row, with a graph of grad functions and one backward pass that goes bad in the middle.
std::string chainText()
{
    std::string text =
        "input x:f32[2]=1,2\nread param fc.weight:f32[2]=1,2\nmul x fc.weight -> v0:f32[2]=1,2\n";
    for (int i = 1; i <= 6; ++i)
        text += "relu v" + std::to_string(i - 1) + " -> v" + std::to_string(i) +
                ":f32[2]=1,2 @model.py:" + std::to_string(10 + i) + "\n";
    text += "sum v6 -> s:f32[]=3\noutput s\n"
            "node n2 AccumulateGrad leaf=fc.weight\n"
            "node n1 MulBackward0 next=n2 of v0\n"
            "node n0 SumBackward0 next=n1 of s\n"
            "backward loss=s roots=n0\n"
            "fire n0 arriving=f32[]=1! emitted=f32[2]=nan,1!\n"
            "fire n1 arriving=f32[2]=nan,1! emitted=f32[2]=nan,1!\n"
            "fire n2 arriving=f32[2]=nan,1! emitted=none\n";
    return text;
}

core::LayoutResult placed(const core::LayoutRequest &request)
{
    core::LayeredLayouter layered;
    core::HierarchyLayout layout(layered);
    core::JobContext context;
    return *layout.layout(request, context);
}

std::uint32_t boxTitled(const PictureView &view, const std::string &title)
{
    for (std::uint32_t i = 0; i < view.picture().boxes.size(); ++i)
        if (view.picture().boxes[i].title == title || view.picture().boxes[i].fullName == title)
            return i;
    return PictureView::kNoBox;
}

void clickBox(PictureView &view, std::uint32_t box, bool twice = false)
{
    const core::Point at = view.canvas().viewport().toWindow(view.boxRect(box).center());
    const QPoint point(static_cast<int>(at.x), static_cast<int>(at.y));
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, point);
    if (twice)
        QTest::mouseDClick(&view.canvas(), Qt::LeftButton, {}, point);
}

QAbstractButton *buttonNamed(const QWidget &widget, const QString &name)
{
    for (QAbstractButton *button : widget.findChildren<QAbstractButton *>())
        if (button->accessibleName() == name || button->text() == name)
            return button;
    return nullptr;
}

// A pane whose wishes are answered at once.
template <class PictureDock>
struct Stage
{
    Stage() : pane({theme, selection})
    {
        QObject::connect(&pane.view(), &PictureView::layoutRequested, &pane,
                         [this](const core::LayoutRequest &request) {
                             lastRequest = request;
                             if (answers)
                                 pane.view().setLayout(placed(request));
                         });
        if constexpr (std::is_same_v<PictureDock, LineagePane>)
            QObject::connect(&pane, &LineagePane::lineageWished, &pane, [this](const LineageWish &wish) {
                pane.setLineage(makeLineage(wish, core::JobContext()));
            });
        else
            QObject::connect(&pane, &GradFnPane::pictureWished, &pane, [this](const GradFnWish &wish) {
                pane.setPicture(makeGradFnPicture(wish, core::JobContext()));
            });
        pane.view().canvas().setReducedMotion(true);
        pane.resize(640, 760);
        pane.show();
    }
    void setTrace(const std::string &text)
    {
        trace = tests::traceFromText(text);
        selection.setTrace(trace);
    }
    core::OpId op(const char *label) const
    {
        for (const core::OpId each : trace->orderedOps())
            if (trace->label(each).substr(0, std::string_view(label).size()) == label)
                return each;
        return {};
    }

    Theme theme;
    TraceSelection selection;
    PictureDock pane;
    std::shared_ptr<const core::Trace> trace;
    core::LayoutRequest lastRequest;
    bool answers = true;
};

} // namespace

class TestPicturePanes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(loadBundledFonts()); }

    // A bundle holds values of gradients and records no statistics of them.
    void gradFunctionsHaveStatesAlsoFromValues()
    {
        for (const char *mark : {"", "!"}) {
            const std::string bang = mark;
            const auto trace = tests::traceFromText(
                "input x:f32[2]=1,2\nsqrt x -> y:f32[2]=1,1\nsum y -> z:f32[]=2\noutput z\n"
                "node n0 SumBackward0 next=n1 of z\nnode n1 SqrtBackward0 next=n2 of y\n"
                "node n2 AccumulateGrad leaf=x\nbackward loss=z roots=n0\n"
                "fire n0 arriving=f32[]=1" +
                bang + " emitted=f32[2]=1,1" + bang +
                "\n"
                "fire n1 arriving=f32[2]=1,1" +
                bang + " emitted=f32[2]=inf,1" + bang +
                "\n"
                "fire n2\n");
            GradFnWish wish;
            wish.trace = trace;
            wish.nodes = 100;
            const GradFnAnswer answer = makeGradFnPicture(wish, core::JobContext());
            QVERIFY2(answer.status, answer.status.message().c_str());
            std::map<std::string, const core::PictureBox *> boxes;
            for (const core::PictureBox &box : answer.picture.boxes)
                boxes[box.fullName] = &box;
            QVERIFY(boxes.contains("SumBackward0") && boxes.contains("SqrtBackward0"));
            QCOMPARE(boxes["SumBackward0"]->state, core::NodeState::clean);
            QVERIFY(!boxes["SumBackward0"]->unchecked);
            QCOMPARE(boxes["SqrtBackward0"]->state, core::NodeState::origin);
            QVERIFY(!boxes["SqrtBackward0"]->unchecked);
        }
    }

    void lineageSaysWhatItNeeds()
    {
        Stage<LineagePane> stage;
        QCOMPARE(stage.pane.view().titleText(), QString("No trace is open"));
        stage.setTrace(chainText());
        QCOMPARE(stage.pane.view().titleText(), QString("No op is selected"));
        QVERIFY(!stage.pane.view().hasPicture());
    }

    void lineageFollowsTheSelectionAndStaysOnItsOwnClicks()
    {
        Stage<LineagePane> stage;
        stage.setTrace(chainText());
        QSignalSpy changed(&stage.selection, &TraceSelection::changed);
        stage.selection.selectOp(stage.op("relu_4"));
        QCOMPARE(changed.count(), 1);
        PictureView &view = stage.pane.view();
        QVERIFY(view.hasPicture());
        QCOMPARE(view.titleText(), QString());
        QCOMPARE(view.picture().boxes.size(), 7U); // three up, itself, three down
        const std::uint32_t above = boxTitled(view, std::string(stage.trace->label(stage.op("relu_2"))));
        QVERIFY(above != PictureView::kNoBox);
        clickBox(view, above);
        QCOMPARE(changed.count(), 2);
        QCOMPARE(stage.selection.op(), stage.op("relu_2"));
        QCOMPARE(stage.pane.start(), stage.op("relu_4"));
        QCOMPARE(view.current(), above);
        // A double click makes it the middle.
        QSignalSpy activated(&stage.selection, &TraceSelection::activated);
        clickBox(view, above, true);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(stage.pane.start(), stage.op("relu_2"));
    }

    void lineageGoesByKeys()
    {
        Stage<LineagePane> stage;
        stage.setTrace(chainText());
        stage.selection.selectOp(stage.op("relu_4"));
        QTest::keyClick(&stage.pane.view().canvas(), Qt::Key_Down);
        QCOMPARE(stage.selection.op(), stage.op("relu_5"));
        QTest::keyClick(&stage.pane.view().canvas(), Qt::Key_Up);
        QCOMPARE(stage.selection.op(), stage.op("relu_4"));
        QTest::keyClick(&stage.pane.view().canvas(), Qt::Key_BracketLeft);
        QCOMPARE(stage.pane.depth(), 2);
        QCOMPARE(stage.pane.view().picture().boxes.size(), 5U);
        QTest::keyClick(&stage.pane.view().canvas(), Qt::Key_BracketRight);
        QCOMPARE(stage.pane.view().picture().boxes.size(), 7U);
        const double zoom = stage.pane.view().canvas().viewport().zoom();
        QTest::keyClick(&stage.pane.view().canvas(), Qt::Key_Minus);
        QVERIFY(stage.pane.view().canvas().viewport().zoom() < zoom);
        QTest::keyClick(&stage.pane.view().canvas(), Qt::Key_F);
        QVERIFY(stage.pane.view().canvas().isFitted());
    }

    void lineageDirectionsAndState()
    {
        Stage<LineagePane> stage;
        stage.setTrace(chainText());
        stage.selection.selectOp(stage.op("relu_4"));
        QTest::mouseClick(buttonNamed(stage.pane, "Direction: Ancestors"), Qt::LeftButton);
        QCOMPARE(stage.pane.view().picture().boxes.size(), 4U);
        QTest::mouseClick(buttonNamed(stage.pane, "As many steps as there are"), Qt::LeftButton);
        QCOMPARE(stage.pane.depth(), 0);
        QVERIFY(stage.pane.view().picture().boxes.size() >= 6U);
        const QByteArray state = stage.pane.viewState();
        Stage<LineagePane> other;
        other.pane.restoreViewState(state);
        QCOMPARE(other.pane.direction(), LineagePane::Direction::ancestors);
        QCOMPARE(other.pane.depth(), 0);
    }

    void lineageDisclosesItsCeiling()
    {
        std::string text = "input x:f32[1]=1\n";
        for (int i = 0; i < 300; ++i)
            text += "relu " + (i == 0 ? std::string("x") : "v" + std::to_string(i - 1)) + " -> v" +
                    std::to_string(i) + ":f32[1]=1\n";
        Stage<LineagePane> stage;
        stage.setTrace(text + "output v299\n");
        stage.pane.setDepth(0);
        stage.selection.selectOp(stage.op("relu_150"));
        QCOMPARE(stage.pane.view().picture().boxes.size(), 200U);
        QVERIFY2(stage.pane.view().noticeText().contains("nearest 200 ops"),
                 qPrintable(stage.pane.view().noticeText()));
        QTest::mouseClick(buttonNamed(stage.pane.view(), "Show up to " + countText(1000)), Qt::LeftButton);
        QVERIFY(stage.pane.view().picture().boxes.size() > 290U);
        QCOMPARE(stage.pane.view().noticeText(), QString());
    }

    void picturesCanBeWritten()
    {
        Stage<LineagePane> lineage;
        QVERIFY(lineage.pane.exportPicture().isEmpty());
        lineage.setTrace(chainText());
        QVERIFY(!lineage.pane.headerControls().front()->isEnabled());
        lineage.selection.selectOp(lineage.op("relu_4"));
        QVERIFY(lineage.pane.headerControls().front()->isEnabled());
        const PictureExport picture = lineage.pane.exportPicture();
        QCOMPARE(picture.fileName, QString("lineage-relu_4_6"));
        QVERIFY2(picture.dot.find("digraph") == 0 && picture.dot.find("->") != std::string::npos,
                 picture.dot.c_str());
        QVERIFY(picture.dot.find("relu_4") != std::string::npos);
        QVERIFY(!picture.list.bounds().isEmpty());
        QVERIFY2(picture.footer.front().find("3 steps") != std::string::npos, picture.footer.front().c_str());

        Stage<GradFnPane> gradients;
        gradients.setTrace(chainText());
        QVERIFY(gradients.pane.exportPicture().dot.find("MulBackward0") != std::string::npos);
    }

    // A skip past other functions: an order by the walk alone would put the leaf of the short way first or
    // last.
    void gradFunctionsStandBeforeTheirConsumers()
    {
        core::GradFnSketch sketch;
        for (std::uint32_t i = 0; i < 5; ++i) {
            core::GradFnNode node;
            node.id = i;
            node.name = "N" + std::to_string(i);
            sketch.nodes.push_back(node);
        }
        // 1 was seen from 0 before 2, yet 3 feeds both and 1 feeds 2.
        sketch.edges = {{1, 0}, {2, 0}, {1, 2}, {3, 1}, {3, 2}, {4, 3}};
        const auto trace = tests::traceFromText(chainText());
        const core::GraphPicture picture = sketchPicture(*trace, sketch, {});
        QCOMPARE(picture.boxes.size(), 5U);
        for (const core::PictureEdge &edge : picture.edges)
            QVERIFY(edge.from < edge.to);
    }

    void aPinnedLineageStays()
    {
        Stage<LineagePane> stage;
        stage.setTrace(chainText());
        stage.selection.selectOp(stage.op("relu_4"));
        stage.pane.setPinned(true);
        for (const char *label : {"relu_1", "relu_2", "relu_6"})
            stage.selection.selectOp(stage.op(label));
        QCOMPARE(stage.pane.start(), stage.op("relu_4"));
    }

    void aHiddenLineageAsksWhenItIsShown()
    {
        Stage<LineagePane> stage;
        stage.pane.hide();
        QSignalSpy wished(&stage.pane, &LineagePane::lineageWished);
        stage.setTrace(chainText());
        stage.selection.selectOp(stage.op("relu_4"));
        QCOMPARE(wished.count(), 0);
        stage.pane.show();
        QCOMPARE(wished.count(), 1);
    }

    void theFormerPictureStaysUntilTheNewOneIsPlaced()
    {
        Stage<LineagePane> stage;
        stage.setTrace(chainText());
        stage.selection.selectOp(stage.op("relu_4"));
        stage.answers = false;
        stage.pane.setDepth(1);
        QCOMPARE(stage.pane.view().picture().boxes.size(), 7U);
        core::LayoutResult late = placed(stage.lastRequest);
        late.id += 1; // somebody else's
        stage.pane.view().setLayout(late);
        QCOMPARE(stage.pane.view().picture().boxes.size(), 7U);
        late.id -= 1;
        late.simplified = true;
        late.note = "the layout program ended before it answered";
        stage.pane.view().setLayout(late);
        QCOMPARE(stage.pane.view().picture().boxes.size(), 3U);
        QVERIFY(buttonNamed(stage.pane.view(), "Try again") != nullptr ||
                buttonNamed(stage.pane.view(), "Act on this notice") != nullptr);
    }

    void gradFnShowsNodesStatesAndLeaves()
    {
        Stage<GradFnPane> stage;
        stage.setTrace(chainText());
        PictureView &view = stage.pane.view();
        QVERIFY2(view.hasPicture(), qPrintable(view.titleText() + view.bodyText()));
        const std::uint32_t sum = boxTitled(view, "SumBackward0");
        const std::uint32_t mul = boxTitled(view, "MulBackward0");
        const std::uint32_t leaf = boxTitled(view, "fc.weight");
        QVERIFY(sum != PictureView::kNoBox && mul != PictureView::kNoBox && leaf != PictureView::kNoBox);
        QStringList subtitles;
        for (const core::PictureBox &box : view.picture().boxes)
            subtitles.push_back(QString::fromStdString(box.subtitle));
        QVERIFY2(!subtitles.filter("fp32").isEmpty(), qPrintable(subtitles.join('|'))); // as in the graph
        QVERIFY(subtitles.filter("float32").isEmpty());
        QCOMPARE(view.picture().boxes[sum].state, core::NodeState::origin);
        QCOMPARE(view.picture().boxes[mul].state, core::NodeState::propagated);
        // Forward direction: the leaf stands above what it feeds.
        QVERIFY(view.boxRect(leaf).y < view.boxRect(mul).y);
        QVERIFY(view.boxRect(mul).y < view.boxRect(sum).y);
    }

    void gradFnClicksSelectTheFunctionAndOpenItsOp()
    {
        Stage<GradFnPane> stage;
        stage.setTrace(chainText());
        PictureView &view = stage.pane.view();
        const std::uint32_t mul = boxTitled(view, "MulBackward0");
        QSignalSpy changed(&stage.selection, &TraceSelection::changed);
        clickBox(view, mul);
        QCOMPARE(changed.count(), 1);
        QVERIFY(std::holds_alternative<GradItem>(stage.selection.item()));
        QCOMPARE(stage.selection.op(), stage.op("mul_1"));
        QSignalSpy activated(&stage.selection, &TraceSelection::activated);
        QTest::keyClick(&view.canvas(), Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QVERIFY(std::holds_alternative<OpItem>(stage.selection.item()));
        // From elsewhere: its box is marked, nothing echoes.
        const auto before = changed.count();
        stage.selection.selectOp(stage.op("sum_1"));
        QCOMPARE(changed.count(), before + 1);
        QCOMPARE(view.current(), boxTitled(view, "SumBackward0"));
    }

    void gradFnWithoutAGraphSaysHowToRecordIt()
    {
        Stage<GradFnPane> stage;
        QCOMPARE(stage.pane.view().titleText(), QString("No trace is open"));
        stage.setTrace("input x:f32[1]=1\nrelu x -> y:f32[1]=1\noutput y\n");
        QCOMPARE(stage.pane.view().titleText(), QString("This trace holds no autograd graph"));
        QVERIFY(stage.pane.view().bodyText().contains("backward pass"));
    }

    void gradFnStartsFromTheSelectedOp()
    {
        Stage<GradFnPane> stage;
        stage.setTrace(chainText());
        QTest::mouseClick(buttonNamed(stage.pane, "Walk from the selected op"), Qt::LeftButton);
        QCOMPARE(stage.pane.view().titleText(), QString("No op is selected"));
        stage.selection.selectOp(stage.op("relu_3"));
        // No node hangs on it: words, not an empty picture.
        QCOMPARE(stage.pane.view().titleText(), QString("There is nothing to walk"));
        QVERIFY(stage.pane.view().bodyText().contains("no autograd graph"));
        QTest::mouseClick(buttonNamed(stage.pane, "Walk from the outputs of the model"), Qt::LeftButton);
        QVERIFY(boxTitled(stage.pane.view(), "SumBackward0") != PictureView::kNoBox);
    }

    void gradFnDisclosesItsCeiling()
    {
        std::string text = "input x:f32[1]=1\n";
        std::string nodes;
        for (int i = 0; i < 500; ++i) {
            const std::string n = std::to_string(i);
            text += "relu " + (i == 0 ? std::string("x") : "v" + std::to_string(i - 1)) + " -> v" + n +
                    ":f32[1]=1\n";
            nodes += "node n" + n + " ReluBackward0 " +
                     (i == 0 ? std::string() : "next=n" + std::to_string(i - 1) + " ") + "of v" + n + "\n";
        }
        Stage<GradFnPane> stage;
        stage.setTrace(text + "output v499\n" + nodes + "backward loss=v499 roots=n499\n");
        QVERIFY2(stage.pane.view().noticeText().contains("Cut at 400 grad functions; the graph has"),
                 qPrintable(stage.pane.view().noticeText() + stage.pane.view().titleText()));
        QTest::mouseClick(buttonNamed(stage.pane.view(), "Show up to " + countText(20000)), Qt::LeftButton);
        QVERIFY(stage.pane.view().picture().boxes.size() >= 500U);
        QCOMPARE(stage.pane.view().noticeText(), QString());
    }
};

QTEST_MAIN(TestPicturePanes)
#include "tst_picture_panes.moc"
