// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/histogram.h"
#include "core/analysis/tensor_stats.h"

#include <QTest>

#include <limits>
#include <numeric>

using core::DType;
using core::HistogramAccumulator;
using core::HistogramScale;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

core::Histogram histogramOf(const std::vector<float> &values, HistogramScale scale, std::size_t bins)
{
    const auto stats = core::computeStats(DType::float32, values.data(), values.size());
    HistogramAccumulator accumulator(scale, stats, bins);
    accumulator.add(DType::float32, values.data(), values.size());
    return accumulator.result();
}

} // namespace

class TestHistogram : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsSpecialValuesOffTheAxis()
    {
        const auto h = histogramOf({0, 1, 2, 3, 4, kNan, kInf, kInf, -kInf}, HistogramScale::linear, 4);
        QCOMPARE(h.low, 0.0);
        QCOMPARE(h.high, 4.0);
        QCOMPARE(h.counts, (std::vector<std::uint64_t>{1, 1, 1, 2}));
        QCOMPARE(h.nan, std::uint64_t(1));
        QCOMPARE(h.posInf, std::uint64_t(2));
        QCOMPARE(h.negInf, std::uint64_t(1));
        QCOMPARE(h.zero, std::uint64_t(1));
        QCOMPARE(h.edge(2), 2.0);
    }

    void logScaleHasOneBinAPowerOfTwo()
    {
        const auto h = histogramOf({0, -1, 1.5F, 2, -4, 7}, HistogramScale::log2Magnitude, 3);
        QCOMPARE(h.low, 0.0);
        QCOMPARE(h.high, 3.0);
        QCOMPARE(h.counts, (std::vector<std::uint64_t>{2, 1, 2}));
        QCOMPARE(h.zero, std::uint64_t(1));
    }

    void constantAndExtremeRangesCountEverything()
    {
        const auto same = histogramOf({3, 3, 3}, HistogramScale::linear, 5);
        QCOMPARE(std::accumulate(same.counts.begin(), same.counts.end(), std::uint64_t(0)), std::uint64_t(3));
        const double huge = std::numeric_limits<double>::max();
        const std::vector<double> values = {-huge, 0.0, huge};
        HistogramAccumulator accumulator(HistogramScale::linear,
                                         core::computeStats(DType::float64, values.data(), 3), 2);
        accumulator.add(DType::float64, values.data(), 3);
        QCOMPARE(accumulator.result().counts, (std::vector<std::uint64_t>{1, 2}));
        QCOMPARE(accumulator.result().outside, std::uint64_t(0));
    }

    void nothingFiniteGivesEmptyBins()
    {
        const auto h = histogramOf({kNan, kInf}, HistogramScale::log2Magnitude, 8);
        QCOMPARE(std::accumulate(h.counts.begin(), h.counts.end(), std::uint64_t(0)), std::uint64_t(0));
        QCOMPARE(h.nan + h.posInf, std::uint64_t(2));
    }
};

QTEST_APPLESS_MAIN(TestHistogram)
#include "tst_histogram.moc"
