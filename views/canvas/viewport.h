// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"

namespace views {

inline constexpr double kSmallestZoom = 0.005;
inline constexpr double kLargestZoom = 4.0;

// Which part of a scene (pixels at 100 %) a window of some size shows. A value type without Qt, so that
// zooming and panning are tested by numbers.
class Viewport
{
public:
    double zoom() const { return m_zoom; }
    // Scene point at the window's top left corner.
    core::Point origin() const { return m_origin; }
    double width() const { return m_width; }
    double height() const { return m_height; }

    core::Point toScene(core::Point window) const;
    core::Point toWindow(core::Point scene) const;
    // The scene the window shows.
    core::Rect visible() const;

    void resize(double width, double height);
    void setZoom(double zoom, core::Point origin);
    // Multiplies the zoom; the scene point under WINDOW stays there. Clamped to 0.5 % .. 400 %.
    void zoomAt(core::Point window, double factor);
    // Moves the scene with the pointer, by window pixels.
    void pan(double dx, double dy);
    // All of SCENE in the window with MARGIN pixels around, at most at 100 %. A scene that would be smaller
    // than SMALLESTZOOM is fitted to its width and shown from its top.
    void fit(const core::Rect &scene, double margin, double smallestZoom = kSmallestZoom);
    void centerOn(core::Point scene);
    // Moves as little as needed for SCENE to be seen with MARGIN pixels around; its middle if it does not
    // fit.
    void ensureVisible(const core::Rect &scene, double margin);

    bool operator==(const Viewport &) const = default;

private:
    double m_zoom = 1.0;
    core::Point m_origin;
    double m_width = 1.0;
    double m_height = 1.0;
};

} // namespace views
