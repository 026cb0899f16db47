// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"

#include <algorithm>
#include <cmath>

namespace core {

// VALUE as an element of DTYPE would hold it: to the nearest, ties to even, infinite beyond the maximum. For
// float16, bfloat16 and float32; VALUE itself for other types. PyTorch's results in small types are rounded
// like this from float32.
inline double roundedTo(DType dtype, double value)
{
    if (dtype == DType::float32)
        return static_cast<double>(static_cast<float>(value));
    const bool half = dtype == DType::float16;
    if ((!half && dtype != DType::bfloat16) || !std::isfinite(value) || value == 0.0)
        return value;
    const double single = static_cast<double>(static_cast<float>(value));
    if (!std::isfinite(single))
        return single;
    int exponent = 0;
    std::frexp(single, &exponent);
    // The weight of the last bit: 11 or 8 bits of mantissa, no finer than the subnormals.
    const int last = half ? std::max(exponent - 11, -24) : std::max(exponent - 8, -133);
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(single, -last)), last);
    return std::fabs(rounded) > floatLimits(dtype).max ? std::copysign(HUGE_VAL, rounded) : rounded;
}

} // namespace core
