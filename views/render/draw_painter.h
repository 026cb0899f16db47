// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"
#include "core/draw/theme_table.h"

#include <QBrush>
#include <QColor>
#include <QFont>
#include <QFontMetricsF>
#include <QPointF>
#include <QRect>
#include <QRectF>

#include <map>
#include <span>
#include <tuple>
#include <vector>

class QPainter;

namespace render {

QColor colorOf(core::ThemeScheme scheme, core::ColorToken token);
// The bundled face at the style's size; TEXTSCALE enlarges it (1: as is).
QFont fontOf(const core::TextStyle &style);

// Replays draw lists with a QPainter in the colours of one scheme. Keeps fonts and hatch brushes between
// lists, so a widget holds one for its life. GUI thread, or whichever thread paints.
class DrawPainter
{
public:
    explicit DrawPainter(core::ThemeScheme scheme) : m_scheme(scheme) {}

    void setScheme(core::ThemeScheme scheme);

    // Paints LIST shifted by OFFSET. What lies outside CLIP (in the painter's coordinates; empty: no clip) is
    // left out, not cut.
    void paint(QPainter &painter, const core::DrawList &list, QPointF offset, const QRectF &clip);

private:
    struct FontEntry
    {
        QFont font;
        double baseline = 0.0; // from the middle of the line down
    };
    using FontKey = std::tuple<int, int, int>;
    using HatchKey = std::pair<core::Hatch, core::ColorToken>;

    void paintItem(const core::DrawItem &item);
    void paintRect(const core::DrawItem &item);
    void paintLine(const core::DrawItem &item);
    void paintText(const core::DrawItem &item);
    void paintGlyph(const core::DrawItem &item);
    std::size_t paintPlainRects(std::size_t first);
    QColor color(core::ColorToken token, float opacity = 1.0F) const;
    const FontEntry &fontEntry(const core::TextStyle &style);
    const QBrush &hatchBrush(core::Hatch hatch, core::ColorToken token);
    QRectF place(const core::Rect &box) const;

    core::ThemeScheme m_scheme;
    std::map<FontKey, FontEntry> m_fonts;
    std::map<HatchKey, QBrush> m_hatches;
    double m_hatchRatio = 1.0;

    // While paint() runs.
    QPainter *m_painter = nullptr;
    const core::DrawList *m_list = nullptr;
    QPointF m_offset;
    QRectF m_clip;
    std::vector<QRectF> m_batch;
    std::vector<QRect> m_pixelBatch;
};

} // namespace render
