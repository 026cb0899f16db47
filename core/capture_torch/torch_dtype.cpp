// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/torch_dtype.h"

#include <array>

namespace core {

namespace {

struct Pair
{
    DType dtype;
    c10::ScalarType type;
};

constexpr std::array kPairs = {
    Pair{DType::boolean, c10::ScalarType::Bool},
    Pair{DType::uint8, c10::ScalarType::Byte},
    Pair{DType::int8, c10::ScalarType::Char},
    Pair{DType::uint16, c10::ScalarType::UInt16},
    Pair{DType::int16, c10::ScalarType::Short},
    Pair{DType::uint32, c10::ScalarType::UInt32},
    Pair{DType::int32, c10::ScalarType::Int},
    Pair{DType::uint64, c10::ScalarType::UInt64},
    Pair{DType::int64, c10::ScalarType::Long},
    Pair{DType::float8_e4m3fn, c10::ScalarType::Float8_e4m3fn},
    Pair{DType::float8_e5m2, c10::ScalarType::Float8_e5m2},
    Pair{DType::float8_e4m3fnuz, c10::ScalarType::Float8_e4m3fnuz},
    Pair{DType::float8_e5m2fnuz, c10::ScalarType::Float8_e5m2fnuz},
    Pair{DType::float8_e8m0fnu, c10::ScalarType::Float8_e8m0fnu},
    Pair{DType::float16, c10::ScalarType::Half},
    Pair{DType::bfloat16, c10::ScalarType::BFloat16},
    Pair{DType::float32, c10::ScalarType::Float},
    Pair{DType::float64, c10::ScalarType::Double},
    Pair{DType::complex32, c10::ScalarType::ComplexHalf},
    Pair{DType::complex64, c10::ScalarType::ComplexFloat},
    Pair{DType::complex128, c10::ScalarType::ComplexDouble},
    Pair{DType::qint8, c10::ScalarType::QInt8},
    Pair{DType::quint8, c10::ScalarType::QUInt8},
    Pair{DType::qint32, c10::ScalarType::QInt32},
};

} // namespace

std::optional<c10::ScalarType> toScalarType(DType dtype)
{
    for (const Pair &pair : kPairs)
        if (pair.dtype == dtype)
            return pair.type;
    return std::nullopt;
}

DType fromScalarType(c10::ScalarType type)
{
    for (const Pair &pair : kPairs)
        if (pair.type == type)
            return pair.dtype;
    return DType::unknown;
}

} // namespace core
