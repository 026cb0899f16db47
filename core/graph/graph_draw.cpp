// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_draw.h"

#include "core/graph/edge_curve.h"
#include "core/graph/graph_layout.h"
#include "core/graph/graph_look.h"

#include <algorithm>
#include <cmath>

namespace core {

namespace {

constexpr float kDimmed = 0.3F;
constexpr double kEdgeRadius = 12.0;
constexpr std::uint32_t kBundle = 3;
constexpr std::size_t kMostFarEdges = 6000; // arrows of a picture seen as bars
constexpr std::size_t kMostAlerts = 400;

HitId hitId(GraphHit kind, std::size_t index)
{
    return {static_cast<std::uint16_t>(kind), static_cast<std::uint32_t>(index)};
}

class Drawing
{
public:
    Drawing(const GraphPicture &picture, const LayoutResult &layout, const GraphLook &look)
        : m_picture(picture), m_layout(layout), m_look(look), m_level(detailLevel(look.zoom))
    {
    }

    DrawList draw()
    {
        for (std::size_t i = 1; i < m_picture.clusters.size(); ++i)
            drawCluster(i);
        if (m_level != DetailLevel::bar || m_picture.edges.size() <= kMostFarEdges)
            for (std::size_t i = 0; i < m_picture.edges.size(); ++i)
                drawEdge(i);
        // Over the edges that enter a frame through its header.
        if (m_level != DetailLevel::bar)
            for (std::size_t i = 1; i < m_picture.clusters.size(); ++i)
                if (isVisible(m_layout.clusters[i]))
                    drawClusterHeader(i);
        for (std::uint32_t i = 0; i < m_picture.boxes.size(); ++i)
            drawBoxAndStubs(i);
        if (m_level == DetailLevel::bar)
            drawAlerts();
        return std::move(m_list);
    }

private:
    Rect scaled(const Rect &rect) const
    {
        return {rect.x * m_look.zoom, rect.y * m_look.zoom, rect.width * m_look.zoom,
                rect.height * m_look.zoom};
    }
    bool isVisible(const Rect &rect) const
    {
        return m_look.visible.isEmpty() || m_look.visible.intersects(rect.expanded(8.0));
    }
    bool isEmphasised(std::uint32_t box) const { return m_look.emphasised.empty() || m_look.emphasised[box]; }
    bool isHovered(HitId id) const { return m_look.hovered == id; }

    void drawCluster(std::size_t index);
    void drawClusterHeader(std::size_t index);
    void drawEdge(std::size_t index);
    void drawBoxAndStubs(std::uint32_t index);
    void drawRings(std::uint32_t index, const Rect &box);
    void drawStub(const PictureStub &stub, std::size_t index, const Rect &box);
    void drawAlerts();

    const GraphPicture &m_picture;
    const LayoutResult &m_layout;
    const GraphLook &m_look;
    DetailLevel m_level;
    DrawList m_list;
};

void Drawing::drawCluster(std::size_t index)
{
    if (!isVisible(m_layout.clusters[index]))
        return;
    const Rect frame = scaled(m_layout.clusters[index]);
    Paint paint;
    paint.fill = ColorToken::module;
    paint.stroke = ColorToken::nodeb;
    if (m_look.selectedCluster == index) {
        paint.stroke = ColorToken::accent;
        paint.strokeWidth = 2.0F;
    } else if (isHovered(hitId(GraphHit::cluster, index))) {
        paint.stroke = ColorToken::accent;
    }
    const float radius = m_level == DetailLevel::bar ? 2.0F : 8.0F;
    m_list.rect(frame, paint, radius);
    m_list.hit(hitId(GraphHit::cluster, index), frame);
}

TextStyle scaledFont(TextStyle font, double scale)
{
    font.size = std::max(1.0F, std::round(font.size * static_cast<float>(scale)));
    return font;
}

void Drawing::drawClusterHeader(std::size_t index)
{
    const PictureCluster &cluster = m_picture.clusters[index];
    const Rect frame = scaled(m_layout.clusters[index]);
    const double scale = std::clamp(m_look.zoom / kTextZoom, 0.5, 1.0);
    const double height = std::min(kClusterHeader * m_look.zoom, 26.0);
    const Rect header = {frame.x, frame.y, frame.width, height};
    const double size = 11.0 * scale;
    const auto font = scaledFont(kTitleFont, scale);
    const auto small = scaledFont({FontFamily::words, FontWeight::regular, 12.0F}, scale);
    const StateLook look = stateLook(cluster.state, cluster.bornInBackward);
    const double left = frame.x + (look.hasGlyph ? 43.0 : 27.0) * scale;
    const std::string title = elidedMiddle(cluster.title, font, frame.right() - 10.0 - left);
    const double second = left + textWidth(title, font) + 9.0 * scale;
    const std::string subtitle = elidedRight(cluster.subtitle, small, frame.right() - 8.0 - second);
    const double end = std::min(second + textWidth(subtitle, small) + 3.0, frame.right() - 3.0);
    Paint ground;
    ground.fill = ColorToken::module;
    m_list.rect({frame.x + 4.0, header.y + 3.0, end - frame.x - 4.0, std::max(0.0, height - 4.0)}, ground);
    m_list.glyph({frame.x + 10.0 * scale, header.center().y - size / 2.0, size, size}, Glyph::chevronDown,
                 ColorToken::second);
    if (look.hasGlyph)
        m_list.glyph({frame.x + 27.0 * scale, header.center().y - size / 2.0, size, size}, look.glyph,
                     look.ink);
    m_list.text({left, header.y, frame.right() - 10.0 - left, height}, title, font, ColorToken::text);
    m_list.text({second, header.y, frame.right() - 8.0 - second, height}, subtitle, small,
                ColorToken::second);
    m_list.hit(hitId(GraphHit::clusterFold, index), {frame.x, frame.y, 26.0, std::max(height, 14.0)});
}

void Drawing::drawEdge(std::size_t index)
{
    const PictureEdge &edge = m_picture.edges[index];
    const std::vector<Point> &points = m_layout.edges[index];
    Rect area = {points[0].x, points[0].y, 0.0, 0.0};
    for (const Point &point : points) {
        const double left = std::min(area.x, point.x);
        const double top = std::min(area.y, point.y);
        area = {left, top, std::max(area.right(), point.x) - left, std::max(area.bottom(), point.y) - top};
    }
    if (!isVisible(area))
        return;
    const HitId id = hitId(GraphHit::edge, index);
    EdgeLook look = edgeLook(edge.kind);
    const bool emphasised = isEmphasised(edge.from) && isEmphasised(edge.to);
    if (m_look.pathEdges && emphasised && !m_look.emphasised.empty())
        look = {ColorToken::text, 3.0F, Dash::solid};
    if (m_look.selectedEdge == index || isHovered(id)) {
        look.color = ColorToken::accent;
        look.width = std::max(look.width, 2.0F);
    }
    Paint paint;
    paint.stroke = look.color;
    paint.dash = look.dash;
    paint.opacity = emphasised ? 1.0F : kDimmed;
    if (m_level == DetailLevel::bar) {
        paint.strokeWidth = edge.kind == EdgeKind::data || edge.kind == EdgeKind::alias ? 1.0F : 1.5F;
        paint.dash = Dash::solid;
        m_list.polyline(roundedLine(points, m_look.zoom, 0.0), paint);
        return;
    }
    std::vector<Point> line = roundedLine(points, m_look.zoom, kEdgeRadius);
    const double head = (edge.kind == EdgeKind::nan ? 10.0 : 8.0) * std::clamp(m_look.zoom / 0.6, 0.5, 1.0);
    if (edge.count >= kBundle) {
        Paint pale = paint;
        pale.dash = Dash::solid;
        pale.strokeWidth = 6.0F;
        pale.opacity *= 0.35F;
        m_list.polyline(line, pale);
    }
    // A stack's front is below its other cards.
    if (m_picture.boxes[edge.to].kind == BoxKind::stack)
        line.back().y -= 7.0 * std::min(1.0, m_look.zoom / kTextZoom);
    const Point tip = line.back();
    const Point before = line[line.size() - 2];
    const double length = std::max(1e-6, std::hypot(tip.x - before.x, tip.y - before.y));
    const double cut = std::min(head * 0.8, length * 0.9); // a wide line does not stick out of its own tip
    line.back() = {tip.x - (tip.x - before.x) / length * cut, tip.y - (tip.y - before.y) / length * cut};
    paint.strokeWidth = look.width;
    m_list.polyline(line, paint);
    m_list.arrowHead(before, tip, static_cast<float>(head), look.color, paint.opacity);
    line.back() = tip;
    m_list.hitLine(id, line);
}

void Drawing::drawRings(std::uint32_t index, const Rect &box)
{
    const float radius = m_level == DetailLevel::bar ? 2.0F : 9.0F;
    Paint ring;
    ring.stroke = ColorToken::accent;
    if (std::find(m_look.selected.begin(), m_look.selected.end(), index) != m_look.selected.end()) {
        ring.strokeWidth = 2.5F;
        const double gap = lookOf(m_picture.boxes[index]).doubled ? 6.0 : 3.5;
        m_list.rect(box.expanded(gap), ring, radius);
    } else if (isHovered(hitId(GraphHit::box, index))) {
        ring.strokeWidth = 1.0F;
        m_list.rect(box.expanded(3.0), ring, radius);
    }
    if (!m_look.matches.empty() && m_look.matches[index]) {
        ring.stroke = ColorToken::warn;
        ring.dash = Dash::dashed;
        ring.strokeWidth = 1.5F;
        m_list.rect(box.expanded(6.0), ring, radius);
    }
}

void Drawing::drawBoxAndStubs(std::uint32_t index)
{
    if (!isVisible(m_layout.nodes[index]))
        return;
    const PictureBox &box = m_picture.boxes[index];
    const BoxFrame frame = {scaled(boxRect(m_picture, m_layout, index)), m_look.zoom};
    const std::size_t first = m_list.items().size();
    switch (m_level) {
    case DetailLevel::bar:
        drawBar(m_list, box, frame);
        break;
    case DetailLevel::name:
        drawNameBox(m_list, box, frame);
        break;
    case DetailLevel::normal:
        drawNormalBox(m_list, box, frame);
        break;
    case DetailLevel::full:
        drawFullBox(m_list, box, frame);
        break;
    }
    drawRings(index, frame.box);
    m_list.hit(hitId(GraphHit::box, index), frame.box);
    if (m_level != DetailLevel::bar) {
        const std::span<const PictureStub> stubs = stubsOf(m_picture, index);
        for (const PictureStub &stub : stubs)
            drawStub(stub, static_cast<std::size_t>(&stub - m_picture.stubs.data()), frame.box);
        if (box.canUnfold && m_level != DetailLevel::name)
            m_list.hit(hitId(GraphHit::boxUnfold, index),
                       {frame.box.right() - 24.0, frame.box.center().y, 24.0, frame.box.height / 2.0});
    }
    if (!isEmphasised(index))
        m_list.fadeFrom(first, kDimmed);
}

void Drawing::drawStub(const PictureStub &stub, std::size_t index, const Rect &box)
{
    const Rect pill = scaled(stubRect(m_picture, m_layout, stub));
    const double scale = std::clamp(m_look.zoom / kTextZoom, 0.4, 1.0);
    Paint paint;
    paint.fill = ColorToken::canvas;
    paint.stroke = isHovered(hitId(GraphHit::stub, index)) ? ColorToken::accent : ColorToken::nodeb;
    Paint line;
    line.stroke = ColorToken::edge;
    line.strokeWidth = 1.5F;
    const double y = pill.center().y;
    const Point atPill = {stub.onLeft ? pill.right() : pill.x, y};
    const Point atBox = {stub.onLeft ? box.x : box.right(), y};
    const Point from = stub.atProducer ? atBox : atPill;
    const Point to = stub.atProducer ? atPill : atBox;
    m_list.line(from, to, line);
    m_list.arrowHead(from, to, static_cast<float>(7.0 * scale), ColorToken::edge);
    m_list.rect(pill, paint, static_cast<float>(pill.height / 2.0));
    const double size = 11.0 * scale;
    m_list.glyph({pill.x + 8.0 * scale, y - size / 2.0, size, size}, Glyph::stub, ColorToken::second);
    TextStyle font = kStubFont;
    font.size = std::max(1.0F, std::round(font.size * static_cast<float>(scale)));
    const double left = pill.x + 23.0 * scale;
    const double room = pill.right() - 6.0 * scale - left;
    m_list.text({left, pill.y, room, pill.height}, elidedRight(stub.text, font, room), font,
                ColorToken::second);
    m_list.hit(hitId(GraphHit::stub, index), pill);
}

void Drawing::drawAlerts()
{
    std::size_t drawn = 0;
    for (std::uint32_t i = 0; i < m_picture.boxes.size() && drawn < kMostAlerts; ++i) {
        if (!isBirth(m_picture.boxes[i]) || !isVisible(m_layout.nodes[i]))
            continue;
        const Rect box = scaled(boxRect(m_picture, m_layout, i));
        m_list.glyph({box.right() + 4.0, box.center().y - 6.0, 12.0, 12.0}, Glyph::diamond, ColorToken::nan);
        ++drawn;
    }
}

} // namespace

DetailLevel detailLevel(double zoom)
{
    if (zoom < 0.25)
        return DetailLevel::bar;
    if (zoom < 0.6)
        return DetailLevel::name;
    return zoom <= 1.1 ? DetailLevel::normal : DetailLevel::full;
}

DrawList drawGraph(const GraphPicture &picture, const LayoutResult &layout, const GraphLook &look)
{
    return Drawing(picture, layout, look).draw();
}

DrawList drawGraphMap(const GraphPicture &picture, const LayoutResult &layout, const Rect &size,
                      const Rect &viewport)
{
    DrawList list;
    const Rect all = layout.bounds();
    const double scale =
        std::min(size.width / std::max(all.width, 1.0), size.height / std::max(all.height, 1.0));
    const double dx = size.x + (size.width - all.width * scale) / 2.0 - all.x * scale;
    const double dy = size.y + (size.height - all.height * scale) / 2.0 - all.y * scale;
    const auto place = [&](const Rect &rect) {
        return Rect{rect.x * scale + dx, rect.y * scale + dy, rect.width * scale, rect.height * scale};
    };
    // More bars than rows of pixels would be the same picture, slower.
    const std::size_t step = std::max<std::size_t>(1, picture.boxes.size() / 2000);
    for (std::uint32_t i = 0; i < picture.boxes.size(); ++i) {
        const bool bad = isBirth(picture.boxes[i]);
        if (i % step != 0 && !bad)
            continue;
        const Rect box = place(boxRect(picture, layout, i));
        Paint paint;
        const StateLook look = lookOf(picture.boxes[i]);
        paint.fill = look.hasGlyph ? look.ink : ColorToken::nodeb;
        list.rect({box.x, box.y, std::max(2.0, box.width), std::max(1.5, box.height)}, paint);
        if (bad)
            list.glyph({std::max(size.x + 1.0, box.x - 10.0), box.center().y - 4.0, 8.0, 8.0}, Glyph::diamond,
                       ColorToken::nan);
    }
    if (!viewport.isEmpty()) {
        Paint outline;
        outline.stroke = ColorToken::accent;
        outline.strokeWidth = 1.5F;
        list.rect(place(viewport), outline, 3.0F);
    }
    return list;
}

} // namespace core
