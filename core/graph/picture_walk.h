// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_picture.h"
#include "core/layout/layout_types.h"

#include <cstdint>

namespace core {

enum class PictureDirection : std::uint8_t { up, down, left, right };

// The box to go to from BOX of a placed picture: down and up along edges (the straightest), left and right in
// the same row; the nearest in that direction when no edge leads there. 0 when BOX is none of the picture,
// all ones at its end.
std::uint32_t neighbourBox(const GraphPicture &picture, const LayoutResult &layout, std::uint32_t box,
                           PictureDirection direction);

} // namespace core
