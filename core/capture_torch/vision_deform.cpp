// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/vision_deform.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace core {
namespace {

// Sizes of one convolution. Columns are the matrix [channels * taps, block * positions] that the kernel is
// multiplied with, for a block of images at a time.
struct DeformedSizes
{
    std::int64_t batch, channels, height, width;
    std::array<std::int64_t, 2> kernel, out;
    std::int64_t block; // divides the batch; with other blocks sums would be rounded otherwise

    std::int64_t taps() const { return kernel[0] * kernel[1]; }
    std::int64_t positions() const { return out[0] * out[1]; }
    std::int64_t plane() const { return height * width; }
};

std::int64_t imagesAtOnce(std::int64_t batch)
{
    constexpr std::int64_t kMost = 32;
    for (std::int64_t block = std::min(batch, kMost); block > 1; --block)
        if (batch % block == 0)
            return block;
    return 1;
}

DeformedSizes sizesOf(const DeformedConvolution &of)
{
    const auto &image = of.input, &weight = of.weight;
    DeformedSizes sizes{image.size(0),
                        image.size(1),
                        image.size(2),
                        image.size(3),
                        {weight.size(2), weight.size(3)},
                        {},
                        imagesAtOnce(image.size(0))};
    for (const std::size_t side : {0, 1}) {
        const std::int64_t reach = of.dilation[side] * (sizes.kernel[side] - 1) + 1;
        const std::int64_t room = image.size(static_cast<std::int64_t>(side) + 2) + 2 * of.padding[side];
        sizes.out[side] = room < reach ? 0 : (room - reach) / of.stride[side] + 1;
    }
    return sizes;
}

void checkNumbers(const DeformedConvolution &of)
{
    for (const at::Tensor &tensor : {of.input, of.weight, of.offset})
        TORCH_CHECK(tensor.dim() == 4,
                    "deform_conv2d takes an input, a weight and an offset of 4 dimensions, "
                    "got the shape ",
                    tensor.sizes());
    for (const std::size_t side : {0, 1})
        TORCH_CHECK(of.stride[side] > 0 && of.dilation[side] > 0 && of.padding[side] >= 0 &&
                        of.weight.size(static_cast<std::int64_t>(side) + 2) > 0,
                    "deform_conv2d takes a kernel, a stride and a dilation above 0 and no negative padding");
    TORCH_CHECK(of.groups > 0 && of.weight.size(1) * of.groups == of.input.size(1) &&
                    of.weight.size(0) % of.groups == 0,
                "a weight of the shape ", of.weight.sizes(), " in ", of.groups, " groups does not go with ",
                of.input.size(1), " channels");
    TORCH_CHECK(of.offsetGroups > 0 && of.input.size(1) % of.offsetGroups == 0, of.input.size(1),
                " channels do not go into ", of.offsetGroups, " offset groups");
    TORCH_CHECK(of.bias.numel() == of.weight.size(0), "the bias has ", of.bias.numel(), " values for ",
                of.weight.size(0), " channels of the result");
}

void checkShapes(const DeformedConvolution &of, const DeformedSizes &sizes)
{
    const std::vector<std::int64_t> offset = {sizes.batch, of.offsetGroups * 2 * sizes.taps(), sizes.out[0],
                                              sizes.out[1]};
    TORCH_CHECK(sizes.out[0] > 0 && sizes.out[1] > 0,
                "the input is smaller than the kernel: ", of.input.sizes(), " and ", of.weight.sizes());
    TORCH_CHECK(of.offset.sizes() == at::IntArrayRef(offset), "the offset has the shape ", of.offset.sizes(),
                " where ", at::IntArrayRef(offset), " is expected");
    const std::vector<std::int64_t> mask = {sizes.batch, of.offsetGroups * sizes.taps(), sizes.out[0],
                                            sizes.out[1]};
    TORCH_CHECK(!of.useMask || of.mask.sizes() == at::IntArrayRef(mask), "the mask has the shape ",
                of.mask.sizes(), " where ", at::IntArrayRef(mask), " is expected");
    for (const at::Tensor &tensor : {of.weight, of.offset, of.mask, of.bias})
        TORCH_CHECK(tensor.scalar_type() == of.input.scalar_type(), "deform_conv2d takes one dtype, got ",
                    of.input.scalar_type(), " and ", tensor.scalar_type());
}

// The tensors in row order, which the loops below count on.
DeformedConvolution inRows(const DeformedConvolution &of)
{
    DeformedConvolution rows = of;
    for (at::Tensor *tensor : {&rows.input, &rows.weight, &rows.offset, &rows.mask, &rows.bias})
        *tensor = tensor->contiguous();
    return rows;
}

// Where one place of the kernel looks for one position of the result.
template <typename T>
struct Spot
{
    T y, x, share; // share: its mask
    std::int64_t image, group, tap, position;
};

// Calls VISIT(spot) for every spot of the images from FIRST on, a block of them.
template <typename T, typename Visit>
void forEachSpot(const DeformedConvolution &of, const DeformedSizes &sizes, std::int64_t first,
                 const Visit &visit)
{
    const T *const offset = of.offset.const_data_ptr<T>();
    const T *const mask = of.useMask ? of.mask.const_data_ptr<T>() : nullptr;
    const std::int64_t positions = sizes.positions();
    for (std::int64_t image = first; image < first + sizes.block; ++image)
        for (std::int64_t group = 0; group < of.offsetGroups; ++group)
            for (std::int64_t tap = 0; tap < sizes.taps(); ++tap) {
                const std::int64_t row = (image * of.offsetGroups + group) * sizes.taps() + tap;
                const std::int64_t down = tap / sizes.kernel[1] * of.dilation[0] - of.padding[0];
                const std::int64_t across = tap % sizes.kernel[1] * of.dilation[1] - of.padding[1];
                for (std::int64_t p = 0; p < positions; ++p) {
                    const T y = static_cast<T>(p / sizes.out[1] * of.stride[0] + down);
                    const T x = static_cast<T>(p % sizes.out[1] * of.stride[1] + across);
                    visit(Spot<T>{y + offset[2 * row * positions + p],
                                  x + offset[(2 * row + 1) * positions + p],
                                  mask ? mask[row * positions + p] : T(1), image, group, tap, p});
                }
            }
}

// The four pixels around a spot with their nearness; pixels outside are no pixels, and of a spot that is no
// number none is known.
template <typename T>
struct Around
{
    std::array<std::int64_t, 4> at{-1, -1, -1, -1}; // in one plane, row by row; -1: outside
    std::array<T, 4> near{};
    std::array<T, 4> given{}; // near as it is rounded for the gradient of the image
    T down{}, across{};       // from the upper left pixel
    bool outside = false, unknown = false;

    Around(const Spot<T> &spot, const DeformedSizes &sizes)
    {
        const T height = static_cast<T>(sizes.height), width = static_cast<T>(sizes.width);
        unknown = std::isnan(static_cast<double>(spot.y)) || std::isnan(static_cast<double>(spot.x));
        outside = spot.y <= T(-1) || height <= spot.y || spot.x <= T(-1) || width <= spot.x;
        // At -1 itself nothing is seen yet, but the image is next to it: the slope there counts.
        if (unknown || spot.y < T(-1) || height <= spot.y || spot.x < T(-1) || width <= spot.x)
            return;
        const auto top = static_cast<std::int64_t>(std::floor(static_cast<double>(spot.y)));
        const auto left = static_cast<std::int64_t>(std::floor(static_cast<double>(spot.x)));
        down = spot.y - static_cast<T>(top);
        across = spot.x - static_cast<T>(left);
        const T up = T(1) - down, back = T(1) - across;
        near = {up * back, up * across, down * back, down * across};
        for (const std::int64_t corner : {0, 1, 2, 3}) {
            const std::int64_t y = top + corner / 2, x = left + corner % 2;
            if (y < 0 || y >= sizes.height || x < 0 || x >= sizes.width)
                continue;
            at[static_cast<std::size_t>(corner)] = y * sizes.width + x;
            given[static_cast<std::size_t>(corner)] = nearness(spot.y, y) * nearness(spot.x, x);
        }
    }

    static T nearness(T spot, std::int64_t pixel)
    {
        const T apart = spot - static_cast<T>(pixel);
        return T(1) - (apart < T(0) ? -apart : apart);
    }

    std::array<T, 4> pixels(const T *plane) const
    {
        std::array<T, 4> found{};
        for (std::size_t i = 0; i < at.size(); ++i)
            if (at[i] >= 0)
                found[i] = plane[at[i]];
        return found;
    }
    T value(const T *plane) const
    {
        if (unknown)
            return std::numeric_limits<T>::quiet_NaN();
        if (outside)
            return T(0);
        const std::array<T, 4> pixel = pixels(plane);
        return near[0] * pixel[0] + near[1] * pixel[1] + near[2] * pixel[2] + near[3] * pixel[3];
    }
    // How much the value grows a pixel further down and across.
    std::array<T, 2> slopes(const T *plane) const
    {
        if (unknown)
            return {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN()};
        const auto [a, b, c, d] = pixels(plane);
        return {across * (d - b) + (T(1) - across) * (c - a), down * (d - c) + (T(1) - down) * (b - a)};
    }
};

// Where the columns of channel C stand for SPOT.
template <typename T>
std::int64_t columnAt(const Spot<T> &spot, const DeformedSizes &sizes, std::int64_t channel)
{
    const std::int64_t row = channel * sizes.taps() + spot.tap;
    return (row * sizes.block + spot.image % sizes.block) * sizes.positions() + spot.position;
}

at::Tensor columnsOf(const DeformedConvolution &of, const DeformedSizes &sizes, std::int64_t first)
{
    at::Tensor columns =
        at::empty({sizes.channels * sizes.taps(), sizes.block * sizes.positions()}, of.input.options());
    const std::int64_t share = sizes.channels / of.offsetGroups;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, of.input.scalar_type(), "deformedColumns", [&] {
        const scalar_t *const in = of.input.const_data_ptr<scalar_t>();
        scalar_t *const out = columns.mutable_data_ptr<scalar_t>();
        forEachSpot<scalar_t>(of, sizes, first, [&](const Spot<scalar_t> &spot) {
            const Around<scalar_t> around(spot, sizes);
            for (std::int64_t c = spot.group * share; c < (spot.group + 1) * share; ++c)
                out[columnAt(spot, sizes, c)] =
                    spot.share * around.value(in + (spot.image * sizes.channels + c) * sizes.plane());
        });
    });
    return columns;
}

template <typename T>
struct MovedGradients
{
    T *input, *offset, *mask; // mask: null without one
};

// Gives the gradients of the columns of one spot on to the image, the offset and the mask.
template <typename T>
void giveOn(const DeformedConvolution &of, const DeformedSizes &sizes, const Spot<T> &spot, const T *columns,
            const MovedGradients<T> &to)
{
    const Around<T> around(spot, sizes);
    const std::int64_t share = sizes.channels / of.offsetGroups;
    T down = T(0), across = T(0), mask = T(0);
    for (std::int64_t c = spot.group * share; c < (spot.group + 1) * share; ++c) {
        const std::int64_t plane = (spot.image * sizes.channels + c) * sizes.plane();
        const T *const in = of.input.const_data_ptr<T>() + plane;
        const T gradient = columns[columnAt(spot, sizes, c)];
        const std::array<T, 2> slope = around.slopes(in);
        down += spot.share * slope[0] * gradient;
        across += spot.share * slope[1] * gradient;
        mask += gradient * around.value(in);
        for (std::size_t i = 0; i < around.at.size(); ++i)
            if (around.given[i] > T(0))
                to.input[plane + around.at[i]] += spot.share * around.given[i] * gradient;
    }
    const std::int64_t row = (spot.image * of.offsetGroups + spot.group) * sizes.taps() + spot.tap;
    to.offset[2 * row * sizes.positions() + spot.position] = down;
    to.offset[(2 * row + 1) * sizes.positions() + spot.position] = across;
    if (to.mask)
        to.mask[row * sizes.positions() + spot.position] = mask;
}

void giveColumnsOn(const DeformedConvolution &of, const DeformedSizes &sizes, std::int64_t first,
                   const at::Tensor &columns, const std::array<at::Tensor, 5> &gradients)
{
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, columns.scalar_type(), "deformedColumnsBackward", [&] {
            const scalar_t *const from = columns.const_data_ptr<scalar_t>();
            const MovedGradients<scalar_t> to{
                gradients[0].mutable_data_ptr<scalar_t>(), gradients[2].mutable_data_ptr<scalar_t>(),
                of.useMask ? gradients[3].mutable_data_ptr<scalar_t>() : nullptr};
            forEachSpot<scalar_t>(of, sizes, first, [&](const Spot<scalar_t> &spot) {
                giveOn<scalar_t>(of, sizes, spot, from, to);
            });
        });
}

// A block of a [N, C, result] tensor as the matrix of group GROUP: [C / groups, block * positions].
at::Tensor blockOf(const at::Tensor &whole, const DeformedSizes &sizes, std::int64_t first,
                   const at::Tensor &groupWeight, std::int64_t group)
{
    const std::int64_t rows = groupWeight.size(0);
    return whole.slice(0, first, first + sizes.block)
        .slice(1, group * rows, (group + 1) * rows)
        .transpose(0, 1)
        .reshape({rows, sizes.block * sizes.positions()});
}

// WEIGHT or its gradient as one matrix a group: [groups, out / groups, C / groups * taps].
at::Tensor byGroup(const at::Tensor &weight, std::int64_t groups)
{
    return weight.view({groups, weight.size(0) / groups, weight.size(1) * weight.size(2) * weight.size(3)});
}

} // namespace

at::Tensor deformedConvolution(const DeformedConvolution &of)
{
    checkNumbers(of);
    const DeformedSizes sizes = sizesOf(of);
    checkShapes(of, sizes);
    const DeformedConvolution rows = inRows(of);
    const at::Tensor weights = byGroup(rows.weight, of.groups);
    at::Tensor result =
        at::zeros({sizes.batch, of.weight.size(0), sizes.out[0], sizes.out[1]}, of.input.options());
    for (std::int64_t first = 0; first < sizes.batch; first += sizes.block) {
        const at::Tensor columns =
            columnsOf(rows, sizes, first).view({of.groups, -1, sizes.block * sizes.positions()});
        std::vector<at::Tensor> groups;
        for (std::int64_t group = 0; group < of.groups; ++group)
            groups.push_back(at::mm(weights[group], columns[group]));
        const at::Tensor block =
            at::cat(groups).view({of.weight.size(0), sizes.block, sizes.out[0], sizes.out[1]});
        result.slice(0, first, first + sizes.block).copy_(block.transpose(0, 1));
    }
    return at::add(result, rows.bias.view({1, of.weight.size(0), 1, 1}));
}

std::array<at::Tensor, 5> deformedConvolutionGradients(const DeformedConvolution &of,
                                                       const at::Tensor &gradient)
{
    const DeformedSizes sizes = sizesOf(of);
    const DeformedConvolution rows = inRows(of);
    std::array<at::Tensor, 5> gradients = {at::zeros_like(rows.input), at::zeros_like(rows.weight),
                                           at::zeros_like(rows.offset), at::zeros_like(rows.mask),
                                           gradient.sum({0, 2, 3})};
    const at::Tensor weights = byGroup(rows.weight, of.groups);
    const at::Tensor weightGradients = byGroup(gradients[1], of.groups);
    for (std::int64_t first = 0; first < sizes.batch; first += sizes.block) {
        const at::Tensor columns =
            columnsOf(rows, sizes, first).view({of.groups, -1, sizes.block * sizes.positions()});
        std::vector<at::Tensor> back;
        for (std::int64_t group = 0; group < of.groups; ++group) {
            const at::Tensor out = blockOf(gradient, sizes, first, weights[group], group);
            weightGradients[group].addmm_(out, columns[group].t());
            back.push_back(at::mm(weights[group].t(), out));
        }
        giveColumnsOn(rows, sizes, first, at::cat(back), gradients);
    }
    return gradients;
}

} // namespace core
