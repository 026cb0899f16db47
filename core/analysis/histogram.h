// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/trace/tensor_stats.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace core {

enum class HistogramScale {
    linear,       // equal steps of the value
    log2Magnitude // equal steps of log2|x|; zeros have no bin and are counted apart
};

// Counts of the finite values over equal bins between low and high; everything that has no place on such an
// axis is counted apart. Bin i covers [edge(i), edge(i + 1)), the last one includes high.
struct Histogram
{
    HistogramScale scale = HistogramScale::linear;
    double low = 0.0; // a value, or log2 of a magnitude
    double high = 0.0;
    std::vector<std::uint64_t> counts;
    std::uint64_t nan = 0;
    std::uint64_t posInf = 0;
    std::uint64_t negInf = 0;
    std::uint64_t zero = 0;    // also inside counts on the linear scale
    std::uint64_t outside = 0; // finite, but beyond low and high (values that changed since the statistics)

    double edge(std::size_t bin) const
    {
        return counts.empty()
                   ? low
                   : low + (high - low) * static_cast<double>(bin) / static_cast<double>(counts.size());
    }
};

// Fills a histogram from values that arrive in pieces. The range comes from the statistics of the same
// values: one pass for those, one for this. Parts of complex values count one by one. One thread at a time.
class HistogramAccumulator
{
public:
    // BINS at least 1. Without a finite value all counts stay 0; on the log scale the range is widened to
    // whole powers of two.
    HistogramAccumulator(HistogramScale scale, const TensorStats &stats, std::size_t bins);

    void add(DType dtype, const void *data, std::size_t count);
    const Histogram &result() const { return m_histogram; }

private:
    void addValue(double value);

    Histogram m_histogram;
    double m_binsPerUnit = 0.0;
};

} // namespace core
