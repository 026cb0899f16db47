// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_layout.h"
#include "core/graph/graph_look.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace core {

namespace {

constexpr double kGlyphSize = 12.0;

void drawBody(DrawList &list, const PictureBox &box, const Rect &rect, double scale)
{
    const StateLook look = lookOf(box);
    const auto radius = static_cast<float>(6.0 * scale);
    Paint paint;
    paint.fill = look.fill;
    paint.stroke = look.stroke;
    paint.strokeWidth = look.strokeWidth;
    paint.dash = look.dash;
    if (box.kind == BoxKind::stack) {
        Paint behind = paint;
        behind.fill = ColorToken::module;
        behind.strokeWidth = 1.0F;
        behind.dash = Dash::solid;
        list.rect(rect.translated(7.0 * scale, -7.0 * scale), behind, radius);
        list.rect(rect.translated(3.5 * scale, -3.5 * scale), behind, radius);
    }
    if (look.doubled) {
        Paint outer = paint;
        outer.fill = ColorToken::none;
        list.rect(rect.expanded(3.0), outer, radius + 3.0F);
    }
    if (box.unchecked) {
        paint.hatch = Hatch::sparse;
        paint.hatchColor = ColorToken::muted;
    }
    list.rect(rect, paint, radius);
    if (box.partlyUnchecked) {
        Paint strip;
        strip.hatch = Hatch::sparse;
        strip.hatchColor = ColorToken::muted;
        list.rect({rect.right() - 9.0 * scale, rect.y + 1.0, 8.0 * scale, rect.height - 2.0}, strip);
    }
}

void drawStateBar(DrawList &list, const PictureBox &box, const Rect &rect, double scale)
{
    const StateLook look = lookOf(box);
    if (look.bar == StateBar::none)
        return;
    Paint paint;
    paint.fill = look.ink;
    double width = 6.0 * scale;
    if (look.bar == StateBar::thin)
        width = 3.0 * scale;
    if (look.bar == StateBar::hatched) {
        paint.fill = ColorToken::nanbg;
        paint.hatch = Hatch::dense;
        paint.hatchColor = look.ink;
    }
    list.rect({rect.x + 3.0, rect.y + 3.0, width, rect.height - 6.0}, paint, static_cast<float>(1.5 * scale));
}

TextStyle scaled(TextStyle font, double scale)
{
    font.size = static_cast<float>(std::max(1.0, std::round(font.size * scale))); // as fonts are set
    return font;
}

// Glyph, title and first badge on one line.
void drawTitle(DrawList &list, const PictureBox &box, const Rect &row, double scale, bool fullName)
{
    const StateLook look = lookOf(box);
    double left = row.x + 14.0 * scale;
    double right = row.right() - 7.0 * scale;
    if (look.hasGlyph) {
        const double size = kGlyphSize * scale;
        list.glyph({left, row.center().y - size / 2.0, size, size}, look.glyph, look.ink);
        left += 18.0 * scale;
    }
    if (!box.badges.empty()) {
        const double room = right - left - 24.0 * scale; // a name of which nothing is left says nothing
        PictureBadge badge = box.badges.front();
        const TextStyle font = scaled(kBadgeFont, scale);
        badge.text = elidedRight(badge.text, font, room - 10.0 * scale);
        if (!badge.text.empty())
            right -= drawBadge(list, badge, {right, row.center().y}, scale) + 6.0 * scale;
    }
    const TextStyle font = scaled(kTitleFont, scale);
    const std::string &name =
        fullName && !box.fullName.empty() && box.kind == BoxKind::op ? box.fullName : box.title;
    list.text({left, row.y, right - left, row.height}, elidedMiddle(name, font, right - left), font,
              ColorToken::text);
}

void drawDetail(DrawList &list, const std::string &text, const Rect &row, double indent, double scale)
{
    const TextStyle font = scaled(kDetailFont, scale);
    const double left = row.x + indent;
    const double width = row.right() - 8.0 * scale - left;
    list.text({left, row.y, width, row.height}, elidedRight(text, font, width), font, ColorToken::second);
}

void drawHistogram(DrawList &list, const PictureBox &box, const Rect &area)
{
    Paint bar;
    bar.fill = ColorToken::accent;
    double left = area.x;
    const auto special = [&](float share, ColorToken color, const char *name) {
        if (share <= 0.0F)
            return;
        Paint paint;
        paint.hatch = Hatch::dense;
        paint.hatchColor = color;
        paint.stroke = color;
        const double height = std::max(2.0, static_cast<double>(share) * (area.height - 14.0));
        list.rect({left, area.bottom() - 13.0 - height, 14.0, height}, paint);
        list.text({left - 4.0, area.bottom() - 12.0, 24.0, 12.0}, name, scaled(kBadgeFont, 0.95), color);
        left += 26.0;
    };
    special(box.nanShare, ColorToken::nan, "NaN");
    special(box.infShare, ColorToken::inf, "Inf");
    const double width = (area.right() - left) / static_cast<double>(box.histogram.size());
    for (std::size_t i = 0; i < box.histogram.size(); ++i) {
        const double height = static_cast<double>(box.histogram[i]) * (area.height - 14.0);
        if (height > 0.0)
            list.rect({left + width * static_cast<double>(i), area.bottom() - 13.0 - height,
                       std::max(1.0, width - 1.0), height},
                      bar);
    }
}

void drawMarks(DrawList &list, const PictureBox &box, const Rect &row, double scale)
{
    const double size = 10.0 * scale;
    double right = row.right() - 8.0 * scale;
    const auto mark = [&](Glyph glyph, ColorToken ink = ColorToken::muted) {
        list.glyph({right - size, row.center().y - size / 2.0, size, size}, glyph, ink);
        right -= size + 4.0 * scale;
    };
    if (box.canUnfold)
        mark(Glyph::chevronRight);
    if (box.inPlace)
        mark(Glyph::loopArrow);
    if (box.view)
        mark(Glyph::dashedFrame);
    if (box.bornInBackward)
        mark(Glyph::gradient, ColorToken::nan);
}

// What the marks of a box take of its second row.
double marksWidth(const PictureBox &box, double scale)
{
    return 14.0 * scale * markCount(box);
}

} // namespace

void drawBar(DrawList &list, const PictureBox &box, const BoxFrame &frame)
{
    const StateLook look = lookOf(box);
    Paint paint;
    paint.fill = look.hasGlyph ? look.ink : ColorToken::nodeb;
    if (look.bar == StateBar::hatched) {
        paint.fill = ColorToken::nanbg;
        paint.hatch = Hatch::dense;
        paint.hatchColor = look.ink;
        paint.stroke = look.ink;
    }
    if (box.unchecked) {
        paint.fill = ColorToken::node;
        paint.hatch = Hatch::sparse;
        paint.hatchColor = ColorToken::muted;
        paint.stroke = look.stroke;
    }
    Rect bar = frame.box;
    bar.height = std::max(1.0, bar.height * 0.8);
    bar.width = std::max(1.0, bar.width);
    list.rect(bar, paint);
}

void drawNameBox(DrawList &list, const PictureBox &box, const BoxFrame &frame)
{
    const double scale = std::clamp(22.0 * frame.zoom / kTitleFont.size, 0.5, 1.0);
    drawBody(list, box, frame.box, scale);
    drawStateBar(list, box, frame.box, scale);
    const TextStyle font = scaled(kTitleFont, scale);
    const double left = frame.box.x + 13.0 * scale;
    const double width = frame.box.right() - 5.0 * scale - left;
    list.text({left, frame.box.y, width, frame.box.height}, elidedMiddle(box.title, font, width), font,
              ColorToken::text);
}

void drawNormalBox(DrawList &list, const PictureBox &box, const BoxFrame &frame)
{
    const double scale = std::min(1.0, frame.zoom / kTextZoom);
    const Rect &rect = frame.box;
    drawBody(list, box, rect, scale);
    drawStateBar(list, box, rect, scale);
    const double half = rect.height / 2.0;
    const double indent = (lookOf(box).hasGlyph ? 32.0 : 14.0) * scale;
    const Rect top = {rect.x, rect.y + half * 0.1, rect.width, half};
    const Rect bottom = {rect.x, rect.y + half * 0.92, rect.width, half};
    drawTitle(list, box, top, scale, false);
    drawMarks(list, box, bottom, scale);
    Rect detail = bottom;
    detail.width -= marksWidth(box, scale);
    drawDetail(list, box.subtitle, detail, indent, scale);
}

void drawFullBox(DrawList &list, const PictureBox &box, const BoxFrame &frame)
{
    const Rect &rect = frame.box;
    drawBody(list, box, rect, 1.0);
    drawStateBar(list, box, rect, 1.0);
    const bool hasChart = !box.histogram.empty() && rect.height > 100.0;
    const double lines = std::min(rect.height - 4.0, 60.0);
    const double top = hasChart ? rect.y + 4.0 : rect.center().y - lines / 2.0;
    const double row = lines / 3.0;
    drawTitle(list, box, {rect.x, top, rect.width, row}, 1.0, true);
    Rect second = {rect.x, top + row, rect.width, row};
    drawMarks(list, box, second, 1.0);
    second.width -= marksWidth(box, 1.0);
    const double indent = 14.0;
    drawDetail(list, box.place.empty() ? box.fullName : box.place, second, indent, 1.0);
    const std::string detail = box.duration.empty() ? box.subtitle : box.subtitle + " \u00b7 " + box.duration;
    drawDetail(list, detail, {rect.x, top + 2.0 * row, rect.width, row}, indent, 1.0);
    if (hasChart)
        drawHistogram(
            list, box,
            {rect.x + indent, top + lines + 4.0, rect.width - 2.0 * indent, rect.height - lines - 14.0});
}

} // namespace core
