// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/draw_list.h"

#include <fmt/format.h>

namespace core {

namespace {

std::string printRect(const Rect &box)
{
    return fmt::format("{:.1f},{:.1f} {:.1f}x{:.1f}", box.x, box.y, box.width, box.height);
}

std::string printPaint(const Paint &paint)
{
    std::string out;
    if (paint.fill != ColorToken::none)
        out += fmt::format(" fill={}", colorTokenName(paint.fill));
    if (paint.hatch != Hatch::none)
        out += fmt::format(" hatch={}:{}", paint.hatch == Hatch::dense ? "dense" : "sparse",
                           colorTokenName(paint.hatchColor));
    if (paint.stroke != ColorToken::none)
        out += fmt::format(" stroke={}/{:.1f}", colorTokenName(paint.stroke), paint.strokeWidth);
    if (paint.dash != Dash::solid)
        out += paint.dash == Dash::dashed ? " dashed" : " dotted";
    if (paint.opacity != 1.0F)
        out += fmt::format(" opacity={:.2f}", paint.opacity);
    return out;
}

std::string printPoints(std::span<const Point> points)
{
    std::string out;
    for (const Point &point : points)
        out += fmt::format(" {:.1f},{:.1f}", point.x, point.y);
    return out;
}

std::string printText(const DrawList &list, const DrawItem &item)
{
    static constexpr std::string_view kAlign[] = {"", " center", " right"};
    static constexpr std::string_view kWeight[] = {"", " medium", " semibold"};
    return fmt::format("text {} \"{}\" {} {:.1f}{} {}{}", printRect(item.box), list.textOf(item),
                       item.font.family == FontFamily::mono ? "mono" : "words", item.font.size,
                       kWeight[static_cast<std::size_t>(item.font.weight)], colorTokenName(item.paint.fill),
                       kAlign[static_cast<std::size_t>(item.align)]);
}

std::string printItem(const DrawList &list, const DrawItem &item)
{
    switch (item.kind) {
    case DrawKind::rect:
        return fmt::format("rect {} r={:.1f}{}", printRect(item.box), item.radius, printPaint(item.paint));
    case DrawKind::ellipse:
        return fmt::format("ellipse {}{}", printRect(item.box), printPaint(item.paint));
    case DrawKind::polyline:
        return fmt::format("polyline{}{}", printPoints(list.points(item)), printPaint(item.paint));
    case DrawKind::polygon:
        return fmt::format("polygon{}{}", printPoints(list.points(item)), printPaint(item.paint));
    case DrawKind::text:
        return printText(list, item);
    case DrawKind::glyph:
        return fmt::format("glyph {} {}{}", glyphName(item.glyph), printRect(item.box),
                           printPaint(item.paint));
    }
    return {};
}

} // namespace

std::string printDrawList(const DrawList &list)
{
    std::string out;
    for (const DrawItem &item : list.items())
        out += printItem(list, item) + '\n';
    for (const HitRegion &region : list.hits()) {
        out += fmt::format("hit {}:{} ", region.id.kind, region.id.index);
        out += region.count == 0 ? printRect(region.box) : "line" + printPoints(list.points(region));
        out += '\n';
    }
    return out;
}

} // namespace core
