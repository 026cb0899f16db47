// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/viewport.h"

#include <algorithm>

namespace views {

core::Point Viewport::toScene(core::Point window) const
{
    return {m_origin.x + window.x / m_zoom, m_origin.y + window.y / m_zoom};
}

core::Point Viewport::toWindow(core::Point scene) const
{
    return {(scene.x - m_origin.x) * m_zoom, (scene.y - m_origin.y) * m_zoom};
}

core::Rect Viewport::visible() const
{
    return {m_origin.x, m_origin.y, m_width / m_zoom, m_height / m_zoom};
}

void Viewport::resize(double width, double height)
{
    m_width = std::max(1.0, width);
    m_height = std::max(1.0, height);
}

void Viewport::setZoom(double zoom, core::Point origin)
{
    m_zoom = std::clamp(zoom, kSmallestZoom, kLargestZoom);
    m_origin = origin;
}

void Viewport::zoomAt(core::Point window, double factor)
{
    const core::Point fixed = toScene(window);
    m_zoom = std::clamp(m_zoom * factor, kSmallestZoom, kLargestZoom);
    m_origin = {fixed.x - window.x / m_zoom, fixed.y - window.y / m_zoom};
}

void Viewport::pan(double dx, double dy)
{
    m_origin = {m_origin.x - dx / m_zoom, m_origin.y - dy / m_zoom};
}

void Viewport::fit(const core::Rect &scene, double margin, double smallestZoom)
{
    const double width = std::max(1.0, m_width - 2.0 * margin);
    const double height = std::max(1.0, m_height - 2.0 * margin);
    const double whole = std::min(width / std::max(1.0, scene.width), height / std::max(1.0, scene.height));
    const bool fromTop = whole < smallestZoom;
    m_zoom = std::clamp(std::min(whole, 1.0), std::max(smallestZoom, kSmallestZoom), 1.0);
    centerOn(scene.center());
    if (fromTop)
        m_origin.y = scene.y - margin / m_zoom;
}

void Viewport::centerOn(core::Point scene)
{
    m_origin = {scene.x - m_width / m_zoom / 2.0, scene.y - m_height / m_zoom / 2.0};
}

void Viewport::ensureVisible(const core::Rect &scene, double margin)
{
    const core::Rect view = visible();
    const double space = margin / m_zoom;
    const core::Rect wanted = scene.expanded(space);
    const auto shift = [](double low, double high, double viewLow, double viewHigh) {
        if (high - low > viewHigh - viewLow)
            return (low + high) / 2.0 - (viewLow + viewHigh) / 2.0;
        if (low < viewLow)
            return low - viewLow;
        return high > viewHigh ? high - viewHigh : 0.0;
    };
    m_origin.x += shift(wanted.x, wanted.right(), view.x, view.right());
    m_origin.y += shift(wanted.y, wanted.bottom(), view.y, view.bottom());
}

} // namespace views
