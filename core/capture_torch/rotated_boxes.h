// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace core {

// A rectangle around the point (x, y), turned by DEGREES against the clock.
struct RotatedBox
{
    double x = 0.0, y = 0.0, width = 0.0, height = 0.0, degrees = 0.0;

    double area() const { return width * height; }
};

// The area that both have in common by the area of both together; 0 for boxes without an area.
double rotatedOverlap(const RotatedBox &first, const RotatedBox &second);

} // namespace core
