// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace render {

// What is wanted of an image that a model is run on, in pixels. 0: as it is.
struct ImageCut
{
    int shorterSide = 0;
    int height = 0;
    int width = 0;
};

// Eight-bit pixels row by row, three a pixel (red, green, blue).
struct InputPixels
{
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> rgb;
};

// The image in FILE, turned as its metadata say, resized smoothly so that its shorter side has CUT's length,
// then its middle cut out; alpha is dropped. Needs no application object; any thread. notFound, corrupt (no
// image, or a broken one), limitExceeded above 100 million pixels, invalidArgument when the cut is larger
// than the image.
core::Result<InputPixels> readInputPixels(const std::string &file, const ImageCut &cut);

} // namespace render
