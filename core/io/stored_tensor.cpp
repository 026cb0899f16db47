// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/stored_tensor.h"

#include "core/base/repeated_bytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

constexpr std::size_t kMostDimensions = 64;
constexpr std::uint64_t kSmallBlock = std::uint64_t(1) << 20U;
constexpr std::uint64_t kSpread = 16; // a block this many times larger than what is needed is not read

std::size_t partSize(DType dtype)
{
    return isComplex(dtype) ? itemSize(dtype) / 2 : itemSize(dtype);
}

bool isRowMajor(const StoredTensor &tensor)
{
    std::int64_t expected = 1;
    for (std::size_t d = tensor.shape.size(); d-- > 0;) {
        if (tensor.shape[d] != 1 && tensor.strides[d] != expected)
            return false;
        if (__builtin_mul_overflow(expected, tensor.shape[d], &expected))
            return false;
    }
    return true;
}

void swapParts(std::span<std::byte> bytes, std::size_t size)
{
    for (std::size_t at = 0; at + size <= bytes.size(); at += size)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

// Flips the sign bit of every STEP-th part from FIRST (little-endian floating parts).
void flipSigns(std::span<std::byte> bytes, std::size_t size, std::size_t first, std::size_t step)
{
    for (std::size_t at = first * size; at + size <= bytes.size(); at += step * size)
        bytes[at + size - 1] ^= std::byte{0x80};
}

// Storage elements of COUNT consecutive row-major elements from FIRST.
std::vector<std::int64_t> positions(const StoredTensor &tensor, std::uint64_t first, std::uint64_t count)
{
    const std::size_t rank = tensor.shape.size();
    std::vector<std::int64_t> index(rank, 0);
    std::int64_t at = tensor.storageOffset;
    for (std::size_t d = rank; d-- > 0;) {
        const auto extent = static_cast<std::uint64_t>(tensor.shape[d]);
        index[d] = static_cast<std::int64_t>(first % extent);
        first /= extent;
        at += index[d] * tensor.strides[d];
    }
    std::vector<std::int64_t> result(count);
    for (std::int64_t &position : result) {
        position = at;
        for (std::size_t d = rank; d-- > 0;) {
            at += tensor.strides[d];
            if (++index[d] < tensor.shape[d])
                break;
            at -= tensor.strides[d] * tensor.shape[d];
            index[d] = 0;
        }
    }
    return result;
}

Status gather(const StoredTensor &tensor, std::uint64_t first, std::span<std::byte> out)
{
    const std::size_t item = itemSize(tensor.dtype);
    const auto at = positions(tensor, first, out.size() / item);
    const auto [low, high] = std::minmax_element(at.begin(), at.end());
    const std::int64_t base = *low;
    const std::uint64_t length = static_cast<std::uint64_t>(*high - base + 1) * item;
    const bool isBlock = length <= out.size() * kSpread + kSmallBlock;
    std::vector<std::byte> block(isBlock ? length : 0);
    if (isBlock)
        if (Status status = tensor.storage->readAt(static_cast<std::uint64_t>(base) * item, block); !status)
            return status;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto target = out.subspan(i * item, item);
        if (isBlock) {
            const auto *source = block.data() + static_cast<std::size_t>(at[i] - base) * item;
            std::copy_n(source, item, target.begin());
        } else if (Status status = tensor.storage->readAt(static_cast<std::uint64_t>(at[i]) * item, target);
                   !status) {
            return status;
        }
    }
    return Status::ok();
}

Status outOfBounds(std::string_view name, const std::string &what)
{
    return Status(ErrorCode::corrupt, fmt::format("tensor {}: {}", name, what))
        .withDetail("tensor_out_of_bounds");
}

} // namespace

std::uint64_t StoredTensor::elementCount() const
{
    std::uint64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= static_cast<std::uint64_t>(extent);
    return count;
}

std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        if (__builtin_mul_overflow(strides[d], std::max<std::int64_t>(shape[d], 1), &strides[d - 1]))
            strides[d - 1] = 0; // the element count does not fit either, which is checked elsewhere
    return strides;
}

std::vector<std::int64_t> columnMajorStrides(std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = 1; d < shape.size(); ++d)
        if (__builtin_mul_overflow(strides[d - 1], std::max<std::int64_t>(shape[d - 1], 1), &strides[d]))
            strides[d] = 0;
    return strides;
}

Status checkStoredTensor(const StoredTensor &tensor, std::string_view name)
{
    const std::size_t item = itemSize(tensor.dtype);
    if (tensor.shape.size() != tensor.strides.size() || tensor.shape.size() > kMostDimensions || item == 0)
        return outOfBounds(
            name, fmt::format("{} dimensions and {} strides", tensor.shape.size(), tensor.strides.size()));
    std::int64_t count = 1;
    std::int64_t highest = tensor.storageOffset;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
        std::int64_t reach = 0;
        if (tensor.strides[d] < 0)
            return Status(ErrorCode::corrupt, fmt::format("tensor {}: stride {} of dimension {} is negative",
                                                          name, tensor.strides[d], d))
                .withDetail("bad_stride");
        if (tensor.shape[d] < 0 || __builtin_mul_overflow(count, tensor.shape[d], &count))
            return outOfBounds(name, "its shape does not fit 64 bits");
        if (tensor.shape[d] > 0 && (__builtin_mul_overflow(tensor.strides[d], tensor.shape[d] - 1, &reach) ||
                                    __builtin_add_overflow(highest, reach, &highest)))
            return outOfBounds(name, "its strides do not fit 64 bits");
    }
    const std::uint64_t stored = tensor.storage ? tensor.storage->size() / item : 0;
    if (tensor.storageOffset < 0 || (count > 0 && static_cast<std::uint64_t>(highest) >= stored))
        return outOfBounds(name, fmt::format("the storage has {} elements, shape and strides need {}", stored,
                                             static_cast<std::uint64_t>(highest) + 1));
    if (repeatsWithoutEnd(static_cast<std::uint64_t>(count), item, stored * item))
        return outOfBounds(name,
                           fmt::format("its strides make {} elements of {} stored ones", count, stored));
    if (static_cast<std::uint64_t>(count) > (std::uint64_t(1) << 62U) / item)
        return outOfBounds(name, "its bytes do not fit 64 bits");
    return Status::ok();
}

Status readElements(const StoredTensor &tensor, std::uint64_t first, std::span<std::byte> out)
{
    const std::size_t item = itemSize(tensor.dtype);
    const std::uint64_t wanted = out.size() / item;
    const std::uint64_t count = tensor.elementCount();
    if (first > count || wanted > count - first)
        return {ErrorCode::unreadable, fmt::format("elements {} to {} are asked for, the tensor has {}",
                                                   first, first + wanted, count)};
    if (wanted == 0)
        return Status::ok();
    out = out.first(wanted * item);
    const auto offset = static_cast<std::uint64_t>(tensor.storageOffset);
    Status status = isRowMajor(tensor) ? tensor.storage->readAt((offset + first) * item, out)
                                       : gather(tensor, first, out);
    if (!status)
        return status;
    const std::size_t part = partSize(tensor.dtype);
    if (tensor.isBigEndian)
        swapParts(out, part);
    if (tensor.isNegated && canBeNonFinite(tensor.dtype))
        flipSigns(out, part, 0, 1);
    if (tensor.isConjugate && isComplex(tensor.dtype))
        flipSigns(out, part, 1, 2);
    return status;
}

} // namespace core
