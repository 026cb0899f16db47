// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/draw/draw_list.h"
#include "core/draw/theme_table.h"

#include <QImage>

#include <filesystem>

namespace render {

// The whole of LIST at SCALE pixels a unit. limitExceeded when the picture does not fit one image of 16,000
// pixels a side: write it as a file then.
core::Result<QImage> imageOf(const core::DrawList &list, core::ThemeScheme scheme, double scale);

// A PNG file of any size, painted and compressed in strips, so that a tall picture is neither cut nor held
// whole in memory. SCALE is 1 to 8. Needs a QGuiApplication (for fonts). unreadable when the file cannot be
// written, limitExceeded above 2^31 - 1 pixels a side.
core::Status writePng(const core::DrawList &list, core::ThemeScheme scheme, double scale,
                      const std::filesystem::path &path, core::JobContext &context);

} // namespace render
