// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/installation/image_decoder.h"

#include "views/render/input_image.h"

namespace app {

core::ImageDecoder imageDecoder()
{
    return [](const std::string &path, const core::ImageSpec &spec) -> core::Result<core::ImagePixels> {
        core::Result<render::InputPixels> pixels =
            render::readInputPixels(path, {static_cast<int>(spec.resize), static_cast<int>(spec.cropHeight),
                                           static_cast<int>(spec.cropWidth)});
        if (!pixels)
            return pixels.error();
        return core::ImagePixels{pixels->width, pixels->height, std::move(pixels->rgb)};
    };
}

} // namespace app
