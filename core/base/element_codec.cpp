// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/element_codec.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace core {
namespace {

template <class T>
T load(const std::byte *data, std::size_t index)
{
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
}

// A float8 with EXPONENT bits and the rest mantissa, without its special values.
float decodeFloat8(std::uint8_t bits, int mantissaBits, int bias)
{
    const int mantissa = bits & ((1 << mantissaBits) - 1);
    const int exponent = (bits & 0x7f) >> mantissaBits;
    const float scaled = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits)
                                       : std::ldexp(static_cast<float>(mantissa + (1 << mantissaBits)),
                                                    exponent - bias - mantissaBits);
    return (bits & 0x80) != 0 ? -scaled : scaled;
}

} // namespace

float halfToFloat(std::uint16_t bits)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fU;
    const std::uint32_t mantissa = bits & 0x3ffU;
    if (exponent == 0x1f)
        return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float float8ToFloat(DType dtype, std::uint8_t bits)
{
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    switch (dtype) {
    case DType::float8_e4m3fn:
        return (bits & 0x7f) == 0x7f ? kNan : decodeFloat8(bits, 3, 7);
    case DType::float8_e4m3fnuz:
        return bits == 0x80 ? kNan : decodeFloat8(bits, 3, 8);
    case DType::float8_e5m2:
        return halfToFloat(static_cast<std::uint16_t>(bits << 8));
    case DType::float8_e5m2fnuz:
        return bits == 0x80 ? kNan : decodeFloat8(bits, 2, 16);
    case DType::float8_e8m0fnu:
        return bits == 0xff ? kNan : std::ldexp(1.0F, static_cast<int>(bits) - 127);
    default:
        return kNan;
    }
}

DType partDType(DType dtype)
{
    switch (dtype) {
    case DType::complex32:
        return DType::float16;
    case DType::complex64:
        return DType::float32;
    case DType::complex128:
        return DType::float64;
    default:
        return dtype;
    }
}

double elementAsDouble(DType dtype, const std::byte *data, std::size_t index)
{
    switch (dtype) {
    case DType::unknown:
        return std::numeric_limits<double>::quiet_NaN();
    case DType::boolean:
        return load<std::uint8_t>(data, index) != 0 ? 1.0 : 0.0;
    case DType::uint8:
    case DType::quint8:
        return load<std::uint8_t>(data, index);
    case DType::int8:
    case DType::qint8:
        return load<std::int8_t>(data, index);
    case DType::uint16:
        return load<std::uint16_t>(data, index);
    case DType::int16:
        return load<std::int16_t>(data, index);
    case DType::uint32:
        return load<std::uint32_t>(data, index);
    case DType::int32:
    case DType::qint32:
        return load<std::int32_t>(data, index);
    case DType::uint64:
        return static_cast<double>(load<std::uint64_t>(data, index));
    case DType::int64:
        return static_cast<double>(load<std::int64_t>(data, index));
    case DType::float16:
        return halfToFloat(load<std::uint16_t>(data, index));
    case DType::bfloat16:
        return bfloat16ToFloat(load<std::uint16_t>(data, index));
    case DType::float32:
        return load<float>(data, index);
    case DType::float64:
        return load<double>(data, index);
    case DType::complex32:
    case DType::complex64:
    case DType::complex128:
        return elementAsDouble(partDType(dtype), data, 2 * index);
    default:
        return float8ToFloat(dtype, load<std::uint8_t>(data, index));
    }
}

std::optional<std::int64_t> elementAsInteger(DType dtype, const std::byte *data, std::size_t index)
{
    if (dtype == DType::int64)
        return load<std::int64_t>(data, index);
    if (dtype == DType::uint64) {
        const auto value = load<std::uint64_t>(data, index);
        return std::in_range<std::int64_t>(value) ? std::optional(static_cast<std::int64_t>(value))
                                                  : std::nullopt;
    }
    if (dtype == DType::unknown || canBeNonFinite(dtype))
        return std::nullopt;
    return static_cast<std::int64_t>(elementAsDouble(dtype, data, index));
}

double elementImaginary(DType dtype, const std::byte *data, std::size_t index)
{
    return isComplex(dtype) ? elementAsDouble(partDType(dtype), data, 2 * index + 1) : 0.0;
}

} // namespace core
