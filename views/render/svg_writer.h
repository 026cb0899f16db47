// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"
#include "core/draw/theme_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace render {

// What a file says beside the picture: a title, and lines of the margin below it (date, legend, coverage).
struct PictureFrame
{
    std::string title;
    std::vector<std::string> footer;
    double margin = 24.0;
};

// LIST with the frame's margin and words around it, moved so that it starts at (0, 0), on a canvas-coloured
// ground.
core::DrawList framedPicture(const core::DrawList &list, const PictureFrame &frame);

// One SVG document; text stays text, fonts by family name, hatches as patterns. Standalone.
std::string svgText(const core::DrawList &list, core::ThemeScheme scheme);

} // namespace render
