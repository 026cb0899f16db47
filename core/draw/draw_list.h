// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"
#include "core/draw/color_token.h"
#include "core/draw/text_metrics.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

enum class Dash : std::uint8_t { solid, dashed, dotted };
// Diagonal stripes over the fill: propagated and not-saved things must be told without colour.
enum class Hatch : std::uint8_t { none, dense, sparse };
enum class TextAlign : std::uint8_t { left, center, right };

// Small signs, drawn as vectors in a square box.
enum class Glyph : std::uint8_t {
    diamond,       // origin
    dottedDiamond, // cause
    triangle,      // propagated
    stepArrow,     // spreads
    arrowToBar,    // reached
    stopBar,       // sink
    ringCheck,     // healed
    openDot,       // not saved
    dot,           // saved
    dashedFrame,   // view
    loopArrow,     // in place
    gradient,      // has a gradient
    note,
    bookmark,
    pin,
    flag,
    stub, // the arrow in a fan-out pill
    chevronRight,
    chevronDown,
    warning,
    info,
};
std::string_view glyphName(Glyph glyph);

// How a shape is painted. Widths are pixels on the screen.
struct Paint
{
    ColorToken fill = ColorToken::none;
    ColorToken stroke = ColorToken::none;
    ColorToken hatchColor = ColorToken::none;
    Hatch hatch = Hatch::none;
    Dash dash = Dash::solid;
    float strokeWidth = 1.0F;
    float opacity = 1.0F;

    bool operator==(const Paint &) const = default;
};

enum class DrawKind : std::uint8_t { rect, ellipse, polyline, polygon, text, glyph };

// One painted thing. BOX bounds it (a text's box is its line; a polyline's is filled in by DrawList). FIRST
// and COUNT are a range of points() or, for a text, of characters of the text pool.
struct DrawItem
{
    DrawKind kind = DrawKind::rect;
    Glyph glyph = Glyph::dot;
    TextAlign align = TextAlign::left;
    TextStyle font;
    float radius = 0.0F;
    Paint paint;
    Rect box;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// What a place of the picture stands for: KIND and INDEX are the builder's (a box of the slice, an edge, a
// stub).
struct HitId
{
    std::uint16_t kind = 0; // 0: nothing
    std::uint32_t index = 0;

    bool isNothing() const { return kind == 0; }
    bool operator==(const HitId &) const = default;
};

// A region that answers a pointer: a rectangle, or a line when COUNT points are given.
struct HitRegion
{
    HitId id;
    Rect box;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// A picture as data: shapes in painting order and the regions that answer the pointer, made by pure functions
// and replayed by views/render into a window, an image or an SVG. Coordinates are pixels (y down) at the zoom
// the list was made for, so text and lines keep their size at every zoom. No colours and no font handles:
// tokens and bundled fonts by name. A value type; not thread safe while it is being built.
class DrawList
{
public:
    void rect(const Rect &box, const Paint &paint, float radius = 0.0F);
    void ellipse(const Rect &box, const Paint &paint);
    void line(Point from, Point to, const Paint &paint);
    void polyline(std::span<const Point> points, const Paint &paint);
    void polygon(std::span<const Point> points, const Paint &paint);
    // A filled arrow head with its tip at TIP, coming from FROM.
    void arrowHead(Point from, Point tip, float size, ColorToken color, float opacity = 1.0F);
    // One line of text in BOX, vertically centred, not clipped: elide before.
    void text(const Rect &box, std::string_view text, TextStyle font, ColorToken color,
              TextAlign align = TextAlign::left);
    void glyph(const Rect &box, Glyph glyph, ColorToken color);

    void hit(HitId id, const Rect &box);
    void hitLine(HitId id, std::span<const Point> points);

    const std::vector<DrawItem> &items() const { return m_items; }
    const std::vector<HitRegion> &hits() const { return m_hits; }
    std::span<const Point> points(const DrawItem &item) const;
    std::span<const Point> points(const HitRegion &region) const;
    std::string_view textOf(const DrawItem &item) const;
    // Around all items, stroke widths not counted.
    Rect bounds() const { return m_bounds; }
    void reserve(std::size_t items) { m_items.reserve(items); }
    void append(const DrawList &other, double dx, double dy);
    // Fades everything added since item FIRST to OPACITY.
    void fadeFrom(std::size_t first, float opacity);

    // The topmost region at POINT: of regions that hold the point the last added; lines within TOLERANCE
    // pixels only where no rectangle does.
    HitId hitTest(Point point, double tolerance) const;

private:
    DrawItem &add(DrawKind kind, const Rect &box, const Paint &paint);

    std::vector<DrawItem> m_items;
    std::vector<HitRegion> m_hits;
    std::vector<Point> m_points;
    std::string m_texts;
    Rect m_bounds;
};

// The list as text, one item a line, numbers with one decimal: what tests compare.
std::string printDrawList(const DrawList &list);

} // namespace core
