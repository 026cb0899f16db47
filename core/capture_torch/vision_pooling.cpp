// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/vision_pooling.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace core {
namespace {

// A coordinate as a number of pixels; those far outside any image (and no numbers) far outside.
template <typename T>
std::int64_t wholePixels(T position)
{
    constexpr double kFar = 1e9;
    const double at = static_cast<double>(position);
    return std::abs(at) < kFar ? static_cast<std::int64_t>(at)
                               : static_cast<std::int64_t>(at > 0 ? kFar : -kFar);
}

// A region in pixels of the image.
template <typename T>
struct Region
{
    std::int64_t batch = 0;
    T left, top, width, height; // position of the first cell, size of all

    T cellWidth(const RegionPooling &pooling) const { return width / static_cast<T>(pooling.pooled[1]); }
    T cellHeight(const RegionPooling &pooling) const { return height / static_cast<T>(pooling.pooled[0]); }
};

template <typename T>
Region<T> regionAt(const T *five, const RegionPooling &pooling)
{
    using Kind = RegionPooling::Kind;
    const T scale = static_cast<T>(pooling.scale);
    std::array<T, 4> at = {five[1] * scale, five[2] * scale, five[3] * scale, five[4] * scale};
    T smallest = -std::numeric_limits<T>::infinity();
    if (pooling.kind == Kind::positionAverage) {
        for (std::size_t i = 0; i < 4; ++i)
            at[i] = std::round(five[i + 1] * scale);
        smallest = 1;
    } else if (pooling.kind == Kind::positionAlign || pooling.aligned) {
        for (T &side : at)
            side -= static_cast<T>(0.5);
    } else {
        smallest = 1;
    }
    return {wholePixels(five[0]), at[0], at[1], std::max(at[2] - at[0], smallest),
            std::max(at[3] - at[1], smallest)};
}

// What a cell is made of: the mean over samples, each of PIXELS positions of one plane (row by row) with
// their weights. Sums are taken in this order, and divided last, so that they are rounded as torchvision
// rounds them.
template <typename T>
struct Taps
{
    static constexpr std::int64_t kOutside = -1; // a sample beside the image: it counts, but gives nothing on
    std::vector<std::int64_t> at;
    std::vector<T> weight;
    std::size_t pixels = 1;
    T count = T(1);

    void add(std::int64_t position, T value)
    {
        at.push_back(position);
        weight.push_back(value);
    }
    void addOutside()
    {
        at.resize(at.size() + pixels, kOutside);
        weight.resize(weight.size() + pixels, T(0));
    }
    T mean(const T *plane) const
    {
        T sum = T(0);
        for (std::size_t i = 0; i < at.size(); i += pixels) {
            T sample = term(plane, i);
            for (std::size_t j = 1; j < pixels; ++j)
                sample += term(plane, i + j);
            sum += sample;
        }
        return sum / count;
    }
    void giveOn(T gradient, T *plane) const
    {
        for (std::size_t i = 0; i < at.size(); ++i)
            if (at[i] != kOutside)
                plane[at[i]] += gradient * weight[i] / count;
    }

private:
    // Beside the image the first pixel counts nothing, which is no number where that pixel is not finite.
    T term(const T *plane, std::size_t i) const
    {
        return weight[i] * plane[std::max<std::int64_t>(at[i], 0)];
    }
};

struct Plane
{
    std::int64_t height, width;
};

template <typename T>
bool isInside(T y, T x, const Plane &plane)
{
    return y >= T(-1) && y <= static_cast<T>(plane.height) && x >= T(-1) && x <= static_cast<T>(plane.width);
}

// The four pixels around (Y, X), by their nearness.
template <typename T>
void addBetween(T y, T x, const Plane &plane, Taps<T> &taps)
{
    const auto split = [](T at, std::int64_t size, std::int64_t &low, std::int64_t &high) {
        at = std::max(at, T(0));
        low = std::min(static_cast<std::int64_t>(at), size - 1);
        high = std::min(low + 1, size - 1);
        return low == high ? T(0) : at - static_cast<T>(low);
    };
    std::int64_t top = 0, bottom = 0, left = 0, right = 0;
    const T down = split(y, plane.height, top, bottom);
    const T across = split(x, plane.width, left, right);
    const T up = T(1) - down, back = T(1) - across;
    taps.add(top * plane.width + left, up * back);
    taps.add(top * plane.width + right, up * across);
    taps.add(bottom * plane.width + left, down * back);
    taps.add(bottom * plane.width + right, down * across);
}

struct Cell
{
    std::int64_t row, column;
};

template <typename T>
void addSamples(const Region<T> &region, const Cell &cell, const Plane &plane, const RegionPooling &pooling,
                Taps<T> &taps)
{
    const T height = region.cellHeight(pooling), width = region.cellWidth(pooling);
    const auto samples = [&](T size) {
        const T most = T(8192);
        TORCH_CHECK(pooling.sampling > 0 || !std::isfinite(size) || size <= most, "a cell of a region has ",
                    size, " pixels a side, more than ", most);
        return pooling.sampling > 0  ? pooling.sampling
               : std::isfinite(size) ? static_cast<std::int64_t>(std::ceil(size))
                                     : 0;
    };
    const std::int64_t rows = samples(height), columns = samples(width);
    TORCH_CHECK(pooling.byPosition() || rows * columns >= 0, "a region is ", region.width, " wide and ",
                region.height, " high, which roi_align cannot sample");
    // R-FCN's op divides by none, too.
    const bool byPosition = pooling.byPosition();
    taps.pixels = 4;
    taps.count = static_cast<T>(byPosition ? rows * columns : std::max<std::int64_t>(rows * columns, 1));
    const T top = region.top + static_cast<T>(cell.row) * height;
    const T left = region.left + static_cast<T>(cell.column) * width;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            const T y = top + (static_cast<T>(i) + T(0.5)) * height / static_cast<T>(rows);
            const T x = left + (static_cast<T>(j) + T(0.5)) * width / static_cast<T>(columns);
            if (isInside(y, x, plane))
                addBetween(y, x, plane, taps);
            else if (!byPosition)
                taps.addOutside();
        }
}

// First and last but one pixel of a cell along one side.
struct Span
{
    std::int64_t begin, end;
};

// Cells are cut from the region's own corner START, in whole pixels.
template <typename T>
Span spanOf(std::int64_t start, T size, std::int64_t cell, std::int64_t limit)
{
    const auto at = [&](T position) {
        return std::clamp(wholePixels(position) + start, std::int64_t(0), limit);
    };
    return {at(std::floor(static_cast<T>(cell) * size)), at(std::ceil(static_cast<T>(cell + 1) * size))};
}

template <typename T>
Taps<T> tapsOf(const Region<T> &region, const Cell &cell, const Plane &plane, const RegionPooling &pooling)
{
    Taps<T> taps;
    if (pooling.kind != RegionPooling::Kind::positionAverage) {
        addSamples(region, cell, plane, pooling, taps);
        return taps;
    }
    const Span rows =
        spanOf(wholePixels(region.top), region.cellHeight(pooling), cell.row, plane.height - pooling.leftOut);
    const Span columns = spanOf(wholePixels(region.left), region.cellWidth(pooling), cell.column,
                                plane.width - pooling.leftOut);
    if (rows.begin >= rows.end || columns.begin >= columns.end)
        return taps;
    taps.count = static_cast<T>((rows.end - rows.begin) * (columns.end - columns.begin));
    for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t x = columns.begin; x < columns.end; ++x)
            taps.add(y * plane.width + x, T(1));
    return taps;
}

void checkRegions(at::IntArrayRef image, const at::Tensor &regions)
{
    TORCH_CHECK(image.size() == 4, "the image must have 4 dimensions, it has ", image.size());
    TORCH_CHECK(regions.dim() == 2 && regions.size(1) == 5, "regions must have the shape [K, 5], they have ",
                regions.sizes());
    TORCH_CHECK(image[2] > 0 && image[3] > 0, "the image has no pixels: ", image);
}

// Calls VISIT(output position, plane of the image, taps) for every cell of every region.
template <typename T, typename Visit>
void forEachCell(at::IntArrayRef sizes, const at::Tensor &regions, const RegionPooling &pooling,
                 const Visit &visit)
{
    const Plane plane{sizes[2], sizes[3]};
    const auto [rows, columns] = pooling.pooled;
    const std::int64_t channels = pooling.channelsOut(sizes[1]);
    const T *const five = regions.const_data_ptr<T>();
    for (std::int64_t k = 0; k < regions.size(0); ++k) {
        const Region<T> region = regionAt(five + k * 5, pooling);
        TORCH_CHECK(region.batch >= 0 && region.batch < sizes[0], "region ", k, " is of image ", region.batch,
                    " of a batch of ", sizes[0]);
        for (std::int64_t cell = 0; cell < rows * columns; ++cell) {
            const Taps<T> taps = tapsOf(region, {cell / columns, cell % columns}, plane, pooling);
            for (std::int64_t c = 0; c < channels; ++c) {
                const std::int64_t from = pooling.byPosition() ? c * rows * columns + cell : c;
                visit((k * channels + c) * rows * columns + cell,
                      (region.batch * sizes[1] + from) * plane.height * plane.width, taps);
            }
        }
    }
}

at::Tensor emptyPooled(at::IntArrayRef sizes, const at::Tensor &regions, const RegionPooling &pooling,
                       const at::TensorOptions &options)
{
    return at::zeros({regions.size(0), pooling.channelsOut(sizes[1]), pooling.pooled[0], pooling.pooled[1]},
                     options);
}

template <typename T>
struct Largest
{
    T value = 0;
    std::int32_t at = -1;
};

template <typename T>
Largest<T> largestOf(const T *values, const Plane &plane, const Span &rows, const Span &columns)
{
    Largest<T> best;
    if (rows.begin < rows.end && columns.begin < columns.end)
        best.value =
            static_cast<T>(std::numeric_limits<float>::lowest()); // so in torchvision, for double too
    for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t x = columns.begin; x < columns.end; ++x)
            if (const std::int64_t at = y * plane.width + x; values[at] > best.value)
                best = {values[at], static_cast<std::int32_t>(at)};
    return best;
}

template <typename T>
void maxOfRegions(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling,
                  std::array<at::Tensor, 2> &out)
{
    const Plane plane{image.size(2), image.size(3)};
    const auto [rows, columns] = pooling.pooled;
    T *value = out[0].mutable_data_ptr<T>();
    std::int32_t *place = out[1].mutable_data_ptr<std::int32_t>();
    for (std::int64_t k = 0; k < regions.size(0); ++k) {
        const T *const five = regions.const_data_ptr<T>() + k * 5;
        std::array<std::int64_t, 4> at{};
        for (std::size_t i = 0; i < 4; ++i)
            at[i] = wholePixels(std::round(five[i + 1] * static_cast<T>(pooling.scale)));
        const std::int64_t batch = wholePixels(five[0]);
        TORCH_CHECK(batch >= 0 && batch < image.size(0), "region ", k, " is of image ", batch,
                    " of a batch of ", image.size(0));
        const auto side = [](std::int64_t from, std::int64_t to, std::int64_t cells) {
            return static_cast<T>(std::max<std::int64_t>(to - from + 1, 1)) / static_cast<T>(cells);
        };
        const T height = side(at[1], at[3], rows), width = side(at[0], at[2], columns);
        for (std::int64_t c = 0; c < image.size(1); ++c) {
            const T *const values =
                image.const_data_ptr<T>() + (batch * image.size(1) + c) * plane.height * plane.width;
            for (std::int64_t cell = 0; cell < rows * columns; ++cell) {
                const Largest<T> best =
                    largestOf(values, plane, spanOf(at[1], height, cell / columns, plane.height),
                              spanOf(at[0], width, cell % columns, plane.width));
                *value++ = best.value;
                *place++ = best.at;
            }
        }
    }
}

template <typename T>
std::vector<std::int64_t> bestBoxes(const at::Tensor &boxes, const at::Tensor &order, double threshold)
{
    const T *const box = boxes.const_data_ptr<T>();
    const auto *const ranked = order.const_data_ptr<std::int64_t>();
    const std::int64_t count = boxes.size(0);
    const auto area = [&](std::int64_t i) {
        return (box[i * 4 + 2] - box[i * 4]) * (box[i * 4 + 3] - box[i * 4 + 1]);
    };
    std::vector<bool> gone(static_cast<std::size_t>(count));
    std::vector<std::int64_t> kept;
    for (std::int64_t a = 0; a < count; ++a) {
        const std::int64_t i = ranked[a];
        if (gone[static_cast<std::size_t>(i)])
            continue;
        kept.push_back(i);
        for (std::int64_t b = a + 1; b < count; ++b) {
            const std::int64_t j = ranked[b];
            const auto overlap = [&](std::int64_t side) {
                return std::max(T(0), std::min(box[i * 4 + side + 2], box[j * 4 + side + 2]) -
                                          std::max(box[i * 4 + side], box[j * 4 + side]));
            };
            const T both = overlap(0) * overlap(1);
            if (both / (area(i) + area(j) - both) > threshold)
                gone[static_cast<std::size_t>(j)] = true;
        }
    }
    return kept;
}

} // namespace

std::int64_t RegionPooling::channelsOut(std::int64_t channels) const
{
    if (!byPosition())
        return channels;
    TORCH_CHECK(pooled[0] > 0 && pooled[1] > 0, "a region cannot be pooled to ", pooled[0], " x ", pooled[1],
                " cells");
    TORCH_CHECK(channels % (pooled[0] * pooled[1]) == 0, channels, " channels do not go into ", pooled[0],
                " x ", pooled[1], " cells");
    return channels / (pooled[0] * pooled[1]);
}

at::Tensor poolRegions(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling)
{
    checkRegions(image.sizes(), regions);
    const at::Tensor from = image.contiguous(), boxes = regions.to(image.scalar_type()).contiguous();
    at::Tensor result = emptyPooled(image.sizes(), boxes, pooling, image.options());
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(image.scalar_type(), "poolRegions", [&] {
        scalar_t *const out = result.mutable_data_ptr<scalar_t>();
        const scalar_t *const in = from.const_data_ptr<scalar_t>();
        forEachCell<scalar_t>(image.sizes(), boxes, pooling,
                              [&](std::int64_t to, std::int64_t plane, const Taps<scalar_t> &taps) {
                                  out[to] = taps.mean(in + plane);
                              });
    });
    return result;
}

at::Tensor poolRegionsBackward(const at::Tensor &gradient, const at::Tensor &regions, at::IntArrayRef sizes,
                               const RegionPooling &pooling)
{
    checkRegions(sizes, regions);
    const at::Tensor from = gradient.contiguous(), boxes = regions.to(gradient.scalar_type()).contiguous();
    at::Tensor result = at::zeros(sizes, gradient.options());
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(gradient.scalar_type(), "poolRegionsBackward", [&] {
        scalar_t *const out = result.mutable_data_ptr<scalar_t>();
        const scalar_t *const in = from.const_data_ptr<scalar_t>();
        forEachCell<scalar_t>(sizes, boxes, pooling,
                              [&](std::int64_t at, std::int64_t plane, const Taps<scalar_t> &taps) {
                                  taps.giveOn(in[at], out + plane);
                              });
    });
    return result;
}

at::Tensor pooledChannels(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling)
{
    at::Tensor result = emptyPooled(image.sizes(), regions, pooling, image.options().dtype(at::kInt));
    std::int32_t *const out = result.mutable_data_ptr<std::int32_t>();
    const std::int64_t each = result.size(1) * result.size(2) * result.size(3);
    for (std::int64_t i = 0; i < result.numel(); ++i)
        out[i] = static_cast<std::int32_t>(i % each);
    return result;
}

std::array<at::Tensor, 2> poolRegionsMax(const at::Tensor &image, const at::Tensor &regions,
                                         const RegionPooling &pooling)
{
    checkRegions(image.sizes(), regions);
    const at::Tensor from = image.contiguous(), boxes = regions.to(image.scalar_type()).contiguous();
    std::array<at::Tensor, 2> out = {
        emptyPooled(image.sizes(), boxes, pooling, image.options()),
        emptyPooled(image.sizes(), boxes, pooling, image.options().dtype(at::kInt))};
    AT_DISPATCH_FLOATING_TYPES(image.scalar_type(), "poolRegionsMax",
                               [&] { maxOfRegions<scalar_t>(from, boxes, pooling, out); });
    return out;
}

at::Tensor poolRegionsMaxBackward(const at::Tensor &gradient, const at::Tensor &regions,
                                  const at::Tensor &argmax, at::IntArrayRef sizes)
{
    const at::Tensor from = gradient.contiguous();
    const at::Tensor images = regions.select(1, 0).to(at::kLong).contiguous();
    at::Tensor result = at::zeros(sizes, gradient.options());
    const std::int64_t cells = gradient.size(2) * gradient.size(3);
    AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "poolRegionsMaxBackward", [&] {
        scalar_t *const out = result.mutable_data_ptr<scalar_t>();
        const scalar_t *const in = from.const_data_ptr<scalar_t>();
        const std::int32_t *const place = argmax.const_data_ptr<std::int32_t>();
        for (std::int64_t i = 0; i < from.numel(); ++i)
            if (place[i] >= 0) {
                const std::int64_t image = images.const_data_ptr<std::int64_t>()[i / cells / sizes[1]];
                TORCH_CHECK(image >= 0 && image < sizes[0] && place[i] < sizes[2] * sizes[3],
                            "the regions or places of roi_pool were changed before its backward pass");
                out[(image * sizes[1] + i / cells % sizes[1]) * sizes[2] * sizes[3] + place[i]] += in[i];
            }
    });
    return result;
}

at::Tensor keepBestBoxes(const at::Tensor &boxes, const at::Tensor &scores, double threshold)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "boxes should have the shape [N, 4], got ",
                boxes.sizes());
    TORCH_CHECK(scores.dim() == 1 && scores.size(0) == boxes.size(0), "scores should have the shape [",
                boxes.size(0), "], got ", scores.sizes());
    const at::Tensor flat = boxes.contiguous();
    const at::Tensor order =
        std::get<1>(at::sort(scores, /*stable=*/true, 0, /*descending=*/true)).contiguous();
    std::vector<std::int64_t> kept;
    AT_DISPATCH_FLOATING_TYPES(boxes.scalar_type(), "keepBestBoxes",
                               [&] { kept = bestBoxes<scalar_t>(flat, order, threshold); });
    at::Tensor result = at::empty({static_cast<std::int64_t>(kept.size())}, boxes.options().dtype(at::kLong));
    std::copy(kept.begin(), kept.end(), result.mutable_data_ptr<std::int64_t>());
    return result;
}

} // namespace core
