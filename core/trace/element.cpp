// SPDX-License-Identifier: GPL-3.0-or-later
// One element of any dtype as a double.
#include "core/trace/tensor_reader.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace core {
namespace {

template <class T>
double as(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}

// A small binary float: sign, EXPONENT bits, MANTISSA bits, BIAS; subnormals as IEEE 754.
double unpack(std::uint32_t bits, int exponent, int mantissa, int bias)
{
    const bool negative = (bits >> (exponent + mantissa)) & 1U;
    const auto e = static_cast<int>((bits >> mantissa) & ((1U << exponent) - 1U));
    const auto m = static_cast<double>(bits & ((1U << mantissa) - 1U));
    const double scale = std::ldexp(1.0, -mantissa);
    const double value = e == 0 ? std::ldexp(m * scale, 1 - bias) : std::ldexp(1.0 + m * scale, e - bias);
    return negative ? -value : value;
}

double halfValue(std::uint16_t bits)
{
    if ((bits & 0x7c00U) != 0x7c00U)
        return unpack(bits, 5, 10, 15);
    if (bits & 0x3ffU)
        return std::numeric_limits<double>::quiet_NaN();
    return bits & 0x8000U ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
}

double float8(DType dtype, std::uint8_t bits)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    switch (dtype) {
    case DType::float8_e4m3fn:
        return (bits & 0x7fU) == 0x7fU ? nan : unpack(bits, 4, 3, 7);
    case DType::float8_e5m2:
        return halfValue(static_cast<std::uint16_t>(bits << 8));
    case DType::float8_e4m3fnuz:
        return bits == 0x80U ? nan : unpack(bits, 4, 3, 8);
    case DType::float8_e5m2fnuz:
        return bits == 0x80U ? nan : unpack(bits, 5, 2, 16);
    default: // float8_e8m0fnu: an exponent alone
        return bits == 0xffU ? nan : std::ldexp(1.0, static_cast<int>(bits) - 127);
    }
}

double bfloat(const std::byte *at)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

double half(const std::byte *at)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return halfValue(bits);
}

} // namespace

double elementAsDouble(DType dtype, std::span<const std::byte> data, std::size_t index)
{
    const std::byte *at = data.data() + index * itemSize(dtype);
    switch (dtype) {
    case DType::boolean:
        return *at != std::byte(0) ? 1.0 : 0.0;
    case DType::uint8:
    case DType::quint8:
        return as<std::uint8_t>(at);
    case DType::int8:
    case DType::qint8:
        return as<std::int8_t>(at);
    case DType::uint16:
        return as<std::uint16_t>(at);
    case DType::int16:
        return as<std::int16_t>(at);
    case DType::uint32:
        return as<std::uint32_t>(at);
    case DType::int32:
    case DType::qint32:
        return as<std::int32_t>(at);
    case DType::uint64:
        return as<std::uint64_t>(at);
    case DType::int64:
        return as<std::int64_t>(at);
    case DType::float16:
    case DType::complex32:
        return half(at);
    case DType::bfloat16:
        return bfloat(at);
    case DType::float32:
    case DType::complex64:
        return as<float>(at);
    case DType::float64:
    case DType::complex128:
        return as<double>(at);
    case DType::unknown:
        return std::numeric_limits<double>::quiet_NaN();
    default:
        return float8(dtype, static_cast<std::uint8_t>(*at));
    }
}

} // namespace core
