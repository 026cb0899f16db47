// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace core {

// What the kernels find in one stretch of real numbers; indices count from the start of the stretch. Sums are
// of (value - shift) over the finite values. Internal to the statistics kernel.
struct StatsPartial
{
    std::uint64_t elements = 0;
    std::uint64_t nan = 0;
    std::uint64_t posInf = 0;
    std::uint64_t negInf = 0;
    std::uint64_t zero = 0;
    std::uint64_t subnormal = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    double absMin = std::numeric_limits<double>::infinity(); // of those that are not zero
    double shift = 0.0;
    double sum = 0.0;
    double sumOfSquares = 0.0;
    std::int64_t firstNan = -1;
    std::int64_t firstPosInf = -1;
    std::int64_t firstNegInf = -1;
};

namespace stats_kernels {

// Portable kernels of every real dtype.
StatsPartial scanScalar(DType dtype, const std::byte *data, std::size_t count);
// Infinity when an element is NaN or infinite.
double largestMagnitudeScalar(DType dtype, const std::byte *data, std::size_t count);

// AVX2 kernels of float16, bfloat16, float32 and float64. Call them only when avx2Usable().
bool avx2Usable();
bool hasAvx2Kernel(DType dtype);
StatsPartial scanAvx2(DType dtype, const std::byte *data, std::size_t count);
double largestMagnitudeAvx2(DType dtype, const std::byte *data, std::size_t count);

// Shared by both: one value at INDEX of the stretch. The caller has counted it in `elements`.
template <class Real>
inline void addValue(StatsPartial &partial, Real value, double smallestNormal, std::int64_t index)
{
    const double x = static_cast<double>(value);
    if (x - x != 0.0) {
        std::uint64_t &counter = x != x ? partial.nan : (x > 0 ? partial.posInf : partial.negInf);
        std::int64_t &first = x != x ? partial.firstNan : (x > 0 ? partial.firstPosInf : partial.firstNegInf);
        ++counter;
        if (first < 0)
            first = index;
        return;
    }
    const double magnitude = x < 0 ? -x : x;
    partial.min = x < partial.min ? x : partial.min;
    partial.max = x > partial.max ? x : partial.max;
    if (magnitude == 0.0)
        ++partial.zero;
    else
        partial.absMin = magnitude < partial.absMin ? magnitude : partial.absMin;
    if (magnitude != 0.0 && magnitude < smallestNormal)
        ++partial.subnormal;
    const double difference = x - partial.shift;
    partial.sum += difference;
    partial.sumOfSquares += difference * difference;
}

} // namespace stats_kernels
} // namespace core
