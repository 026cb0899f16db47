// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace core {

// What one pass over a tensor's elements found. Counts are of elements; for a complex tensor of its real
// parts, so ELEMENTS is twice the number of complex values. min, max, absMin, absMax, mean and std are over
// the finite elements and mean something only if hasFinite() (absMin is the smallest magnitude above zero, 0
// when all are zero; std is the population form). First positions are flat row-major element indices, -1 when
// there is none. Statistics of integers and booleans have no non-finite counts by nature.
struct TensorStats
{
    std::uint64_t elements = 0;
    std::uint64_t nan = 0;
    std::uint64_t posInf = 0;
    std::uint64_t negInf = 0;
    std::uint64_t zero = 0;
    std::uint64_t subnormal = 0;
    double min = 0.0;
    double max = 0.0;
    double absMin = 0.0;
    double absMax = 0.0;
    double mean = 0.0;
    double std = 0.0;
    std::int64_t firstNan = -1;
    std::int64_t firstPosInf = -1;
    std::int64_t firstNegInf = -1;

    std::uint64_t nonFinite() const { return nan + posInf + negInf; }
    bool isAllFinite() const { return nonFinite() == 0; }
    bool hasFinite() const { return elements > nonFinite(); }
    bool operator==(const TensorStats &) const = default;
};

} // namespace core
