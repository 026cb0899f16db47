// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tensor_stats.h"

#include "core/analysis/stats_partial.h"
#include "core/base/element_codec.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

namespace core {
namespace {

// Below this a vector kernel's set-up and reduction cost more than they save.
constexpr std::size_t kVectorFrom = 64;

StatsPartial scan(DType dtype, const std::byte *data, std::size_t count)
{
    if (count >= kVectorFrom && stats_kernels::hasAvx2Kernel(dtype) && stats_kernels::avx2Usable())
        return stats_kernels::scanAvx2(dtype, data, count);
    return stats_kernels::scanScalar(dtype, data, count);
}

void takeFirst(std::int64_t &first, std::int64_t candidate)
{
    if (candidate >= 0 && (first < 0 || candidate < first))
        first = candidate;
}

} // namespace

void StatsAccumulator::add(const void *data, std::size_t count, std::uint64_t first)
{
    if (m_dtype == DType::unknown)
        return;
    const std::uint64_t parts = isComplex(m_dtype) ? 2 : 1;
    const StatsPartial partial = scan(partDType(m_dtype), static_cast<const std::byte *>(data),
                                      static_cast<std::size_t>(count * parts));
    const auto absolute = [&](std::int64_t index) {
        return index < 0 ? -1 : static_cast<std::int64_t>(first + static_cast<std::uint64_t>(index) / parts);
    };
    StatsAccumulator piece(m_dtype);
    piece.m_counts.elements = partial.elements;
    piece.m_counts.nan = partial.nan;
    piece.m_counts.posInf = partial.posInf;
    piece.m_counts.negInf = partial.negInf;
    piece.m_counts.zero = partial.zero;
    piece.m_counts.subnormal = partial.subnormal;
    piece.m_counts.firstNan = absolute(partial.firstNan);
    piece.m_counts.firstPosInf = absolute(partial.firstPosInf);
    piece.m_counts.firstNegInf = absolute(partial.firstNegInf);
    piece.m_min = partial.min;
    piece.m_max = partial.max;
    piece.m_absMin = partial.absMin;
    piece.m_finite = partial.elements - piece.m_counts.nonFinite();
    if (piece.m_finite > 0) {
        const double n = static_cast<double>(piece.m_finite);
        piece.m_mean = partial.shift + partial.sum / n;
        piece.m_squares = std::max(0.0, partial.sumOfSquares - partial.sum * partial.sum / n);
    }
    merge(piece);
}

void StatsAccumulator::merge(const StatsAccumulator &other)
{
    m_counts.elements += other.m_counts.elements;
    m_counts.nan += other.m_counts.nan;
    m_counts.posInf += other.m_counts.posInf;
    m_counts.negInf += other.m_counts.negInf;
    m_counts.zero += other.m_counts.zero;
    m_counts.subnormal += other.m_counts.subnormal;
    takeFirst(m_counts.firstNan, other.m_counts.firstNan);
    takeFirst(m_counts.firstPosInf, other.m_counts.firstPosInf);
    takeFirst(m_counts.firstNegInf, other.m_counts.firstNegInf);
    if (other.m_finite == 0)
        return;
    if (m_finite == 0) {
        m_min = other.m_min;
        m_max = other.m_max;
        m_absMin = other.m_absMin;
        m_finite = other.m_finite;
        m_mean = other.m_mean;
        m_squares = other.m_squares;
        return;
    }
    const double mine = static_cast<double>(m_finite);
    const double theirs = static_cast<double>(other.m_finite);
    const double difference = other.m_mean - m_mean;
    m_mean += difference * (theirs / (mine + theirs));
    m_squares += other.m_squares + difference * difference * (mine * theirs / (mine + theirs));
    m_finite += other.m_finite;
    m_min = std::min(m_min, other.m_min);
    m_max = std::max(m_max, other.m_max);
    m_absMin = std::min(m_absMin, other.m_absMin);
}

TensorStats StatsAccumulator::result() const
{
    TensorStats stats = m_counts;
    if (m_finite == 0)
        return stats;
    stats.min = m_min;
    stats.max = m_max;
    stats.absMax = std::max(std::fabs(m_min), std::fabs(m_max));
    stats.absMin = std::isfinite(m_absMin) ? m_absMin : 0.0;
    stats.mean = m_mean;
    stats.std = std::sqrt(m_squares / static_cast<double>(m_finite));
    return stats;
}

TensorStats computeStats(DType dtype, const void *data, std::size_t count)
{
    StatsAccumulator accumulator(dtype);
    accumulator.add(data, count, 0);
    return accumulator.result();
}

TensorStats computeStats(DType dtype, const void *data, std::size_t count, unsigned threads)
{
    constexpr std::size_t kWorthAThread = std::size_t(1) << 20;
    const std::size_t workers = std::min<std::size_t>(threads, count / kWorthAThread);
    if (workers < 2)
        return computeStats(dtype, data, count);
    const std::size_t share = (count + workers - 1) / workers;
    std::vector<StatsAccumulator> parts(workers, StatsAccumulator(dtype));
    const auto run = [&](std::size_t worker) {
        const std::size_t first = worker * share;
        const std::size_t last = std::min(count, first + share);
        parts[worker].add(static_cast<const std::byte *>(data) + first * itemSize(dtype), last - first,
                          first);
    };
    {
        std::vector<std::jthread> pool;
        for (std::size_t worker = 1; worker < workers; ++worker)
            pool.emplace_back(run, worker);
        run(0);
    }
    for (std::size_t worker = 1; worker < workers; ++worker)
        parts[0].merge(parts[worker]);
    return parts[0].result();
}

double largestMagnitude(DType dtype, const void *data, std::size_t count)
{
    if (!canBeNonFinite(dtype))
        return 0.0;
    const DType part = partDType(dtype);
    const std::size_t parts = isComplex(dtype) ? 2 * count : count;
    const auto *bytes = static_cast<const std::byte *>(data);
    if (parts >= kVectorFrom && stats_kernels::hasAvx2Kernel(part) && stats_kernels::avx2Usable())
        return stats_kernels::largestMagnitudeAvx2(part, bytes, parts);
    return stats_kernels::largestMagnitudeScalar(part, bytes, parts);
}

bool allFinite(DType dtype, const void *data, std::size_t count)
{
    return std::isfinite(largestMagnitude(dtype, data, count));
}

} // namespace core
