// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/draw_list.h"

#include <array>
#include <cmath>

namespace core {

namespace {

Rect boundsOf(std::span<const Point> points)
{
    if (points.empty())
        return {};
    Point low = points.front();
    Point high = points.front();
    for (const Point &point : points) {
        low = {std::min(low.x, point.x), std::min(low.y, point.y)};
        high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
    return {low.x, low.y, high.x - low.x, high.y - low.y};
}

double squaredDistance(Point point, Point from, Point to)
{
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const double length = dx * dx + dy * dy;
    double along = 0.0;
    if (length > 0.0)
        along = std::clamp(((point.x - from.x) * dx + (point.y - from.y) * dy) / length, 0.0, 1.0);
    const double x = from.x + along * dx - point.x;
    const double y = from.y + along * dy - point.y;
    return x * x + y * y;
}

} // namespace

std::string_view glyphName(Glyph glyph)
{
    static constexpr std::array<std::string_view, 21> kNames = {
        "diamond", "dottedDiamond", "triangle",    "stepArrow",    "arrowToBar",  "stopBar", "ringCheck",
        "openDot", "dot",           "dashedFrame", "loopArrow",    "gradient",    "note",    "bookmark",
        "pin",     "flag",          "stub",        "chevronRight", "chevronDown", "warning", "info",
    };
    const auto index = static_cast<std::size_t>(glyph);
    return index < kNames.size() ? kNames[index] : std::string_view("unknown");
}

DrawItem &DrawList::add(DrawKind kind, const Rect &box, const Paint &paint)
{
    DrawItem item;
    item.kind = kind;
    item.box = box;
    item.paint = paint;
    m_items.push_back(item);
    // A horizontal or vertical line bounds too.
    m_bounds = m_bounds.united({box.x, box.y, std::max(box.width, 0.5), std::max(box.height, 0.5)});
    return m_items.back();
}

void DrawList::rect(const Rect &box, const Paint &paint, float radius)
{
    add(DrawKind::rect, box, paint).radius = radius;
}

void DrawList::ellipse(const Rect &box, const Paint &paint)
{
    add(DrawKind::ellipse, box, paint);
}

void DrawList::line(Point from, Point to, const Paint &paint)
{
    const std::array<Point, 2> points = {from, to};
    polyline(points, paint);
}

void DrawList::polyline(std::span<const Point> points, const Paint &paint)
{
    DrawItem &item = add(DrawKind::polyline, boundsOf(points), paint);
    item.first = static_cast<std::uint32_t>(m_points.size());
    item.count = static_cast<std::uint32_t>(points.size());
    m_points.insert(m_points.end(), points.begin(), points.end());
}

void DrawList::polygon(std::span<const Point> points, const Paint &paint)
{
    polyline(points, paint);
    m_items.back().kind = DrawKind::polygon;
}

void DrawList::arrowHead(Point from, Point tip, float size, ColorToken color, float opacity)
{
    const double length = std::hypot(tip.x - from.x, tip.y - from.y);
    if (length <= 0.0)
        return;
    const Point along = {(tip.x - from.x) / length, (tip.y - from.y) / length};
    const Point foot = {tip.x - along.x * size, tip.y - along.y * size};
    const double half = size * 0.5;
    const std::array<Point, 3> points = {tip, Point{foot.x - along.y * half, foot.y + along.x * half},
                                         Point{foot.x + along.y * half, foot.y - along.x * half}};
    Paint paint;
    paint.fill = color;
    paint.opacity = opacity;
    polygon(points, paint);
}

void DrawList::text(const Rect &box, std::string_view text, TextStyle font, ColorToken color, TextAlign align)
{
    if (text.empty())
        return;
    Paint paint;
    paint.fill = color;
    DrawItem &item = add(DrawKind::text, box, paint);
    item.align = align;
    item.font = font;
    item.first = static_cast<std::uint32_t>(m_texts.size());
    item.count = static_cast<std::uint32_t>(text.size());
    m_texts += text;
}

void DrawList::glyph(const Rect &box, Glyph glyph, ColorToken color)
{
    Paint paint;
    paint.fill = color;
    add(DrawKind::glyph, box, paint).glyph = glyph;
}

void DrawList::hit(HitId id, const Rect &box)
{
    m_hits.push_back({id, box, 0, 0});
}

void DrawList::hitLine(HitId id, std::span<const Point> points)
{
    m_hits.push_back({id, boundsOf(points), static_cast<std::uint32_t>(m_points.size()),
                      static_cast<std::uint32_t>(points.size())});
    m_points.insert(m_points.end(), points.begin(), points.end());
}

std::span<const Point> DrawList::points(const DrawItem &item) const
{
    if (item.kind != DrawKind::polyline && item.kind != DrawKind::polygon)
        return {};
    return std::span(m_points).subspan(item.first, item.count);
}

std::span<const Point> DrawList::points(const HitRegion &region) const
{
    return std::span(m_points).subspan(region.first, region.count);
}

std::string_view DrawList::textOf(const DrawItem &item) const
{
    if (item.kind != DrawKind::text)
        return {};
    return std::string_view(m_texts).substr(item.first, item.count);
}

void DrawList::append(const DrawList &other, double dx, double dy)
{
    const auto pointShift = static_cast<std::uint32_t>(m_points.size());
    const auto textShift = static_cast<std::uint32_t>(m_texts.size());
    for (DrawItem item : other.m_items) {
        item.box = item.box.translated(dx, dy);
        item.first += item.kind == DrawKind::text ? textShift : pointShift;
        m_items.push_back(item);
    }
    for (HitRegion region : other.m_hits) {
        region.box = region.box.translated(dx, dy);
        region.first += pointShift;
        m_hits.push_back(region);
    }
    for (const Point &point : other.m_points)
        m_points.push_back({point.x + dx, point.y + dy});
    m_texts += other.m_texts;
    m_bounds = m_bounds.united(other.m_bounds.translated(dx, dy));
}

void DrawList::fadeFrom(std::size_t first, float opacity)
{
    for (std::size_t i = first; i < m_items.size(); ++i)
        m_items[i].paint.opacity *= opacity;
}

HitId DrawList::hitTest(Point point, double tolerance) const
{
    HitId nearest;
    double best = tolerance * tolerance;
    for (auto region = m_hits.rbegin(); region != m_hits.rend(); ++region) {
        if (region->count == 0) {
            if (region->box.contains(point))
                return region->id;
            continue;
        }
        if (!region->box.expanded(tolerance).contains(point))
            continue;
        const std::span<const Point> line = points(*region);
        for (std::size_t i = 1; i < line.size(); ++i) {
            const double distance = squaredDistance(point, line[i - 1], line[i]);
            if (distance < best) {
                best = distance;
                nearest = region->id;
            }
        }
    }
    return nearest;
}

} // namespace core
