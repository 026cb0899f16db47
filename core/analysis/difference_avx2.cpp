// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/difference_avx2.h"

#include <array>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)

#include <immintrin.h>

namespace core {
namespace {

bool isApart(const std::byte *bytesA, const std::byte *bytesB, double relative, double absolute)
{
    std::array<float, 8> a;
    std::array<float, 8> b;
    std::memcpy(a.data(), bytesA, sizeof a);
    std::memcpy(b.data(), bytesB, sizeof b);
    for (std::size_t k = 0; k < a.size(); ++k) {
        const float delta = std::fabs(a[k] - b[k]);
        const double limit = absolute + relative * std::fabs(static_cast<double>(b[k]));
        const bool close = std::isfinite(delta) && static_cast<double>(delta) <= limit;
        if (!close && a[k] != b[k])
            return true;
    }
    return false;
}

} // namespace

__attribute__((target("avx2"))) FloatDifference floatDifferenceAvx2(const std::byte *a, const std::byte *b,
                                                                    std::size_t count, double relative,
                                                                    double absolute)
{
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    const __m256 infinity = _mm256_set1_ps(HUGE_VALF);
    const __m256d rel = _mm256_set1_pd(relative);
    const __m256d abs = _mm256_set1_pd(absolute);
    __m256 largest = _mm256_setzero_ps();
    __m256 unordered = _mm256_setzero_ps();
    __m256d sumLow = _mm256_setzero_pd();
    __m256d sumHigh = _mm256_setzero_pd();
    FloatDifference out;
    for (std::size_t i = 0; i < count; i += 8) {
        const __m256 left = _mm256_loadu_ps(reinterpret_cast<const float *>(a + i * sizeof(float)));
        const __m256 right = _mm256_loadu_ps(reinterpret_cast<const float *>(b + i * sizeof(float)));
        const __m256 delta = _mm256_and_ps(magnitude, _mm256_sub_ps(left, right));
        const __m256 size = _mm256_and_ps(magnitude, right);
        // The second operand comes through when the first is NaN.
        largest = _mm256_max_ps(delta, largest);
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(delta, delta, _CMP_UNORD_Q));
        const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(delta));
        const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(delta, 1));
        sumLow = _mm256_add_pd(sumLow, low);
        sumHigh = _mm256_add_pd(sumHigh, high);
        if (out.apart)
            continue;
        const __m256d limitLow =
            _mm256_add_pd(abs, _mm256_mul_pd(rel, _mm256_cvtps_pd(_mm256_castps256_ps128(size))));
        const __m256d limitHigh =
            _mm256_add_pd(abs, _mm256_mul_pd(rel, _mm256_cvtps_pd(_mm256_extractf128_ps(size, 1))));
        const int beyond = _mm256_movemask_pd(_mm256_cmp_pd(low, limitLow, _CMP_NLE_UQ)) |
                           _mm256_movemask_pd(_mm256_cmp_pd(high, limitHigh, _CMP_NLE_UQ)) |
                           _mm256_movemask_ps(_mm256_cmp_ps(delta, infinity, _CMP_NLT_UQ));
        if (beyond != 0)
            out.apart = isApart(a + i * sizeof(float), b + i * sizeof(float), relative, absolute);
    }
    alignas(32) float most[8];
    alignas(32) double sums[4];
    _mm256_store_ps(most, largest);
    _mm256_store_pd(sums, _mm256_add_pd(sumLow, sumHigh));
    for (const float value : most)
        out.largest = value > out.largest ? value : out.largest;
    out.sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    out.notANumber = _mm256_movemask_ps(unordered) != 0;
    return out;
}

} // namespace core

#else

namespace core {

// Never called: stats_kernels::avx2Usable() is false here.
FloatDifference floatDifferenceAvx2(const std::byte *, const std::byte *, std::size_t, double, double)
{
    return {};
}

} // namespace core

#endif
