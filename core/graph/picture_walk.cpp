// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/picture_walk.h"

#include "core/graph/graph_layout.h"

#include <cmath>
#include <limits>

namespace core {

namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

class Neighbours
{
public:
    Neighbours(const GraphPicture &picture, const LayoutResult &layout) : m_picture(picture), m_layout(layout)
    {
    }

    // The straightest edge, and of those the nearest end.
    std::uint32_t alongEdge(std::uint32_t box, bool down) const
    {
        const Point from = centre(box);
        std::uint32_t best = kNone;
        double smallest = std::numeric_limits<double>::max();
        for (const PictureEdge &edge : m_picture.edges) {
            if ((down ? edge.from : edge.to) != box)
                continue;
            const std::uint32_t other = down ? edge.to : edge.from;
            const Point to = centre(other);
            const double distance = std::abs(to.x - from.x) * 4.0 + std::abs(to.y - from.y);
            if (distance < smallest) {
                smallest = distance;
                best = other;
            }
        }
        return best;
    }

    std::uint32_t nearest(std::uint32_t box, PictureDirection direction) const
    {
        const Point from = centre(box);
        std::uint32_t best = kNone;
        double smallest = std::numeric_limits<double>::max();
        for (std::uint32_t i = 0; i < m_picture.boxes.size(); ++i) {
            if (i == box)
                continue;
            const Point to = centre(i);
            const double dx = to.x - from.x;
            const double dy = to.y - from.y;
            const bool sideways = direction == PictureDirection::left || direction == PictureDirection::right;
            const double ahead = sideways ? (direction == PictureDirection::right ? dx : -dx)
                                          : (direction == PictureDirection::down ? dy : -dy);
            if (ahead <= 1.0)
                continue;
            const double distance = ahead + 3.0 * std::abs(sideways ? dy : dx);
            if (distance < smallest) {
                smallest = distance;
                best = i;
            }
        }
        return best;
    }

private:
    Point centre(std::uint32_t box) const { return boxRect(m_picture, m_layout, box).center(); }

    const GraphPicture &m_picture;
    const LayoutResult &m_layout;
};

} // namespace

std::uint32_t neighbourBox(const GraphPicture &picture, const LayoutResult &layout, std::uint32_t box,
                           PictureDirection direction)
{
    if (picture.boxes.empty())
        return kNone;
    if (box >= picture.boxes.size())
        return 0;
    const Neighbours neighbours(picture, layout);
    if (direction == PictureDirection::up || direction == PictureDirection::down) {
        const std::uint32_t along = neighbours.alongEdge(box, direction == PictureDirection::down);
        if (along != kNone)
            return along;
    }
    return neighbours.nearest(box, direction);
}

} // namespace core
