// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/rotated_boxes.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace core {
namespace {

struct Point
{
    double x = 0.0, y = 0.0;
};

using Polygon = std::vector<Point>;

// Twice the area of the triangle; its sign tells on which side of A to B the point C lies.
double turn(const Point &a, const Point &b, const Point &c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

double signedArea(const Polygon &polygon)
{
    double twice = 0.0;
    for (std::size_t i = 2; i < polygon.size(); ++i)
        twice += turn(polygon[0], polygon[i - 1], polygon[i]);
    return twice / 2;
}

// Corners in counter-clockwise order, seen from the point AROUND so that large coordinates cost no digits.
Polygon cornersOf(const RotatedBox &box, const Point &around)
{
    const double angle = box.degrees * std::numbers::pi / 180;
    const double cosine = std::cos(angle), sine = std::sin(angle);
    constexpr std::array<std::array<double, 2>, 4> kRing = {{{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}};
    Polygon corners;
    for (const auto &[along, across] : kRing) {
        const double x = along * box.width / 2, y = across * box.height / 2;
        corners.push_back(
            {box.x - around.x + x * cosine + y * sine, box.y - around.y + y * cosine - x * sine});
    }
    if (signedArea(corners) < 0)
        std::swap(corners[1], corners[3]);
    return corners;
}

// The part of POLYGON on the left of the line from A to B.
Polygon cut(const Polygon &polygon, const Point &a, const Point &b)
{
    Polygon kept;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Point &from = polygon[i], &to = polygon[(i + 1) % polygon.size()];
        const double left = turn(a, b, from), right = turn(a, b, to);
        if (left >= 0)
            kept.push_back(from);
        if ((left > 0 && right < 0) || (left < 0 && right > 0)) {
            const double at = left / (left - right);
            kept.push_back({from.x + at * (to.x - from.x), from.y + at * (to.y - from.y)});
        }
    }
    return kept;
}

} // namespace

double rotatedOverlap(const RotatedBox &first, const RotatedBox &second)
{
    constexpr double kNothing = 1e-14;
    if (first.area() < kNothing || second.area() < kNothing)
        return 0.0;
    const Point middle{(first.x + second.x) / 2, (first.y + second.y) / 2};
    Polygon common = cornersOf(first, middle);
    const Polygon other = cornersOf(second, middle);
    for (std::size_t i = 0; i < other.size() && !common.empty(); ++i)
        common = cut(common, other[i], other[(i + 1) % other.size()]);
    const double both = common.empty() ? 0.0 : signedArea(common);
    return both / (first.area() + second.area() - both);
}

} // namespace core
