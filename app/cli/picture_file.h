// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "core/base/job_context.h"
#include "core/draw/draw_list.h"
#include "core/draw/theme_table.h"
#include "views/render/svg_writer.h"

#include <string>
#include <string_view>

namespace app {

enum class PictureFormat { svg, png, dot };
std::string_view pictureFormatName(PictureFormat format);

// Where a picture goes and how it looks: the options --output, --format, --theme and --scale.
struct PictureTarget
{
    std::string path;
    PictureFormat format = PictureFormat::svg;
    core::ThemeScheme scheme = core::ThemeScheme::light;
    double scale = 2.0;
};
core::Result<PictureTarget> pictureTarget(const Arguments &arguments);

// Writes LIST in FRAME as SVG or PNG. The file appears whole or not at all.
core::Status writePicture(const core::DrawList &list, const render::PictureFrame &frame,
                          const PictureTarget &target, core::JobContext &job);
// Writes TEXT to a file beside PATH and moves it there.
core::Status writeWhole(const std::string &path, std::string_view text);

} // namespace app
