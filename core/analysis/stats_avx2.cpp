// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/stats_partial.h"
#include "core/base/element_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define OPSCOPE_HAS_AVX2 1
#define OPSCOPE_AVX2 __attribute__((target("avx2,fma,f16c")))
#define OPSCOPE_AVX2_INLINE __attribute__((target("avx2,fma,f16c"), always_inline)) inline
#endif

namespace core::stats_kernels {

#ifdef OPSCOPE_HAS_AVX2

namespace {

// Elements a block: small enough to stay in the first cache level for the second look at a block with NaN or
// Inf.
constexpr std::size_t kBlock = 2048;
constexpr std::uint32_t kInfinityBits = 0x7f800000U;

// Loads give eight values widened to float; `one` the same for a single element.
struct LoadFloat32
{
    using Word = float;
    static constexpr DType kDType = DType::float32;
    OPSCOPE_AVX2_INLINE static __m256 load(const Word *data) { return _mm256_loadu_ps(data); }
    static float one(Word word) { return word; }
};

struct LoadBFloat16
{
    using Word = std::uint16_t;
    static constexpr DType kDType = DType::bfloat16;
    OPSCOPE_AVX2_INLINE static __m256 load(const Word *data)
    {
        const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16));
    }
    static float one(Word word) { return bfloat16ToFloat(word); }
};

struct LoadFloat16
{
    using Word = std::uint16_t;
    static constexpr DType kDType = DType::float16;
    OPSCOPE_AVX2_INLINE static __m256 load(const Word *data)
    {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(data)));
    }
    static float one(Word word) { return halfToFloat(word); }
};

// Running results in registers. Counters are 32-bit lanes: enough for 2^34 elements.
struct Lanes
{
    __m256 low, high;
    __m256i smallest; // magnitude bits minus one as unsigned: zero wraps to the largest value
    __m256i zeros, subnormals, nans, posInfs, negInfs;
    __m256d sum0, sum1, square0, square1;
};

OPSCOPE_AVX2_INLINE Lanes emptyLanes()
{
    const __m256i none = _mm256_setzero_si256();
    const __m256d nothing = _mm256_setzero_pd();
    return {_mm256_set1_ps(INFINITY),
            _mm256_set1_ps(-INFINITY),
            _mm256_set1_epi32(-1),
            none,
            none,
            none,
            none,
            none,
            nothing,
            nothing,
            nothing,
            nothing};
}

OPSCOPE_AVX2_INLINE __m256i magnitudeBits(__m256 value)
{
    return _mm256_and_si256(_mm256_castps_si256(value), _mm256_set1_epi32(0x7fffffff));
}

template <class L>
OPSCOPE_AVX2_INLINE __m256i smallestNormalBits()
{
    const auto normal = static_cast<float>(floatLimits(L::kDType).smallestNormal);
    return _mm256_set1_epi32(static_cast<int>(std::bit_cast<std::uint32_t>(normal)));
}

OPSCOPE_AVX2_INLINE void addMoments(Lanes &lanes, __m256d lower, __m256d upper)
{
    lanes.sum0 = _mm256_add_pd(lanes.sum0, lower);
    lanes.sum1 = _mm256_add_pd(lanes.sum1, upper);
    lanes.square0 = _mm256_fmadd_pd(lower, lower, lanes.square0);
    lanes.square1 = _mm256_fmadd_pd(upper, upper, lanes.square1);
}

// Zeros and subnormal values of a block, looked for only where the light pass saw one of them: most blocks
// have none.
template <class L>
OPSCOPE_AVX2_INLINE void addSmallValues(const typename L::Word *data, std::size_t count, Lanes &lanes)
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i normal = smallestNormalBits<L>();
    __m256i zeros = lanes.zeros;
    __m256i subnormals = lanes.subnormals;
    __m256i smallest = lanes.smallest;
    for (std::size_t i = 0; i < count; i += 8) {
        const __m256i bits = magnitudeBits(L::load(data + i));
        smallest = _mm256_min_epu32(smallest, _mm256_sub_epi32(bits, one));
        zeros = _mm256_sub_epi32(zeros, _mm256_cmpeq_epi32(bits, none));
        subnormals = _mm256_sub_epi32(subnormals, _mm256_cmpgt_epi32(normal, bits));
    }
    lanes.zeros = zeros;
    lanes.subnormals = subnormals;
    lanes.smallest = smallest;
}

OPSCOPE_AVX2_INLINE bool anyAbove(__m256i a, __m256i b)
{
    const __m256i above = _mm256_cmpgt_epi32(a, b);
    return _mm256_testz_si256(above, above) == 0;
}

// The light pass, right when every value of the block is finite. False, with LANES as they were, when one is
// not.
template <class L>
OPSCOPE_AVX2_INLINE bool addFiniteBlock(const typename L::Word *data, std::size_t count, float shift,
                                        Lanes &lanes)
{
    const __m256d shifts = _mm256_set1_pd(static_cast<double>(shift));
    Lanes now = lanes;
    __m256i largest = _mm256_setzero_si256();
    __m256i smallest = _mm256_set1_epi32(0x7fffffff);
    for (std::size_t i = 0; i < count; i += 8) {
        const __m256 value = L::load(data + i);
        const __m256i bits = magnitudeBits(value);
        largest = _mm256_max_epi32(largest, bits);
        smallest = _mm256_min_epi32(smallest, bits);
        now.low = _mm256_min_ps(value, now.low);
        now.high = _mm256_max_ps(value, now.high);
        addMoments(now, _mm256_sub_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(value)), shifts),
                   _mm256_sub_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(value, 1)), shifts));
    }
    if (anyAbove(largest, _mm256_set1_epi32(static_cast<int>(kInfinityBits - 1))))
        return false;
    if (anyAbove(smallestNormalBits<L>(), smallest))
        addSmallValues<L>(data, count, now);
    else
        now.smallest = _mm256_min_epu32(now.smallest, _mm256_sub_epi32(smallest, _mm256_set1_epi32(1)));
    lanes = now;
    return true;
}

// The full pass: values that are not finite are counted and kept out of everything else.
template <class L>
OPSCOPE_AVX2_INLINE void addMixedBlock(const typename L::Word *data, std::size_t count, float shift,
                                       Lanes &lanes)
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i infinite = _mm256_set1_epi32(static_cast<int>(kInfinityBits));
    const __m256i normal = smallestNormalBits<L>();
    const __m256 shifts = _mm256_set1_ps(shift);
    const __m256d wideShifts = _mm256_set1_pd(static_cast<double>(shift));
    for (std::size_t i = 0; i < count; i += 8) {
        const __m256 value = L::load(data + i);
        const __m256i bits = magnitudeBits(value);
        const __m256i isInf = _mm256_cmpeq_epi32(bits, infinite);
        const __m256i negative = _mm256_srai_epi32(_mm256_castps_si256(value), 31);
        lanes.nans = _mm256_sub_epi32(lanes.nans, _mm256_cmpgt_epi32(bits, infinite));
        lanes.negInfs = _mm256_sub_epi32(lanes.negInfs, _mm256_and_si256(isInf, negative));
        lanes.posInfs = _mm256_sub_epi32(lanes.posInfs, _mm256_andnot_si256(negative, isInf));
        const __m256 finite = _mm256_castsi256_ps(_mm256_cmpgt_epi32(infinite, bits));
        const __m256i orHuge = _mm256_or_si256(_mm256_sub_epi32(bits, one),
                                               _mm256_cmpgt_epi32(bits, _mm256_sub_epi32(infinite, one)));
        lanes.smallest = _mm256_min_epu32(lanes.smallest, orHuge);
        lanes.zeros = _mm256_sub_epi32(lanes.zeros, _mm256_cmpeq_epi32(bits, none));
        lanes.subnormals = _mm256_sub_epi32(lanes.subnormals, _mm256_cmpgt_epi32(normal, bits));
        lanes.low = _mm256_min_ps(_mm256_blendv_ps(lanes.low, value, finite), lanes.low);
        lanes.high = _mm256_max_ps(_mm256_blendv_ps(lanes.high, value, finite), lanes.high);
        // A value kept out counts as the shift itself: a difference of exactly zero.
        const __m256 kept = _mm256_blendv_ps(shifts, value, finite);
        addMoments(lanes, _mm256_sub_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(kept)), wideShifts),
                   _mm256_sub_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(kept, 1)), wideShifts));
    }
}

OPSCOPE_AVX2_INLINE std::uint64_t total(__m256i counters)
{
    alignas(32) std::array<std::uint32_t, 8> lane;
    _mm256_store_si256(reinterpret_cast<__m256i *>(lane.data()), counters);
    std::uint64_t sum = 0;
    for (const std::uint32_t value : lane)
        sum += value;
    return sum;
}

OPSCOPE_AVX2_INLINE double total(__m256d sums)
{
    alignas(32) std::array<double, 4> lane;
    _mm256_store_pd(lane.data(), sums);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

OPSCOPE_AVX2_INLINE void reduce(const Lanes &lanes, StatsPartial &partial)
{
    partial.nan = total(lanes.nans);
    partial.posInf = total(lanes.posInfs);
    partial.negInf = total(lanes.negInfs);
    partial.zero = total(lanes.zeros);
    partial.subnormal = total(lanes.subnormals) - partial.zero;
    partial.sum = total(_mm256_add_pd(lanes.sum0, lanes.sum1));
    partial.sumOfSquares = total(_mm256_add_pd(lanes.square0, lanes.square1));
    alignas(32) std::array<float, 8> low;
    alignas(32) std::array<float, 8> high;
    alignas(32) std::array<std::uint32_t, 8> smallest;
    _mm256_store_ps(low.data(), lanes.low);
    _mm256_store_ps(high.data(), lanes.high);
    _mm256_store_si256(reinterpret_cast<__m256i *>(smallest.data()), lanes.smallest);
    for (std::size_t i = 0; i < 8; ++i) {
        partial.min = std::min(partial.min, static_cast<double>(low[i]));
        partial.max = std::max(partial.max, static_cast<double>(high[i]));
        if (smallest[i] != 0xffffffffU)
            partial.absMin =
                std::min(partial.absMin, static_cast<double>(std::bit_cast<float>(smallest[i] + 1)));
    }
}

// The first NaN, +Inf, -Inf of a block that has some, unless an earlier block had them.
template <class L>
void locate(const typename L::Word *data, std::size_t begin, std::size_t end, StatsPartial &partial)
{
    for (std::size_t i = begin; i < end; ++i) {
        const float value = L::one(data[i]);
        if (std::isfinite(value))
            continue;
        std::int64_t &first =
            std::isnan(value) ? partial.firstNan : (value > 0 ? partial.firstPosInf : partial.firstNegInf);
        if (first < 0)
            first = static_cast<std::int64_t>(i);
        if (partial.firstNan >= 0 && partial.firstPosInf >= 0 && partial.firstNegInf >= 0)
            return;
    }
}

template <class L>
float firstFinite(const typename L::Word *data, std::size_t count)
{
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 64); ++i)
        if (const float value = L::one(data[i]); std::isfinite(value))
            return value;
    return 0.0F;
}

template <class L>
OPSCOPE_AVX2 StatsPartial scanFloats(const std::byte *bytes, std::size_t count)
{
    const auto *data = reinterpret_cast<const typename L::Word *>(bytes);
    StatsPartial partial;
    partial.elements = count;
    const float shift = firstFinite<L>(data, count);
    partial.shift = static_cast<double>(shift);
    const std::size_t whole = count & ~std::size_t(7);
    Lanes lanes = emptyLanes();
    for (std::size_t begin = 0; begin < whole; begin += kBlock) {
        const std::size_t length = std::min(kBlock, whole - begin);
        if (addFiniteBlock<L>(data + begin, length, shift, lanes))
            continue;
        addMixedBlock<L>(data + begin, length, shift, lanes);
        if (partial.firstNan < 0 || partial.firstPosInf < 0 || partial.firstNegInf < 0)
            locate<L>(data, begin, begin + length, partial);
    }
    reduce(lanes, partial);
    const double normal = floatLimits(L::kDType).smallestNormal;
    for (std::size_t i = whole; i < count; ++i)
        addValue(partial, L::one(data[i]), normal, static_cast<std::int64_t>(i));
    return partial;
}

// By the bits of the absolute value, which grow with it and are largest for infinity and NaN.
template <class L>
OPSCOPE_AVX2 double largestFloat(const std::byte *bytes, std::size_t count)
{
    const auto *data = reinterpret_cast<const typename L::Word *>(bytes);
    __m256i largest0 = _mm256_setzero_si256();
    __m256i largest1 = largest0;
    __m256i largest2 = largest0;
    __m256i largest3 = largest0;
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        largest0 = _mm256_max_epu32(largest0, magnitudeBits(L::load(data + i)));
        largest1 = _mm256_max_epu32(largest1, magnitudeBits(L::load(data + i + 8)));
        largest2 = _mm256_max_epu32(largest2, magnitudeBits(L::load(data + i + 16)));
        largest3 = _mm256_max_epu32(largest3, magnitudeBits(L::load(data + i + 24)));
    }
    std::array<std::uint32_t, 8> lanes{};
    _mm256_storeu_si256(
        reinterpret_cast<__m256i *>(lanes.data()),
        _mm256_max_epu32(_mm256_max_epu32(largest0, largest1), _mm256_max_epu32(largest2, largest3)));
    std::uint32_t largest = *std::max_element(lanes.begin(), lanes.end());
    for (; i < count; ++i)
        largest = std::max(largest, std::bit_cast<std::uint32_t>(std::fabs(L::one(data[i]))));
    return static_cast<double>(std::bit_cast<float>(std::min(largest, kInfinityBits)));
}

OPSCOPE_AVX2_INLINE __m256d magnitudeOf(__m256d value)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), value);
}

// Doubles: one pass for all, with comparisons that leave NaN and Inf out.
OPSCOPE_AVX2 StatsPartial scanDoubles(const std::byte *bytes, std::size_t count)
{
    const auto *data = reinterpret_cast<const double *>(bytes);
    StatsPartial partial;
    const double normal = floatLimits(DType::float64).smallestNormal;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 64); ++i)
        if (std::isfinite(data[i])) {
            partial.shift = data[i];
            break;
        }
    const __m256d shifts = _mm256_set1_pd(partial.shift);
    const __m256d infinity = _mm256_set1_pd(INFINITY);
    const __m256d zero = _mm256_setzero_pd();
    __m256d low = infinity, high = _mm256_set1_pd(-INFINITY), smallest = infinity;
    __m256d sum = zero, squares = zero;
    __m256i zeros = _mm256_setzero_si256(), subnormals = zeros, bad = zeros;
    const std::size_t whole = count & ~std::size_t(3);
    for (std::size_t i = 0; i < whole; i += 4) {
        const __m256d value = _mm256_loadu_pd(data + i);
        const __m256d magnitude = magnitudeOf(value);
        const __m256d finite = _mm256_cmp_pd(magnitude, infinity, _CMP_LT_OQ);
        const __m256d isZero = _mm256_cmp_pd(value, zero, _CMP_EQ_OQ);
        bad = _mm256_sub_epi64(bad, _mm256_castpd_si256(_mm256_cmp_pd(magnitude, infinity, _CMP_NLT_UQ)));
        zeros = _mm256_sub_epi64(zeros, _mm256_castpd_si256(isZero));
        subnormals = _mm256_sub_epi64(
            subnormals, _mm256_castpd_si256(_mm256_cmp_pd(magnitude, _mm256_set1_pd(normal), _CMP_LT_OQ)));
        low = _mm256_min_pd(_mm256_blendv_pd(low, value, finite), low);
        high = _mm256_max_pd(_mm256_blendv_pd(high, value, finite), high);
        smallest = _mm256_min_pd(_mm256_blendv_pd(magnitude, infinity, isZero), smallest);
        const __m256d difference = _mm256_and_pd(_mm256_sub_pd(value, shifts), finite);
        sum = _mm256_add_pd(sum, difference);
        squares = _mm256_fmadd_pd(difference, difference, squares);
    }
    alignas(32) std::array<std::array<double, 4>, 3> lane;
    _mm256_store_pd(lane[0].data(), low);
    _mm256_store_pd(lane[1].data(), high);
    _mm256_store_pd(lane[2].data(), smallest);
    for (std::size_t i = 0; i < 4; ++i) {
        partial.min = std::min(partial.min, lane[0][i]);
        partial.max = std::max(partial.max, lane[1][i]);
        partial.absMin = std::min(partial.absMin, lane[2][i]);
    }
    alignas(32) std::array<std::array<std::uint64_t, 4>, 3> counter;
    _mm256_store_si256(reinterpret_cast<__m256i *>(counter[0].data()), zeros);
    _mm256_store_si256(reinterpret_cast<__m256i *>(counter[1].data()), subnormals);
    _mm256_store_si256(reinterpret_cast<__m256i *>(counter[2].data()), bad);
    const auto add = [](const std::array<std::uint64_t, 4> &c) { return c[0] + c[1] + c[2] + c[3]; };
    partial.zero = add(counter[0]);
    partial.subnormal = add(counter[1]) - partial.zero;
    partial.sum = total(sum);
    partial.sumOfSquares = total(squares);
    if (add(counter[2]) > 0)
        for (std::size_t i = 0; i < whole; ++i)
            if (!std::isfinite(data[i]))
                addValue(partial, data[i], normal, static_cast<std::int64_t>(i));
    for (std::size_t i = whole; i < count; ++i)
        addValue(partial, data[i], normal, static_cast<std::int64_t>(i));
    partial.elements = count;
    return partial;
}

OPSCOPE_AVX2 double largestDouble(const std::byte *bytes, std::size_t count)
{
    const auto *data = reinterpret_cast<const double *>(bytes);
    const __m256d infinity = _mm256_set1_pd(INFINITY);
    __m256d largest = _mm256_setzero_pd();
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const __m256d magnitude = magnitudeOf(_mm256_loadu_pd(data + i));
        // NaN counts as infinity.
        const __m256d bad = _mm256_cmp_pd(magnitude, infinity, _CMP_NLT_UQ);
        largest = _mm256_max_pd(largest, _mm256_blendv_pd(magnitude, infinity, bad));
    }
    std::array<double, 4> lanes{};
    _mm256_storeu_pd(lanes.data(), largest);
    double most = *std::max_element(lanes.begin(), lanes.end());
    for (; i < count; ++i)
        most = std::isfinite(data[i]) ? std::max(most, std::fabs(data[i])) : INFINITY;
    return most;
}

} // namespace

bool avx2Usable()
{
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("f16c") != 0;
}

bool hasAvx2Kernel(DType dtype)
{
    return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
           dtype == DType::float64;
}

StatsPartial scanAvx2(DType dtype, const std::byte *data, std::size_t count)
{
    switch (dtype) {
    case DType::float16:
        return scanFloats<LoadFloat16>(data, count);
    case DType::bfloat16:
        return scanFloats<LoadBFloat16>(data, count);
    case DType::float32:
        return scanFloats<LoadFloat32>(data, count);
    default:
        return scanDoubles(data, count);
    }
}

double largestMagnitudeAvx2(DType dtype, const std::byte *data, std::size_t count)
{
    switch (dtype) {
    case DType::float16:
        return largestFloat<LoadFloat16>(data, count);
    case DType::bfloat16:
        return largestFloat<LoadBFloat16>(data, count);
    case DType::float32:
        return largestFloat<LoadFloat32>(data, count);
    default:
        return largestDouble(data, count);
    }
}

#else

bool avx2Usable()
{
    return false;
}

bool hasAvx2Kernel(DType)
{
    return false;
}

StatsPartial scanAvx2(DType dtype, const std::byte *data, std::size_t count)
{
    return scanScalar(dtype, data, count);
}

double largestMagnitudeAvx2(DType dtype, const std::byte *data, std::size_t count)
{
    return largestMagnitudeScalar(dtype, data, count);
}

#endif

} // namespace core::stats_kernels
