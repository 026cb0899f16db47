// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_layout.h"

#include <algorithm>
#include <array>

namespace core {

namespace {

constexpr std::array<double, 4> kWidthSteps = {140.0, 206.0, 272.0, 352.0};
constexpr double kTextLeft = 14.0;
constexpr double kTextRight = 12.0;
constexpr double kGlyphSpace = 18.0;
constexpr double kBadgePadding = 10.0;
constexpr double kMarkSpace = 15.0;
constexpr double kLongestPill = 180.0;

double sideSpace(const GraphPicture &picture, std::uint32_t box)
{
    double widest = 0.0;
    for (const PictureStub &stub : stubsOf(picture, box))
        widest = std::max(widest, stubWidth(stub) + kStubGap);
    return widest;
}

} // namespace

int markCount(const PictureBox &box)
{
    return (box.canUnfold ? 1 : 0) + (box.inPlace ? 1 : 0) + (box.view ? 1 : 0) +
           (box.bornInBackward ? 1 : 0);
}

double boxWidth(const PictureBox &box)
{
    const bool hasGlyph = box.state != NodeState::clean || box.bornInBackward;
    const double glyph = hasGlyph ? kGlyphSpace : 0.0; // both lines begin behind it
    double title = textWidth(box.title, kTitleFont) + glyph;
    if (!box.badges.empty())
        title += textWidth(box.badges.front().text, kBadgeFont) + kBadgePadding + 8.0;
    const double detail = textWidth(box.subtitle, kDetailFont) + glyph + markCount(box) * kMarkSpace;
    const double needed = (std::max(title, detail) + kTextLeft + kTextRight) / kTextZoom;
    for (const double step : kWidthSteps)
        if (needed <= step)
            return step;
    return kWidthSteps.back();
}

std::span<const PictureStub> stubsOf(const GraphPicture &picture, std::uint32_t box)
{
    const auto found =
        std::equal_range(picture.stubs.begin(), picture.stubs.end(), PictureStub{box, false, true, 0, {}, {}},
                         [](const PictureStub &a, const PictureStub &b) { return a.box < b.box; });
    return {found.first, found.second};
}

double stubWidth(const PictureStub &stub)
{
    return std::min(kLongestPill, (textWidth(stub.text, kStubFont) + 34.0) / kTextZoom);
}

LayoutRequest graphLayoutRequest(const GraphPicture &picture, std::uint64_t id)
{
    LayoutRequest request;
    request.id = id;
    for (std::uint32_t i = 0; i < picture.boxes.size(); ++i)
        request.nodes.push_back(
            {boxWidth(picture.boxes[i]) + 2.0 * sideSpace(picture, i), kBoxHeight, picture.boxes[i].cluster});
    request.clusters.clear();
    for (const PictureCluster &cluster : picture.clusters) {
        const double header =
            textWidth(cluster.title, kTitleFont) + textWidth(cluster.subtitle, kStubFont) + 60.0;
        request.clusters.push_back({cluster.parent, request.clusters.empty() ? 0.0 : header});
    }
    for (const PictureEdge &edge : picture.edges)
        request.edges.push_back({edge.from, edge.to});
    return request;
}

std::vector<Rect> placedRects(const GraphPicture &picture, const LayoutResult &layout)
{
    std::vector<Rect> rects;
    rects.reserve(picture.boxes.size() + picture.stubs.size());
    for (std::uint32_t i = 0; i < picture.boxes.size(); ++i)
        rects.push_back(boxRect(picture, layout, i));
    for (const PictureStub &stub : picture.stubs)
        rects.push_back(stubRect(picture, layout, stub));
    return rects;
}

Rect boxRect(const GraphPicture &picture, const LayoutResult &layout, std::uint32_t box)
{
    const Rect &node = layout.nodes[box];
    const double side = sideSpace(picture, box);
    return {node.x + side, node.y, node.width - 2.0 * side, node.height};
}

Rect stubRect(const GraphPicture &picture, const LayoutResult &layout, const PictureStub &stub)
{
    const Rect box = boxRect(picture, layout, stub.box);
    const double width = stubWidth(stub);
    const double x = stub.onLeft ? box.x - kStubGap - width : box.right() + kStubGap;
    // One pill stands at the middle of its side, two share it.
    std::uint32_t rows = 0;
    for (const PictureStub &other : stubsOf(picture, stub.box))
        rows += other.onLeft == stub.onLeft ? 1 : 0;
    const double y = rows <= 1 ? box.center().y - kStubHeight / 2.0
                               : box.y + stub.row * (box.height - kStubHeight) / (rows - 1);
    return {x, y, width, kStubHeight};
}

} // namespace core
