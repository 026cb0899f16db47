// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/edge_curve.h"

#include <algorithm>
#include <cmath>

namespace core {

namespace {

constexpr int kSteps = 5;

Point between(Point from, Point to, double share)
{
    return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

} // namespace

std::vector<Point> roundedLine(std::span<const Point> points, double zoom, double radius)
{
    std::vector<Point> line;
    for (const Point &point : points)
        line.push_back({point.x * zoom, point.y * zoom});
    if (line.size() < 3)
        return line;
    std::vector<Point> out = {line.front()};
    for (std::size_t i = 1; i + 1 < line.size(); ++i) {
        const double before = std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
        const double after = std::hypot(line[i + 1].x - line[i].x, line[i + 1].y - line[i].y);
        const double cut = std::min({radius, before / 2.0, after / 2.0});
        if (cut < 1.0) {
            out.push_back(line[i]);
            continue;
        }
        const Point from = between(line[i], line[i - 1], cut / before);
        const Point to = between(line[i], line[i + 1], cut / after);
        for (int step = 0; step <= kSteps; ++step) {
            const double share = static_cast<double>(step) / kSteps;
            out.push_back(between(between(from, line[i], share), between(line[i], to, share), share));
        }
    }
    out.push_back(line.back());
    return out;
}

} // namespace core
