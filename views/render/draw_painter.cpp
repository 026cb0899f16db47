// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render/draw_painter.h"

#include "core/draw/glyph_paths.h"

#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

#include <cmath>

namespace render {

namespace {

QPen penOf(const core::Paint &paint, const QColor &color)
{
    QPen pen(color, static_cast<qreal>(paint.strokeWidth));
    pen.setJoinStyle(Qt::RoundJoin);
    pen.setCapStyle(paint.dash == core::Dash::solid ? Qt::FlatCap : Qt::RoundCap);
    const qreal unit = std::max(1.0F, paint.strokeWidth);
    if (paint.dash == core::Dash::dashed)
        pen.setDashPattern({5.0 / unit, 4.0 / unit});
    else if (paint.dash == core::Dash::dotted)
        pen.setDashPattern({0.1, 4.5 / unit});
    return pen;
}

bool isPlain(const core::DrawItem &item)
{
    return item.kind == core::DrawKind::rect && item.paint.stroke == core::ColorToken::none &&
           item.paint.hatch == core::Hatch::none && item.radius == 0.0F;
}

constexpr std::size_t kManyRects = 64;

// A tile of diagonal stripes. Drawn three times over, shifted, so that it meets itself at the edges.
QImage hatchTile(int size, double width, const QColor &color)
{
    QImage tile(size, size, QImage::Format_ARGB32_Premultiplied);
    tile.fill(Qt::transparent);
    QPainter painter(&tile);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, width));
    for (int shift = -size; shift <= size; shift += size)
        painter.drawLine(QPointF(shift, size), QPointF(shift + size, 0.0));
    return tile;
}

} // namespace

QColor colorOf(core::ThemeScheme scheme, core::ColorToken token)
{
    if (token == core::ColorToken::none)
        return QColor(Qt::transparent);
    return QColor::fromRgb(0xff000000U | core::themeRgb(scheme, token));
}

QFont fontOf(const core::TextStyle &style)
{
    const bool mono = style.family == core::FontFamily::mono;
    QFont font(mono ? QStringLiteral("JetBrains Mono") : QStringLiteral("Inter"));
    font.setStyleHint(mono ? QFont::Monospace : QFont::SansSerif);
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(style.size))));
    font.setWeight(style.weight == core::FontWeight::semibold ? QFont::DemiBold
                   : style.weight == core::FontWeight::medium ? QFont::Medium
                                                              : QFont::Normal);
    font.setKerning(false);
    return font;
}

void DrawPainter::setScheme(core::ThemeScheme scheme)
{
    if (scheme == m_scheme)
        return;
    m_scheme = scheme;
    m_hatches.clear();
}

QColor DrawPainter::color(core::ColorToken token, float opacity) const
{
    QColor result = colorOf(m_scheme, token);
    if (opacity < 1.0F && token != core::ColorToken::none)
        result.setAlphaF(opacity);
    return result;
}

const DrawPainter::FontEntry &DrawPainter::fontEntry(const core::TextStyle &style)
{
    const FontKey key = {static_cast<int>(style.family), static_cast<int>(style.weight),
                         static_cast<int>(std::lround(style.size))};
    const auto found = m_fonts.find(key);
    if (found != m_fonts.end())
        return found->second;
    FontEntry entry;
    entry.font = fontOf(style);
    // Quarter pixels: text that grows with the zoom must not jump from one whole size to the next. Qt sets
    // whole pixels exactly and other sizes by points of a 72 dpi device.
    const QFontMetricsF metrics(entry.font);
    entry.baseline = (metrics.ascent() - metrics.descent()) / 2.0;
    return m_fonts.emplace(key, std::move(entry)).first->second;
}

const QBrush &DrawPainter::hatchBrush(core::Hatch hatch, core::ColorToken token)
{
    const auto found = m_hatches.find({hatch, token});
    if (found != m_hatches.end())
        return found->second;
    const bool doubled = m_scheme == core::ThemeScheme::highContrast;
    const double spacing = hatch == core::Hatch::dense ? 5.0 : 8.0;
    const int size = static_cast<int>(std::lround(spacing * m_hatchRatio));
    const double width = (hatch == core::Hatch::dense ? 1.8 : 1.0) * m_hatchRatio * (doubled ? 1.4 : 1.0);
    QBrush brush(hatchTile(size, width, color(token, hatch == core::Hatch::dense ? 1.0F : 0.75F)));
    brush.setTransform(QTransform::fromScale(1.0 / m_hatchRatio, 1.0 / m_hatchRatio));
    return m_hatches.emplace(HatchKey(hatch, token), std::move(brush)).first->second;
}

QRectF DrawPainter::place(const core::Rect &box) const
{
    return {box.x + m_offset.x(), box.y + m_offset.y(), box.width, box.height};
}

void DrawPainter::paintRect(const core::DrawItem &item)
{
    const core::Paint &paint = item.paint;
    QRectF rect = place(item.box);
    if (paint.stroke != core::ColorToken::none) {
        // One-pixel outlines on pixel centres, two-pixel ones on pixel borders.
        const double shift = std::fmod(std::round(paint.strokeWidth), 2.0) == 1.0 ? 0.5 : 0.0;
        const double left = std::floor(rect.left()) + shift;
        const double top = std::floor(rect.top()) + shift;
        rect = QRectF(left, top, std::max(1.0, std::round(rect.width()) - 2.0 * shift),
                      std::max(1.0, std::round(rect.height()) - 2.0 * shift));
    }
    const float width =
        m_scheme == core::ThemeScheme::highContrast ? paint.strokeWidth * 2.0F : paint.strokeWidth;
    core::Paint wide = paint;
    wide.strokeWidth = width;
    const QPen pen = paint.stroke == core::ColorToken::none ? QPen(Qt::NoPen)
                                                            : penOf(wide, color(paint.stroke, paint.opacity));
    const qreal radius = std::min<qreal>(item.radius, std::min(rect.width(), rect.height()) / 2.0);
    m_painter->setRenderHint(QPainter::Antialiasing, radius > 0.0 || paint.dash != core::Dash::solid ||
                                                         paint.hatch != core::Hatch::none);
    if (paint.hatch != core::Hatch::none) {
        m_painter->setPen(Qt::NoPen);
        m_painter->setBrush(color(paint.fill, paint.opacity));
        m_painter->drawRoundedRect(rect, radius, radius);
        m_painter->setOpacity(paint.opacity);
        m_painter->setBrush(hatchBrush(paint.hatch, paint.hatchColor));
        m_painter->drawRoundedRect(rect, radius, radius);
        m_painter->setOpacity(1.0);
        m_painter->setBrush(Qt::NoBrush);
    } else {
        m_painter->setBrush(paint.fill == core::ColorToken::none ? QBrush(Qt::NoBrush)
                                                                 : QBrush(color(paint.fill, paint.opacity)));
    }
    m_painter->setPen(pen);
    m_painter->drawRoundedRect(rect, radius, radius);
}

void DrawPainter::paintLine(const core::DrawItem &item)
{
    const std::span<const core::Point> points = m_list->points(item);
    QPolygonF line;
    line.reserve(static_cast<int>(points.size()));
    for (const core::Point &point : points)
        line.append(QPointF(point.x + m_offset.x(), point.y + m_offset.y()));
    const core::Paint &paint = item.paint;
    m_painter->setRenderHint(QPainter::Antialiasing, true);
    m_painter->setPen(paint.stroke == core::ColorToken::none
                          ? QPen(Qt::NoPen)
                          : penOf(paint, color(paint.stroke, paint.opacity)));
    if (item.kind == core::DrawKind::polygon) {
        m_painter->setBrush(paint.fill == core::ColorToken::none ? QBrush(Qt::NoBrush)
                                                                 : QBrush(color(paint.fill, paint.opacity)));
        m_painter->drawPolygon(line);
        return;
    }
    m_painter->setBrush(Qt::NoBrush);
    // Straight up and down one-pixel lines are sharp only between pixel borders.
    if (line.size() == 2 && paint.strokeWidth < 1.8F && std::abs(line[0].x() - line[1].x()) < 0.05) {
        const double x = std::floor(line[0].x()) + 0.5;
        line[0].setX(x);
        line[1].setX(x);
    }
    m_painter->drawPolyline(line);
}

void DrawPainter::paintText(const core::DrawItem &item)
{
    const FontEntry &entry = fontEntry(item.font);
    m_painter->setFont(entry.font);
    m_painter->setPen(color(item.paint.fill, item.paint.opacity));
    const std::string_view text = m_list->textOf(item);
    const QString words = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
    const QRectF box = place(item.box);
    double x = box.x();
    if (item.align != core::TextAlign::left) {
        const double free = box.width() - QFontMetricsF(entry.font).horizontalAdvance(words);
        x += item.align == core::TextAlign::center ? free / 2.0 : free;
    }
    m_painter->drawText(QPointF(x, std::round(box.center().y() + entry.baseline)), words);
}

void DrawPainter::paintGlyph(const core::DrawItem &item)
{
    const QRectF box = place(item.box);
    const double scale = box.width() / core::kGlyphBox;
    const QColor ink = color(item.paint.fill, item.paint.opacity);
    m_painter->setRenderHint(QPainter::Antialiasing, true);
    const auto at = [&](const core::Point &point) {
        return QPointF(box.x() + point.x * scale, box.y() + point.y * scale);
    };
    for (const core::GlyphPath &path : core::glyphPaths(item.glyph)) {
        QPen pen(ink, static_cast<qreal>(path.strokeWidth) * std::max(scale, 0.7));
        pen.setJoinStyle(Qt::RoundJoin);
        pen.setCapStyle(Qt::RoundCap);
        m_painter->setPen(path.filled ? QPen(Qt::NoPen) : pen);
        m_painter->setBrush(path.filled ? QBrush(ink) : QBrush(Qt::NoBrush));
        if (path.circle) {
            const double radius = (path.points[1].x - path.points[0].x) * scale;
            m_painter->drawEllipse(at(path.points[0]), radius, radius);
            continue;
        }
        QPolygonF line;
        for (const core::Point &point : path.points)
            line.append(at(point));
        if (path.closed)
            m_painter->drawPolygon(line);
        else
            m_painter->drawPolyline(line);
    }
}

// Runs of bare rectangles of one colour, of which a whole graph at fit has tens of thousands, go in one call.
std::size_t DrawPainter::paintPlainRects(std::size_t first)
{
    const std::vector<core::DrawItem> &items = m_list->items();
    const core::Paint &paint = items[first].paint;
    m_batch.clear();
    std::size_t at = first;
    for (; at < items.size() && isPlain(items[at]) && items[at].paint == paint; ++at) {
        const QRectF rect = place(items[at].box);
        if (m_clip.isEmpty() || m_clip.intersects(rect))
            m_batch.push_back(rect);
    }
    m_painter->setPen(Qt::NoPen);
    m_painter->setBrush(color(paint.fill, paint.opacity));
    if (m_batch.size() < kManyRects) {
        m_painter->setRenderHint(QPainter::Antialiasing, true);
        m_painter->drawRects(m_batch.data(), static_cast<int>(m_batch.size()));
        return at;
    }
    // Whole pixels go the shortest way through Qt.
    m_painter->setRenderHint(QPainter::Antialiasing, false);
    m_pixelBatch.clear();
    for (const QRectF &rect : m_batch)
        m_pixelBatch.emplace_back(static_cast<int>(std::floor(rect.x())),
                                  static_cast<int>(std::floor(rect.y())),
                                  std::max(1, static_cast<int>(std::lround(rect.width()))),
                                  std::max(1, static_cast<int>(std::lround(rect.height()))));
    m_painter->drawRects(m_pixelBatch.data(), static_cast<int>(m_pixelBatch.size()));
    return at;
}

void DrawPainter::paintItem(const core::DrawItem &item)
{
    switch (item.kind) {
    case core::DrawKind::rect:
        paintRect(item);
        break;
    case core::DrawKind::ellipse:
        m_painter->setRenderHint(QPainter::Antialiasing, true);
        m_painter->setPen(item.paint.stroke == core::ColorToken::none
                              ? QPen(Qt::NoPen)
                              : penOf(item.paint, color(item.paint.stroke, item.paint.opacity)));
        m_painter->setBrush(color(item.paint.fill, item.paint.opacity));
        m_painter->drawEllipse(place(item.box));
        break;
    case core::DrawKind::polyline:
    case core::DrawKind::polygon:
        paintLine(item);
        break;
    case core::DrawKind::text:
        paintText(item);
        break;
    case core::DrawKind::glyph:
        paintGlyph(item);
        break;
    }
}

void DrawPainter::paint(QPainter &painter, const core::DrawList &list, QPointF offset, const QRectF &clip)
{
    const double device = painter.device() != nullptr ? painter.device()->devicePixelRatioF() : 1.0;
    const double ratio = device * std::clamp(painter.transform().m11(), 1.0, 4.0);
    if (ratio != m_hatchRatio) {
        m_hatchRatio = ratio;
        m_hatches.clear();
    }
    m_painter = &painter;
    m_list = &list;
    m_offset = offset;
    m_clip = clip;
    painter.save();
    for (std::size_t i = 0; i < list.items().size();) {
        const core::DrawItem &item = list.items()[i];
        if (isPlain(item)) {
            i = paintPlainRects(i);
            continue;
        }
        // Lines have width, and a thin box no area.
        if (clip.isEmpty() || clip.intersects(place(item.box).adjusted(-8.0, -8.0, 8.0, 8.0)))
            paintItem(item);
        ++i;
    }
    painter.restore();
    m_painter = nullptr;
    m_list = nullptr;
}

} // namespace render
