// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/histogram.h"

#include "core/base/element_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace core {

HistogramAccumulator::HistogramAccumulator(HistogramScale scale, const TensorStats &stats, std::size_t bins)
{
    m_histogram.scale = scale;
    m_histogram.counts.assign(std::max<std::size_t>(1, bins), 0);
    if (scale == HistogramScale::linear && stats.hasFinite()) {
        m_histogram.low = stats.min;
        m_histogram.high = stats.max;
    } else if (scale == HistogramScale::log2Magnitude && stats.absMin > 0.0) {
        m_histogram.low = std::floor(std::log2(stats.absMin));
        m_histogram.high = std::floor(std::log2(stats.absMax)) + 1.0;
    }
    const double width = m_histogram.high - m_histogram.low;
    if (width > 0.0 && std::isfinite(width))
        m_binsPerUnit = static_cast<double>(m_histogram.counts.size()) / width;
}

void HistogramAccumulator::addValue(double value)
{
    if (!std::isfinite(value)) {
        ++(std::isnan(value) ? m_histogram.nan : (value > 0 ? m_histogram.posInf : m_histogram.negInf));
        return;
    }
    if (value == 0.0)
        ++m_histogram.zero;
    if (m_histogram.scale == HistogramScale::log2Magnitude) {
        if (value == 0.0)
            return;
        value = std::log2(std::fabs(value));
    }
    if (value < m_histogram.low || value > m_histogram.high) {
        ++m_histogram.outside;
        return;
    }
    // A range too wide for a double's difference is halved on both sides.
    const double position = m_binsPerUnit > 0.0 ? (value - m_histogram.low) * m_binsPerUnit
                                                : (m_histogram.high > m_histogram.low
                                                       ? (value / 2 - m_histogram.low / 2) /
                                                             (m_histogram.high / 2 - m_histogram.low / 2) *
                                                             static_cast<double>(m_histogram.counts.size())
                                                       : 0.0);
    const auto bin = std::min(m_histogram.counts.size() - 1, static_cast<std::size_t>(position));
    ++m_histogram.counts[bin];
}

void HistogramAccumulator::add(DType dtype, const void *data, std::size_t count)
{
    const DType part = partDType(dtype);
    const auto *bytes = static_cast<const std::byte *>(data);
    const std::size_t parts = isComplex(dtype) ? 2 * count : count;
    if (part == DType::unknown)
        return;
    if (part == DType::float32) {
        for (std::size_t i = 0; i < parts; ++i) {
            float value;
            std::memcpy(&value, bytes + i * sizeof value, sizeof value);
            addValue(static_cast<double>(value));
        }
        return;
    }
    for (std::size_t i = 0; i < parts; ++i)
        addValue(elementAsDouble(part, bytes, i));
}

} // namespace core
