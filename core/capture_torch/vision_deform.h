// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace core {

// A convolution whose kernel looks at moved places of the image, as torchvision::deform_conv2d has it: INPUT
// [N, C, H, W], WEIGHT [out, C / groups, kernel], OFFSET [N, offsetGroups * taps * 2 (down, across), result],
// MASK [N, offsetGroups * taps, result] (what each place counts; not looked at unless useMask), BIAS [out],
// all of one floating dtype on the CPU. Pairs are (height, width). Used by the ops in vision_ops.cpp, on any
// thread.
struct DeformedConvolution
{
    at::Tensor input, weight, offset, mask, bias;
    std::array<std::int64_t, 2> stride = {1, 1};
    std::array<std::int64_t, 2> padding = {0, 0};
    std::array<std::int64_t, 2> dilation = {1, 1};
    std::int64_t groups = 1;
    std::int64_t offsetGroups = 1;
    bool useMask = false;
};

// The result [N, out, result]. Throws c10::Error for shapes that do not go together, as ops do.
at::Tensor deformedConvolution(const DeformedConvolution &of);
// The gradients of input, weight, offset, mask and bias of a convolution that ran, whose result has GRADIENT.
std::array<at::Tensor, 5> deformedConvolutionGradients(const DeformedConvolution &of,
                                                       const at::Tensor &gradient);

} // namespace core
