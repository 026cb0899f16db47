// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/hierarchy_layout.h"
#include "core/layout/layered_layouter.h"
#include "core/layout/row_placement.h"

#include <QtTest>

#include <random>

using namespace core;

namespace {

// Fails as Graphviz may.
class RefusingLayouter : public GraphLayouter
{
public:
    Result<FlatLayout> layout(const FlatGraph &, JobContext &) override
    {
        return Status(ErrorCode::internal, "dot: gave no layout");
    }
    std::string_view name() const override { return "refusing"; }
};

LayoutRequest chain(std::size_t count)
{
    LayoutRequest request;
    request.id = 7;
    for (std::size_t i = 0; i < count; ++i)
        request.nodes.push_back({100.0, 40.0, 0});
    for (std::uint32_t i = 1; i < count; ++i)
        request.edges.push_back({i - 1, i});
    return request;
}

// x -> [a -> [b -> c] -> d] -> y, and x -> c across two frames.
LayoutRequest nested()
{
    LayoutRequest request;
    request.id = 3;
    request.clusters = {{0, 0.0}, {0, 150.0}, {1, 120.0}};
    for (const std::uint32_t cluster : {0U, 1U, 2U, 2U, 1U, 0U})
        request.nodes.push_back({120.0, 46.0, cluster});
    request.edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 3}};
    return request;
}

bool overlap(const Rect &a, const Rect &b)
{
    return a.expanded(-0.01).intersects(b.expanded(-0.01));
}

bool holds(const Rect &outer, const Rect &inner)
{
    return outer.x <= inner.x && outer.y <= inner.y && outer.right() >= inner.right() &&
           outer.bottom() >= inner.bottom();
}

} // namespace

class TestLayout : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsKeepDistanceAndOrder();
    void chainStandsStraight();
    void nestedFramesHoldTheirBoxes();
    void edgesMeetTheirBoxes();
    void cyclesAreLaidOut();
    void refusalFallsBack();
    void bigGraphsAreSimplifiedAndFast();
    void unfoldingLaysOutOnlyWhatChanged();
    void cancelStops();
    void requestsAreChecked();
    void codecReadsBack();
    void everyTruncationIsRefused();
    void hostileBytesNeverCrash();
};

void TestLayout::rowsKeepDistanceAndOrder()
{
    const std::vector<RowItem> items = {{10, 0, 1}, {10, 0, 1}, {20, 100, 1}, {10, 90, 1}};
    const std::vector<double> places = placeInRow(items, 5.0);
    QCOMPARE(places[0], -7.5);
    QCOMPARE(places[1], 7.5);
    QCOMPARE(places[3] - places[2], 20.0);
    QCOMPARE((places[2] - 100.0) + (places[3] - 90.0), 0.0);
    QCOMPARE(medianOf({3.0, 1.0, 2.0}), 2.0);
    QCOMPARE(medianOf({4.0, 1.0}), 2.5);
}

void TestLayout::chainStandsStraight()
{
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    const Result<LayoutResult> result = layout.layout(chain(5), context);
    QVERIFY(result.isOk());
    QCOMPARE(result->id, std::uint64_t(7));
    for (std::size_t i = 1; i < 5; ++i) {
        QCOMPARE(result->nodes[i].x, result->nodes[0].x);
        QCOMPARE(result->nodes[i].y, result->nodes[i - 1].bottom() + kRankSeparation);
    }
    QVERIFY(!result->simplified);
}

void TestLayout::nestedFramesHoldTheirBoxes()
{
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    const LayoutRequest request = nested();
    const Result<LayoutResult> result = layout.layout(request, context);
    QVERIFY(result.isOk());
    for (std::size_t i = 0; i < request.nodes.size(); ++i) {
        for (std::uint32_t c = request.nodes[i].cluster;; c = request.clusters[c].parent) {
            QVERIFY(holds(result->clusters[c], result->nodes[i]));
            if (c == 0)
                break;
        }
        for (std::size_t j = i + 1; j < request.nodes.size(); ++j)
            QVERIFY(!overlap(result->nodes[i], result->nodes[j]));
    }
    QVERIFY(holds(result->clusters[1], result->clusters[2]));
    QVERIFY(result->clusters[2].y >= result->clusters[1].y + kClusterHeader);
}

void TestLayout::edgesMeetTheirBoxes()
{
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    const LayoutRequest request = nested();
    const Result<LayoutResult> result = layout.layout(request, context);
    QVERIFY(result.isOk());
    for (std::size_t i = 0; i < request.edges.size(); ++i) {
        const std::vector<Point> &line = result->edges[i];
        QVERIFY(line.size() >= 2);
        QVERIFY(result->nodes[request.edges[i].from].expanded(1.0).contains(line.front()));
        QVERIFY(result->nodes[request.edges[i].to].expanded(1.0).contains(line.back()));
    }
}

void TestLayout::cyclesAreLaidOut()
{
    LayoutRequest request = chain(4);
    request.edges.push_back({3, 0});
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    const Result<LayoutResult> result = layout.layout(request, context);
    QVERIFY(result.isOk());
    QVERIFY(checkLayoutResult(request, *result).isOk());
    QVERIFY(result->edges[3].front().y > result->edges[3].back().y);
}

void TestLayout::refusalFallsBack()
{
    RefusingLayouter refusing;
    HierarchyLayout layout(refusing);
    JobContext context;
    const Result<LayoutResult> result = layout.layout(chain(3), context);
    QVERIFY(result.isOk());
    QVERIFY(result->simplified);
    QCOMPARE(result->note, std::string("dot: gave no layout"));
}

void TestLayout::bigGraphsAreSimplifiedAndFast()
{
    LayoutRequest request = chain(50000);
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {
        const auto from = static_cast<std::uint32_t>(random() % 49000);
        request.edges.push_back({from, from + 1 + static_cast<std::uint32_t>(random() % 40)});
    }
    RefusingLayouter refusing; // must not be asked
    HierarchyLayout layout(refusing);
    JobContext context;
    const Result<LayoutResult> result = layout.layout(request, context);
    QVERIFY(result.isOk());
    QVERIFY(result->simplified);
    QVERIFY(result->note.starts_with("50000 boxes"));
    QVERIFY(checkLayoutResult(request, *result).isOk());
    qInfo("50,000 boxes, 70,000 edges: %.0f ms", result->milliseconds);
    QVERIFY(result->milliseconds < 15000.0); // a bound against growth that is not linear, not a figure
}

void TestLayout::unfoldingLaysOutOnlyWhatChanged()
{
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    LayoutRequest request = nested();
    QVERIFY(layout.layout(request, context).isOk());
    QCOMPARE(layout.freshLayouts(), std::size_t(3));
    QVERIFY(layout.layout(request, context).isOk());
    QCOMPARE(layout.freshLayouts(), std::size_t(0));
    request.nodes[5].width = 200.0; // in the outermost frame
    QVERIFY(layout.layout(request, context).isOk());
    QCOMPARE(layout.freshLayouts(), std::size_t(1));
}

void TestLayout::cancelStops()
{
    std::stop_source stop;
    stop.request_stop();
    JobContext context(stop.get_token());
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    const Result<LayoutResult> result = layout.layout(chain(3), context);
    QVERIFY(!result.isOk());
    QVERIFY(result.error().code() == ErrorCode::cancelled);
}

void TestLayout::requestsAreChecked()
{
    LayoutRequest request = nested();
    QVERIFY(checkLayoutRequest(request).isOk());
    request.nodes[2].cluster = 9;
    QCOMPARE(checkLayoutRequest(request).message(), std::string("layout node 2: stands in cluster 9 of 3"));
    request = nested();
    request.clusters[1].parent = 2;
    QVERIFY(!checkLayoutRequest(request).isOk());
    request = nested();
    request.edges[0].to = 77;
    QVERIFY(!checkLayoutRequest(request).isOk());
    request = nested();
    request.nodes[0].width = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(!checkLayoutRequest(request).isOk());
}

void TestLayout::codecReadsBack()
{
    const LayoutRequest request = nested();
    const Result<LayoutRequest> requestBack = decodeLayoutRequest(encodeLayoutRequest(request));
    QVERIFY(requestBack.isOk());
    QVERIFY(*requestBack == request);
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    Result<LayoutResult> result = layout.layout(request, context);
    result->note = "why";
    const Result<LayoutResult> resultBack = decodeLayoutResult(encodeLayoutResult(*result));
    QVERIFY(resultBack.isOk());
    QVERIFY(*resultBack == *result);
}

void TestLayout::everyTruncationIsRefused()
{
    const std::vector<std::byte> whole = encodeLayoutRequest(nested());
    for (std::size_t length = 0; length < whole.size(); ++length)
        QVERIFY(!decodeLayoutRequest(std::span(whole).first(length)).isOk());
    LayeredLayouter layered;
    HierarchyLayout layout(layered);
    JobContext context;
    const std::vector<std::byte> result = encodeLayoutResult(*layout.layout(nested(), context));
    for (std::size_t length = 0; length < result.size(); ++length)
        QVERIFY(!decodeLayoutResult(std::span(result).first(length)).isOk());
}

void TestLayout::hostileBytesNeverCrash()
{
    const std::vector<std::byte> whole = encodeLayoutRequest(nested());
    std::mt19937 random(3);
    int good = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int i = 0; i < 8; ++i) {
            std::vector<std::byte> flipped = whole;
            flipped[at] ^= static_cast<std::byte>(1U << static_cast<unsigned>(i));
            const Result<LayoutRequest> request = decodeLayoutRequest(flipped);
            if (!request)
                continue;
            LayeredLayouter layered;
            HierarchyLayout layout(layered);
            JobContext context;
            const Result<LayoutResult> result = layout.layout(*request, context);
            QVERIFY(result.isOk());
            QVERIFY(checkLayoutResult(*request, *result).isOk());
            ++good;
        }
    }
    QVERIFY(good > 0);
}

QTEST_APPLESS_MAIN(TestLayout)
#include "tst_layout.moc"
