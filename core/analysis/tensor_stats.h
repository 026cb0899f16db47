// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/trace/tensor_stats.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace core {

// Statistics of values that arrive in pieces, in order or from several threads: each piece goes through one
// fused pass, pieces and whole accumulators merge. One accumulator belongs to one thread at a time.
class StatsAccumulator
{
public:
    explicit StatsAccumulator(DType dtype) : m_dtype(dtype) {}

    // COUNT elements from DATA (contiguous, host byte order); they are elements FIRST, FIRST + 1, ... of the
    // tensor.
    void add(const void *data, std::size_t count, std::uint64_t first);
    // OTHER covers elements that this one does not; order does not matter.
    void merge(const StatsAccumulator &other);

    TensorStats result() const;

private:
    DType m_dtype;
    TensorStats m_counts; // counts and first indices; the rest is filled by result()
    double m_min = 0.0;
    double m_max = 0.0;
    double m_absMin = 0.0;
    std::uint64_t m_finite = 0;
    double m_mean = 0.0;
    double m_squares = 0.0; // sum of squared differences from the mean
};

// Statistics of COUNT contiguous elements. Under 0.3 us for ten. A dtype that is unknown gives only
// `elements`.
TensorStats computeStats(DType dtype, const void *data, std::size_t count);
// The same by up to THREADS threads, for tensors of many megabytes.
TensorStats computeStats(DType dtype, const void *data, std::size_t count, unsigned threads);

// The largest absolute value of a floating type (of real and imaginary parts), infinity when an element is
// NaN or infinite; 0 of no elements and of other types. Bound by memory.
double largestMagnitude(DType dtype, const void *data, std::size_t count);
// True when no element is NaN or infinite; true for integers.
bool allFinite(DType dtype, const void *data, std::size_t count);

} // namespace core
