// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/stats_partial.h"
#include "core/analysis/tensor_stats.h"
#include "core/base/element_codec.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using core::DType;
using core::TensorStats;

namespace {

// The definition, one element at a time in long double: what every kernel is compared with.
TensorStats slowStats(DType dtype, const std::vector<std::byte> &bytes, std::size_t count)
{
    TensorStats stats;
    const std::size_t parts = core::isComplex(dtype) ? 2 : 1;
    const DType part = core::partDType(dtype);
    const double normal = core::floatLimits(part).smallestNormal;
    std::vector<double> finite;
    for (std::size_t i = 0; i < count * parts; ++i) {
        const double x = core::elementAsDouble(part, bytes.data(), i);
        const auto index = static_cast<std::int64_t>(i / parts);
        ++stats.elements;
        if (std::isnan(x)) {
            if (stats.nan++ == 0)
                stats.firstNan = index;
        } else if (std::isinf(x)) {
            if ((x > 0 ? stats.posInf++ : stats.negInf++) == 0)
                (x > 0 ? stats.firstPosInf : stats.firstNegInf) = index;
        } else {
            finite.push_back(x);
            stats.zero += x == 0.0;
            stats.subnormal += x != 0.0 && std::fabs(x) < normal;
        }
    }
    if (finite.empty())
        return stats;
    long double sum = 0;
    stats.min = stats.max = finite[0];
    double absMin = std::numeric_limits<double>::infinity();
    for (const double x : finite) {
        sum += x;
        stats.min = std::min(stats.min, x);
        stats.max = std::max(stats.max, x);
        if (x != 0.0)
            absMin = std::min(absMin, std::fabs(x));
    }
    stats.absMin = std::isfinite(absMin) ? absMin : 0.0;
    stats.absMax = std::max(std::fabs(stats.min), std::fabs(stats.max));
    const long double mean = sum / static_cast<long double>(finite.size());
    long double squares = 0;
    for (const double x : finite)
        squares += (x - mean) * (x - mean);
    stats.mean = static_cast<double>(mean);
    stats.std = static_cast<double>(std::sqrt(squares / static_cast<long double>(finite.size())));
    return stats;
}

bool near(double a, double b, double scale)
{
    return std::fabs(a - b) <= std::max(1e-300, 1e-9 * std::max(scale, std::fabs(b)));
}

QString difference(const TensorStats &got, const TensorStats &want)
{
    const double scale = want.absMax;
    if (got.elements != want.elements)
        return "elements";
    if (got.nan != want.nan || got.posInf != want.posInf || got.negInf != want.negInf)
        return "non-finite counts";
    if (got.zero != want.zero)
        return QString("zero %1 %2").arg(got.zero).arg(want.zero);
    if (got.subnormal != want.subnormal)
        return QString("subnormal %1 %2").arg(got.subnormal).arg(want.subnormal);
    if (got.min != want.min || got.max != want.max || got.absMin != want.absMin || got.absMax != want.absMax)
        return "range";
    if (got.firstNan != want.firstNan || got.firstPosInf != want.firstPosInf ||
        got.firstNegInf != want.firstNegInf)
        return "first index";
    if (!near(got.mean, want.mean, scale) || !near(got.std, want.std, scale))
        return QString("moments %1 %2, %3 %4").arg(got.mean).arg(want.mean).arg(got.std).arg(want.std);
    return {};
}

// Random bit patterns: every special value of the small types occurs, for the wide ones a few are put in.
std::vector<std::byte> randomBits(DType dtype, std::size_t count, std::mt19937 &random)
{
    std::vector<std::byte> bytes(count * core::itemSize(dtype));
    for (std::byte &byte : bytes)
        byte = static_cast<std::byte>(random() & 0xff);
    return bytes;
}

template <class Real>
std::vector<std::byte> realValues(std::size_t count, double badShare, std::mt19937 &random)
{
    std::normal_distribution<double> normal(3.0, 2.0);
    std::uniform_real_distribution<double> chance(0.0, 1.0);
    const Real specials[] = {std::numeric_limits<Real>::quiet_NaN(),
                             std::numeric_limits<Real>::infinity(),
                             -std::numeric_limits<Real>::infinity(),
                             Real(0),
                             Real(-0.0),
                             std::numeric_limits<Real>::denorm_min(),
                             std::numeric_limits<Real>::min() / 2};
    std::vector<Real> values(count);
    for (Real &value : values)
        value = chance(random) < badShare ? specials[random() % 7] : static_cast<Real>(normal(random));
    std::vector<std::byte> bytes(count * sizeof(Real));
    if (count > 0)
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

} // namespace

class TestTensorStats : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void agreesWithTheDefinition_data()
    {
        QTest::addColumn<int>("dtype");
        for (int i = 1; i < core::kDTypeCount; ++i)
            QTest::newRow(std::string(core::dtypeName(static_cast<DType>(i))).c_str()) << i;
    }

    void agreesWithTheDefinition()
    {
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        std::mt19937 random(7);
        for (const std::size_t count : {0U, 1U, 7U, 8U, 63U, 64U, 65U, 1023U, 1024U, 5000U}) {
            const std::vector<std::byte> bytes = randomBits(type, count, random);
            if (type == DType::float64 || type == DType::complex128 || type == DType::bfloat16 ||
                type == DType::float32 || type == DType::complex64) {
                // Random exponents overflow any second moment: counts and range only.
                TensorStats got = core::computeStats(type, bytes.data(), count);
                TensorStats want = slowStats(type, bytes, count);
                got.mean = got.std = want.mean = want.std = 0.0;
                QCOMPARE(difference(got, want), QString());
                continue;
            }
            QCOMPARE(difference(core::computeStats(type, bytes.data(), count), slowStats(type, bytes, count)),
                     QString());
        }
    }

    void agreesOnRealValues()
    {
        std::mt19937 random(11);
        for (const double bad : {0.0, 0.001, 0.3, 1.0})
            for (const std::size_t count : {10U, 100U, 2048U, 2056U, 10007U}) {
                const auto singles = realValues<float>(count, bad, random);
                QCOMPARE(difference(core::computeStats(DType::float32, singles.data(), count),
                                    slowStats(DType::float32, singles, count)),
                         QString());
                const auto doubles = realValues<double>(count, bad, random);
                QCOMPARE(difference(core::computeStats(DType::float64, doubles.data(), count),
                                    slowStats(DType::float64, doubles, count)),
                         QString());
                QCOMPARE(difference(core::computeStats(DType::complex64, singles.data(), count / 2),
                                    slowStats(DType::complex64, singles, count / 2)),
                         QString());
            }
    }

    void scalarAndVectorKernelsAgree()
    {
        // A processor without AVX2 runs the portable kernels only.
        const auto vectorKernel = core::stats_kernels::avx2Usable() ? core::stats_kernels::scanAvx2
                                                                    : core::stats_kernels::scanScalar;
        std::mt19937 random(3);
        for (const DType type : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
            const auto bytes = randomBits(type, 9001, random);
            const auto a = core::stats_kernels::scanScalar(type, bytes.data(), 9001);
            const auto b = vectorKernel(type, bytes.data(), 9001);
            QCOMPARE(a.nan, b.nan);
            QCOMPARE(a.posInf, b.posInf);
            QCOMPARE(a.negInf, b.negInf);
            QCOMPARE(a.zero, b.zero);
            QCOMPARE(a.subnormal, b.subnormal);
            QCOMPARE(a.min, b.min);
            QCOMPARE(a.max, b.max);
            QCOMPARE(a.absMin, b.absMin);
            QCOMPARE(a.firstNan, b.firstNan);
        }
    }

    void piecesMergeInAnyOrder()
    {
        std::mt19937 random(5);
        const std::size_t count = 5000;
        const auto bytes = realValues<float>(count, 0.01, random);
        core::StatsAccumulator all(DType::float32);
        for (const std::size_t first : {3000U, 0U, 1000U, 4999U, 2000U}) {
            const std::size_t next = first == 3000 ? 4999 : (first == 4999 ? 5000 : first + 1000);
            all.add(bytes.data() + first * 4, next - first, first);
        }
        QCOMPARE(difference(all.result(), slowStats(DType::float32, bytes, count)), QString());
        const std::size_t many = (std::size_t(1) << 22) + 3;
        const auto large = realValues<float>(many, 0.00001, random);
        QCOMPARE(difference(core::computeStats(DType::float32, large.data(), many, 4),
                            slowStats(DType::float32, large, many)),
                 QString());
    }

    void meanOfLargeOffsetKeepsItsSpread()
    {
        std::vector<float> values(100000);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = 1e6F + static_cast<float>(i % 2);
        const TensorStats stats = core::computeStats(DType::float32, values.data(), values.size());
        QVERIFY(std::fabs(stats.mean - 1000000.5) < 1e-9);
        QVERIFY(std::fabs(stats.std - 0.5) < 1e-6);
    }

    void findsOneBadValueAnywhere()
    {
        for (const std::size_t count : {1U, 40U, 64U, 1000U})
            for (std::size_t bad = 0; bad<count; bad += count> 100 ? 37 : 1) {
                std::vector<float> values(count, 1.0F);
                QVERIFY(core::allFinite(DType::float32, values.data(), count));
                values[bad] = std::numeric_limits<float>::infinity();
                QVERIFY(!core::allFinite(DType::float32, values.data(), count));
                const TensorStats stats = core::computeStats(DType::float32, values.data(), count);
                QCOMPARE(stats.firstPosInf, static_cast<std::int64_t>(bad));
                QCOMPARE(stats.posInf, std::uint64_t(1));
            }
        std::vector<std::uint16_t> halves(100, 0x3c00);
        QVERIFY(core::allFinite(DType::float16, halves.data(), 100));
        halves[99] = 0x7e00;
        QVERIFY(!core::allFinite(DType::float16, halves.data(), 100));
        std::vector<double> doubles(77, 1.0);
        QVERIFY(core::allFinite(DType::float64, doubles.data(), 77));
        doubles[70] = std::numeric_limits<double>::quiet_NaN();
        QVERIFY(!core::allFinite(DType::float64, doubles.data(), 77));
    }

    void largestMagnitude()
    {
        for (const std::size_t count : {1U, 40U, 64U, 1000U})
            for (std::size_t at = 0; at<count; at += count> 100 ? 37 : 1) {
                std::vector<float> floats(count, 1.0F);
                std::vector<double> doubles(count, -1.0);
                std::vector<std::uint16_t> halves(count, 0x3c00);
                std::vector<std::uint8_t> bytes(count, 0x38); // 1.0 of float8_e4m3fn
                floats[at] = -2.5F;
                doubles[at] = 1e300;
                halves[at] = 0xfbff; // -65504
                bytes[at] = 0xfe;    // -448
                QCOMPARE(core::largestMagnitude(DType::float32, floats.data(), count), 2.5);
                QCOMPARE(core::largestMagnitude(DType::float64, doubles.data(), count), 1e300);
                QCOMPARE(core::largestMagnitude(DType::float16, halves.data(), count), 65504.0);
                QCOMPARE(core::largestMagnitude(DType::float8_e4m3fn, bytes.data(), count), 448.0);
                floats[at] = std::numeric_limits<float>::quiet_NaN();
                doubles[at] = -std::numeric_limits<double>::quiet_NaN();
                bytes[at] = 0x7f; // NaN
                QVERIFY(std::isinf(core::largestMagnitude(DType::float32, floats.data(), count)));
                QVERIFY(std::isinf(core::largestMagnitude(DType::float64, doubles.data(), count)));
                QVERIFY(std::isinf(core::largestMagnitude(DType::float8_e4m3fn, bytes.data(), count)));
            }
        const std::vector<float> parts = {1.0F, -3.0F};
        QCOMPARE(core::largestMagnitude(DType::complex64, parts.data(), 1), 3.0);
        QCOMPARE(core::largestMagnitude(DType::float32, parts.data(), 0), 0.0);
        QCOMPARE(core::largestMagnitude(DType::int32, parts.data(), 2), 0.0);
    }

    void unknownTypeClaimsNothing()
    {
        const TensorStats stats = core::computeStats(DType::unknown, "abcd", 4);
        QCOMPARE(stats.elements, std::uint64_t(0));
        QVERIFY(!stats.hasFinite());
        QCOMPARE(stats.zero, std::uint64_t(0));
    }

    void speed_data()
    {
        QTest::addColumn<int>("dtype");
        QTest::newRow("float32") << int(DType::float32);
        QTest::newRow("float16") << int(DType::float16);
        QTest::newRow("bfloat16") << int(DType::bfloat16);
        QTest::newRow("float64") << int(DType::float64);
        QTest::newRow("float8_e4m3fn") << int(DType::float8_e4m3fn);
        QTest::newRow("int64") << int(DType::int64);
    }

    // Ten elements have to stay cheap, since every small op of a capture pays it.
    void speed()
    {
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        const std::vector<std::byte> ten(10 * core::itemSize(type), std::byte(0x11));
        QElapsedTimer timer;
        timer.start();
        std::uint64_t seen = 0;
        for (int i = 0; i < 100000; ++i)
            seen += core::computeStats(type, ten.data(), 10).elements;
        const double each = static_cast<double>(timer.nsecsElapsed()) / 100000.0;
        const std::size_t count = (std::size_t(1) << 22) / core::itemSize(type);
        std::mt19937 random(1);
        std::vector<std::byte> bulk = randomBits(type, count, random);
        for (std::byte &byte : bulk)
            byte &= std::byte(0x3f);
        timer.restart();
        for (int i = 0; i < 20; ++i)
            seen += core::computeStats(type, bulk.data(), count).elements;
        const double rate =
            20.0 * static_cast<double>(bulk.size()) / static_cast<double>(timer.nsecsElapsed());
        timer.restart();
        for (int i = 0; i < 20; ++i)
            seen += core::allFinite(type, bulk.data(), count) ? 1 : 0;
        const double check =
            20.0 * static_cast<double>(bulk.size()) / static_cast<double>(timer.nsecsElapsed());
        qInfo("%s: %.0f ns for ten elements, %.1f GB/s, finite check %.1f GB/s",
              std::string(core::dtypeName(type)).c_str(), each, rate, check);
        QVERIFY(seen > 0);
        QVERIFY2(each < 10000.0, "statistics of ten elements take microseconds");
    }
};

QTEST_APPLESS_MAIN(TestTensorStats)
#include "tst_tensor_stats.moc"
