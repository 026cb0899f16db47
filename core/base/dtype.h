// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace core {

// Element types, by PyTorch's names. unknown: the file names one that this version does not know.
enum class DType : std::uint8_t {
    unknown,
    boolean,
    uint8,
    int8,
    uint16,
    int16,
    uint32,
    int32,
    uint64,
    int64,
    float8_e4m3fn,
    float8_e5m2,
    float8_e4m3fnuz,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    bfloat16,
    float32,
    float64,
    complex32,
    complex64,
    complex128,
    qint8,
    quint8,
    qint32,
};
inline constexpr int kDTypeCount = static_cast<int>(DType::qint32) + 1;

std::string_view dtypeName(DType dtype);      // "float32"; "bool" for boolean
std::string_view dtypeShortName(DType dtype); // "f32", "bf16", "i64", "b8"
// Takes "float32", "torch.float32", "f32", "half", "long" and the other aliases of PyTorch.
std::optional<DType> dtypeFromName(std::string_view name);

std::size_t itemSize(DType dtype); // bytes an element; 0 for unknown
bool isFloating(DType dtype);      // real floating point, float8 kinds included
bool isComplex(DType dtype);
bool isIntegral(DType dtype); // integers without boolean and quantized
bool isQuantized(DType dtype);
// Floating or complex: the types that can hold NaN or Inf. (float8_e4m3fn has NaN and no Inf, e8m0fnu NaN
// only.)
inline bool canBeNonFinite(DType dtype)
{
    return isFloating(dtype) || isComplex(dtype);
}

// Limits of a floating type (of its parts for a complex one); all 0 for other types. SMALLEST NORMAL is
// torch.finfo.tiny.
struct FloatLimits
{
    double max = 0.0;
    double smallestNormal = 0.0;
    double epsilon = 0.0;
};
FloatLimits floatLimits(DType dtype);

} // namespace core
