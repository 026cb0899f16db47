// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/dtype.h"

#include <array>
#include <cmath>

namespace core {
namespace {

struct Row
{
    std::string_view name;
    std::string_view shortName;
    std::size_t size;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"unknown", "?", 0},
    {"bool", "b8", 1},
    {"uint8", "u8", 1},
    {"int8", "i8", 1},
    {"uint16", "u16", 2},
    {"int16", "i16", 2},
    {"uint32", "u32", 4},
    {"int32", "i32", 4},
    {"uint64", "u64", 8},
    {"int64", "i64", 8},
    {"float8_e4m3fn", "f8e4m3fn", 1},
    {"float8_e5m2", "f8e5m2", 1},
    {"float8_e4m3fnuz", "f8e4m3fnuz", 1},
    {"float8_e5m2fnuz", "f8e5m2fnuz", 1},
    {"float8_e8m0fnu", "f8e8m0fnu", 1},
    {"float16", "f16", 2},
    {"bfloat16", "bf16", 2},
    {"float32", "f32", 4},
    {"float64", "f64", 8},
    {"complex32", "c32", 4},
    {"complex64", "c64", 8},
    {"complex128", "c128", 16},
    {"qint8", "qi8", 1},
    {"quint8", "qu8", 1},
    {"qint32", "qi32", 4},
}};

struct Alias
{
    std::string_view name;
    DType dtype;
};

constexpr Alias kAliases[] = {
    {"half", DType::float16},    {"float", DType::float32},    {"double", DType::float64},
    {"short", DType::int16},     {"int", DType::int32},        {"long", DType::int64},
    {"byte", DType::uint8},      {"char", DType::int8},        {"boolean", DType::boolean},
    {"chalf", DType::complex32}, {"cfloat", DType::complex64}, {"cdouble", DType::complex128},
    {"bf", DType::bfloat16},     {"fp16", DType::float16},     {"fp32", DType::float32},
    {"fp64", DType::float64},    {"b1", DType::boolean},
};

const Row &row(DType dtype)
{
    const auto index = static_cast<std::size_t>(dtype);
    return kRows[index < kRows.size() ? index : 0];
}

} // namespace

std::string_view dtypeName(DType dtype)
{
    return row(dtype).name;
}

std::string_view dtypeShortName(DType dtype)
{
    return row(dtype).shortName;
}

std::optional<DType> dtypeFromName(std::string_view name)
{
    if (name.substr(0, 6) == "torch.")
        name.remove_prefix(6);
    for (std::size_t i = 1; i < kRows.size(); ++i)
        if (name == kRows[i].name || name == kRows[i].shortName)
            return static_cast<DType>(i);
    for (const Alias &alias : kAliases)
        if (name == alias.name)
            return alias.dtype;
    return std::nullopt;
}

std::size_t itemSize(DType dtype)
{
    return row(dtype).size;
}

bool isFloating(DType dtype)
{
    return dtype >= DType::float8_e4m3fn && dtype <= DType::float64;
}

bool isComplex(DType dtype)
{
    return dtype >= DType::complex32 && dtype <= DType::complex128;
}

bool isIntegral(DType dtype)
{
    return dtype >= DType::uint8 && dtype <= DType::int64;
}

bool isQuantized(DType dtype)
{
    return dtype >= DType::qint8;
}

FloatLimits floatLimits(DType dtype)
{
    switch (dtype) {
    case DType::float8_e4m3fn:
        return {448.0, std::ldexp(1.0, -6), std::ldexp(1.0, -3)};
    case DType::float8_e5m2:
        return {57344.0, std::ldexp(1.0, -14), std::ldexp(1.0, -2)};
    case DType::float8_e4m3fnuz:
        return {240.0, std::ldexp(1.0, -7), std::ldexp(1.0, -3)};
    case DType::float8_e5m2fnuz:
        return {57344.0, std::ldexp(1.0, -15), std::ldexp(1.0, -2)};
    case DType::float8_e8m0fnu:
        return {std::ldexp(1.0, 127), std::ldexp(1.0, -127), 1.0};
    case DType::float16:
    case DType::complex32:
        return {65504.0, std::ldexp(1.0, -14), std::ldexp(1.0, -10)};
    case DType::bfloat16:
        return {std::ldexp(255.0 / 128.0, 127), std::ldexp(1.0, -126), std::ldexp(1.0, -7)};
    case DType::float32:
    case DType::complex64:
        return {std::ldexp(2.0 - std::ldexp(1.0, -23), 127), std::ldexp(1.0, -126), std::ldexp(1.0, -23)};
    case DType::float64:
    case DType::complex128:
        return {std::ldexp(2.0 - std::ldexp(1.0, -52), 1023), std::ldexp(1.0, -1022), std::ldexp(1.0, -52)};
    default:
        return {};
    }
}

} // namespace core
