// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"
#include "core/draw/draw_list.h"

#include <vector>

namespace core {

// One stroke or one filled shape of a glyph, in a box of 14 x 14.
struct GlyphPath
{
    std::vector<Point> points; // of a circle: centre and a point at its right edge
    bool closed = false;
    bool filled = false;
    bool circle = false;
    float strokeWidth = 1.5F;
};

inline constexpr double kGlyphBox = 14.0;

std::vector<GlyphPath> glyphPaths(Glyph glyph);

} // namespace core
