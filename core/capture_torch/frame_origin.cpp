// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/frame_origin.h"

#include "core/capture_torch/run_observer.h"

#include <algorithm>
#include <array>

namespace core {

namespace {

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

bool startsWithPackage(std::string_view file)
{
    constexpr std::array<std::string_view, 7> kPackages = {
        "torchvision/", "transformers/", "timm/", "torchaudio/", "torchtext/", "accelerate/", "einops/"};
    return std::any_of(kPackages.begin(), kPackages.end(),
                       [&](std::string_view package) { return file.starts_with(package); });
}

bool isTorch(std::string_view file)
{
    // Names relative to the folder of packages start with the package itself.
    return file.starts_with("torch/") || contains(file, "-packages/torch/") || contains(file, "/torch/nn/") ||
           contains(file, "/torch/jit/") || contains(file, "/torch/_") ||
           contains(file, "/torch/functional.py") || contains(file, "/torch/fx/") ||
           contains(file, "/torch/export/") || contains(file, "/torch/utils/") ||
           contains(file, "/torch/autograd/") || contains(file, "/torch/amp/");
}

} // namespace

FrameOrigin frameOrigin(std::string_view file)
{
    if (file.empty() || file.front() == '<' || file.starts_with("code/__torch__"))
        return FrameOrigin::generated;
    if (isTorch(file))
        return FrameOrigin::torch;
    if (contains(file, "-packages/") || startsWithPackage(file))
        return FrameOrigin::package;
    if (contains(file, "/lib/python3") || contains(file, "\\lib\\python3"))
        return FrameOrigin::standardLibrary;
    return FrameOrigin::user;
}

const RunFrame *userFrame(const std::vector<RunFrame> &frames)
{
    for (const FrameOrigin wanted : {FrameOrigin::user, FrameOrigin::package})
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            if (frameOrigin(frame->file) == wanted)
                return &*frame;
    return nullptr;
}

} // namespace core
