// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace core {

// |a - b| over two float32 arrays, differences rounded to float32.
struct FloatDifference
{
    float largest = 0.0F; // of those that are numbers
    double sum = 0.0;
    bool apart =
        false; // some pair is not equal and differs by more than absolute + relative * |b|, or by Inf
    bool notANumber = false; // some difference is NaN
};

// For a processor that stats_kernels::avx2Usable(). COUNT is a multiple of 8; no alignment is needed.
FloatDifference floatDifferenceAvx2(const std::byte *a, const std::byte *b, std::size_t count,
                                    double relative, double absolute);

} // namespace core
