// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/glyph_paths.h"

namespace core {

namespace {

GlyphPath filled(std::vector<Point> points)
{
    return {std::move(points), true, true, false, 0.0F};
}
GlyphPath outline(std::vector<Point> points)
{
    return {std::move(points), true, false, false, 1.5F};
}
GlyphPath stroke(std::vector<Point> points, float width = 1.5F)
{
    return {std::move(points), false, false, false, width};
}
GlyphPath disc(Point center, double radius)
{
    return {{center, {center.x + radius, center.y}}, true, true, true, 0.0F};
}
GlyphPath ring(Point center, double radius, float width = 1.5F)
{
    return {{center, {center.x + radius, center.y}}, true, false, true, width};
}

std::vector<GlyphPath> dashedFrame()
{
    return {stroke({{2, 5}, {2, 3}, {5, 3}}), stroke({{9, 3}, {12, 3}, {12, 5}}),
            stroke({{12, 9}, {12, 11}, {9, 11}}), stroke({{5, 11}, {2, 11}, {2, 9}})};
}

std::vector<GlyphPath> loopArrow()
{
    return {stroke({{10.6, 4.2},
                    {8.8, 2.8},
                    {6.6, 2.6},
                    {4.4, 3.5},
                    {3.0, 5.4},
                    {2.8, 7.8},
                    {3.9, 9.9},
                    {5.9, 11.2},
                    {8.2, 11.2},
                    {10.2, 10.0},
                    {11.3, 8.0}}),
            filled({{11.9, 1.9}, {11.9, 6.0}, {7.9, 5.6}})};
}

std::vector<GlyphPath> stateGlyph(Glyph glyph)
{
    const std::vector<Point> diamond = {{7, 1}, {13, 7}, {7, 13}, {1, 7}};
    switch (glyph) {
    case Glyph::diamond:
        return {filled(diamond)};
    case Glyph::dottedDiamond:
        return {outline({{7, 1.5}, {12.5, 7}, {7, 12.5}, {1.5, 7}}), disc({7, 7}, 2.2)};
    case Glyph::triangle:
        return {filled({{3, 2}, {12, 7}, {3, 12}})};
    case Glyph::stepArrow:
        return {stroke({{2, 11}, {6, 11}, {6, 5}, {9, 5}}, 1.8F), filled({{8.5, 1.5}, {13, 5}, {8.5, 8.5}})};
    case Glyph::arrowToBar:
        return {stroke({{1.5, 7}, {7, 7}}, 1.8F), filled({{5.8, 3.2}, {10, 7}, {5.8, 10.8}}),
                stroke({{12, 2}, {12, 12}}, 1.8F)};
    case Glyph::stopBar:
        return {stroke({{2, 3}, {12, 3}}, 2.0F), stroke({{7, 3}, {7, 11}}, 1.8F),
                stroke({{2, 11}, {12, 11}}, 2.0F)};
    case Glyph::ringCheck:
        return {ring({7, 7}, 5.3), stroke({{4.4, 7.2}, {6.3, 9.1}, {9.7, 5.2}})};
    case Glyph::openDot:
        return {ring({7, 7}, 2.9)};
    default:
        return {disc({7, 7}, 3.2)};
    }
}

std::vector<GlyphPath> signGlyph(Glyph glyph)
{
    switch (glyph) {
    case Glyph::stub:
        return {stroke({{3, 12}, {3, 7.5}, {9, 7.5}}), stroke({{6.8, 4.4}, {10, 7.5}, {6.8, 10.6}})};
    case Glyph::chevronRight:
        return {stroke({{5, 3}, {9, 7}, {5, 11}})};
    case Glyph::chevronDown:
        return {stroke({{3, 5}, {7, 9}, {11, 5}})};
    case Glyph::warning:
        return {outline({{7, 1.8}, {13, 12.2}, {1, 12.2}}), stroke({{7, 5.4}, {7, 8.6}}),
                disc({7, 10.4}, 0.9)};
    default:
        return {ring({7, 7}, 5.6), stroke({{7, 6.6}, {7, 10}}), disc({7, 4.4}, 0.9)};
    }
}

} // namespace

std::vector<GlyphPath> glyphPaths(Glyph glyph)
{
    switch (glyph) {
    case Glyph::dashedFrame:
        return dashedFrame();
    case Glyph::loopArrow:
        return loopArrow();
    case Glyph::gradient:
        return {outline({{2, 3}, {12, 3}, {7, 12}})};
    case Glyph::note:
        return {outline({{2, 2}, {12, 2}, {12, 9}, {9, 12}, {2, 12}}), stroke({{4.5, 5}, {9.5, 5}}, 1.2F),
                stroke({{4.5, 8}, {7.5, 8}}, 1.2F)};
    case Glyph::bookmark:
        return {outline({{3.5, 1.5}, {10.5, 1.5}, {10.5, 12.5}, {7, 9.2}, {3.5, 12.5}})};
    case Glyph::pin:
        return {outline({{5, 1.5}, {9, 1.5}, {9, 5.5}, {11, 8}, {3, 8}, {5, 5.5}}),
                stroke({{7, 8}, {7, 13}})};
    case Glyph::flag:
        return {filled({{3, 1.5}, {12, 4.5}, {3, 7.5}}), stroke({{3, 1}, {3, 13}})};
    case Glyph::stub:
    case Glyph::chevronRight:
    case Glyph::chevronDown:
    case Glyph::warning:
    case Glyph::info:
        return signGlyph(glyph);
    default:
        return stateGlyph(glyph);
    }
}

} // namespace core
