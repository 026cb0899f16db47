// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>

namespace core {

struct Point
{
    double x = 0.0;
    double y = 0.0;

    bool operator==(const Point &) const = default;
};

// An axis-aligned rectangle, y downwards. Left and top edges belong to it, right and bottom do not.
struct Rect
{
    double x = 0.0;
    double y = 0.0;
    double width = 0.0;
    double height = 0.0;

    double right() const { return x + width; }
    double bottom() const { return y + height; }
    Point center() const { return {x + width / 2, y + height / 2}; }
    bool isEmpty() const { return width <= 0.0 || height <= 0.0; }
    bool contains(Point point) const
    {
        return point.x >= x && point.x < right() && point.y >= y && point.y < bottom();
    }
    bool intersects(const Rect &other) const
    {
        return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
    }
    Rect expanded(double by) const { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
    Rect translated(double dx, double dy) const { return {x + dx, y + dy, width, height}; }
    // The smallest rectangle around both; an empty one does not count.
    Rect united(const Rect &other) const
    {
        if (isEmpty())
            return other;
        if (other.isEmpty())
            return *this;
        const double left = std::min(x, other.x);
        const double top = std::min(y, other.y);
        return {left, top, std::max(right(), other.right()) - left, std::max(bottom(), other.bottom()) - top};
    }

    bool operator==(const Rect &) const = default;
};

} // namespace core
