// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace core {

// What one pass over a tensor's values found. Counts of a complex tensor are of its parts (two an element),
// also `elements`. min, max, absMin, absMax, mean, std are over the finite values, absent when there is none;
// absMin is the smallest magnitude that is not zero; std is the sample standard deviation (n - 1), absent
// below two values. first* are flat row-major element indices, -1 when there is none.
struct TensorStats
{
    std::uint64_t elements = 0;
    std::uint64_t nan = 0;
    std::uint64_t posInf = 0;
    std::uint64_t negInf = 0;
    std::uint64_t zero = 0;
    std::uint64_t subnormal = 0;
    std::optional<double> min;
    std::optional<double> max;
    std::optional<double> absMin;
    std::optional<double> absMax;
    std::optional<double> mean;
    std::optional<double> std;
    std::int64_t firstNan = -1;
    std::int64_t firstPosInf = -1;
    std::int64_t firstNegInf = -1;

    std::uint64_t nonFinite() const { return nan + posInf + negInf; }
};

} // namespace core
