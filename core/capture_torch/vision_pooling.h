// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace core {

// How the regions of an image are brought to one size: each of POOLED (height, width) cells of a region is a
// weighted sum over positions of the image. Used by the ops in vision_ops.cpp, on any thread.
struct RegionPooling
{
    enum class Kind {
        align,          // samples between the pixels (Mask R-CNN)
        positionAlign,  // the same, each cell from channels of its own (R-FCN)
        positionAverage // mean of whole pixels, each cell from channels of its own
    };
    Kind kind = Kind::align;
    double scale = 1.0; // of region coordinates to pixels of the image
    std::array<std::int64_t, 2> pooled = {1, 1};
    std::int64_t sampling = 0; // samples a cell and side; 0 or less: as many as it has pixels
    bool aligned = false;      // pixel centres lie at .5
    std::int64_t leftOut = 0;  // last rows and columns of the image that positionAverage does not see

    bool byPosition() const { return kind != Kind::align; }
    // Channels of the result for an image of CHANNELS.
    std::int64_t channelsOut(std::int64_t channels) const;
};

// IMAGE [N, C, H, W] and REGIONS [K, 5] (index in the batch, left, top, right, bottom), float or double, to
// [K, channelsOut(C), pooled]. Throws c10::Error for other shapes, as ops do.
at::Tensor poolRegions(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling);
// The gradient of an image of SIZES whose pooled regions have GRADIENT.
at::Tensor poolRegionsBackward(const at::Tensor &gradient, const at::Tensor &regions, at::IntArrayRef sizes,
                               const RegionPooling &pooling);
// For each cell the channel of the image it was taken from, int32 in the shape of the result.
at::Tensor pooledChannels(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling);

// The largest value of whole pixels a cell, and where it stood (row by row, int32; -1: an empty cell).
std::array<at::Tensor, 2> poolRegionsMax(const at::Tensor &image, const at::Tensor &regions,
                                         const RegionPooling &pooling);
at::Tensor poolRegionsMaxBackward(const at::Tensor &gradient, const at::Tensor &regions,
                                  const at::Tensor &argmax, at::IntArrayRef sizes);

// Indices (int64) of the BOXES [N, 4] that stay, best score first: a box goes when one that stays overlaps it
// by more than THRESHOLD (area of both together).
at::Tensor keepBestBoxes(const at::Tensor &boxes, const at::Tensor &scores, double threshold);

} // namespace core
