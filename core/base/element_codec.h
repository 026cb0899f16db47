// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace core {

// The stored bits of the small floating types as numbers; exact, since every one of them fits the result.
inline float bfloat16ToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
float halfToFloat(std::uint16_t bits);
// DTYPE is one of the float8 kinds. NaN for the NaN patterns, infinities only for float8_e5m2.
float float8ToFloat(DType dtype, std::uint8_t bits);

// Element INDEX of a contiguous array in host byte order, as a double: the real part of a complex element,
// the stored integer of a quantized one, 0 or 1 for a boolean. NaN for the dtype unknown. 64-bit integers are
// rounded to 53 bits.
double elementAsDouble(DType dtype, const std::byte *data, std::size_t index);
// Element INDEX of a whole-number dtype (quantized ones too, booleans as 0 and 1), exactly. Other dtypes, and
// uint64 above the largest int64: none.
std::optional<std::int64_t> elementAsInteger(DType dtype, const std::byte *data, std::size_t index);
// The imaginary part of element INDEX; 0 for a dtype that is not complex.
double elementImaginary(DType dtype, const std::byte *data, std::size_t index);

// The type of one part of a complex dtype; the dtype itself for others.
DType partDType(DType dtype);

} // namespace core
