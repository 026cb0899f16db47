// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"

#include <span>
#include <vector>

namespace core {

// POINTS times ZOOM with corners rounded over at most RADIUS pixels, as a finer polyline. End points stay.
std::vector<Point> roundedLine(std::span<const Point> points, double zoom, double radius);

} // namespace core
