// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// How an image becomes a tensor [1, channels, height, width]: the shorter side is resized, the middle is cut
// out, values 0 to 1 are normalised. The defaults are those of torchvision's classification models.
struct ImageSpec
{
    std::int64_t resize = 256;     // the shorter side; 0: as it is
    std::int64_t cropHeight = 224; // 0: whole
    std::int64_t cropWidth = 224;
    std::int64_t channels = 3; // 1: grey
    std::array<double, 3> mean = {0.485, 0.456, 0.406};
    std::array<double, 3> std = {0.229, 0.224, 0.225};

    bool operator==(const ImageSpec &) const = default;
};
// "resize=256&crop=224&mean=0.485,0.456,0.406&std=0.229,0.224,0.225&channels=3"; every part may be left out.
// crop=HxW, crop=0 for the whole image, norm=imagenet|half|none for mean and std. invalidArgument names the
// part.
Result<ImageSpec> parseImageSpec(std::string_view text);
std::string imageSpecText(const ImageSpec &spec); // all parts; reads back the same

// Eight-bit pixels row by row, three a pixel (red, green, blue).
struct ImagePixels
{
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> rgb;
};
// Decodes the file at PATH, resized and cropped as SPEC says. Core has no image formats: whoever starts
// workers gives this (views/render/input_image.h).
using ImageDecoder = std::function<Result<ImagePixels>(const std::string &path, const ImageSpec &spec)>;

// float32 values of [channels, height, width]; grey by the weights of ITU-R 601.
std::vector<float> normalisedPixels(const ImagePixels &pixels, const ImageSpec &spec);

// "a=1&b=2" as pairs, in order. invalidArgument for a part without "=".
Result<std::vector<std::pair<std::string, std::string>>> parseParts(std::string_view text);

} // namespace core
