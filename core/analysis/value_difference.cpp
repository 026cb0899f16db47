// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/value_difference.h"

#include "core/analysis/difference_avx2.h"
#include "core/analysis/rounded_value.h"
#include "core/analysis/stats_partial.h"
#include "core/analysis/visit_elements.h"
#include "core/base/element_codec.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace core {
namespace {

constexpr std::size_t kLanes = 8;

// Running result; lanes keep the loops free of dependencies between neighbours.
struct Running
{
    std::array<double, kLanes> largest{};
    std::array<double, kLanes> sum{};
    bool close = true;
    bool notANumber = false;

    void add(std::size_t lane, double delta, double magnitudeB, bool equal, Tolerance tolerance)
    {
        // An infinite difference is never close, however wide the tolerance of an infinite b.
        addJudged(
            lane, delta,
            equal | (std::isfinite(delta) & (delta <= tolerance.absolute + tolerance.relative * magnitudeB)));
    }

    void addJudged(std::size_t lane, double delta, bool isClose)
    {
        notANumber |= std::isnan(delta);
        close &= isClose;
        largest[lane] = delta > largest[lane] ? delta : largest[lane];
        sum[lane] += delta;
    }
};

// Both float32: the common case, without conversions one by one. REAL is the type of the differences.
template <class Real>
void addFloats(Running &running, const std::byte *bytesA, const std::byte *bytesB, std::size_t count,
               Tolerance tolerance)
{
    std::array<Real, kLanes> largest{};
    std::array<double, kLanes> sum{};
    const auto relative = tolerance.relative;
    const auto absolute = tolerance.absolute;
    unsigned apart = 0;
    unsigned bad = 0;
    const std::size_t whole = count - count % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes) {
        std::array<float, kLanes> a;
        std::array<float, kLanes> b;
        std::memcpy(a.data(), bytesA + i * sizeof(float), sizeof a);
        std::memcpy(b.data(), bytesB + i * sizeof(float), sizeof b);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const Real delta = std::fabs(static_cast<Real>(a[k]) - static_cast<Real>(b[k]));
            const double limit = absolute + relative * static_cast<double>(std::fabs(b[k]));
            apart |= (static_cast<unsigned>(!(static_cast<double>(delta) <= limit)) |
                      static_cast<unsigned>(!(delta <= std::numeric_limits<Real>::max()))) &
                     static_cast<unsigned>(a[k] != b[k]);
            bad |= static_cast<unsigned>(delta != delta);
            largest[k] = delta > largest[k] ? delta : largest[k];
            sum[k] += static_cast<double>(delta);
        }
    }
    for (std::size_t k = 0; k < kLanes; ++k) {
        running.largest[k] = std::max(running.largest[k], static_cast<double>(largest[k]));
        running.sum[k] += sum[k];
    }
    running.close &= apart == 0;
    running.notANumber |= bad != 0;
    for (std::size_t i = whole; i < count; ++i) {
        float a;
        float b;
        std::memcpy(&a, bytesA + i * sizeof a, sizeof a);
        std::memcpy(&b, bytesB + i * sizeof b, sizeof b);
        running.add(0, static_cast<double>(std::fabs(static_cast<Real>(a) - static_cast<Real>(b))),
                    std::fabs(static_cast<double>(b)), a == b, tolerance);
    }
}

// The same by vectors, in float32.
void addFloatsFast(Running &running, const std::byte *bytesA, const std::byte *bytesB, std::size_t count,
                   Tolerance tolerance)
{
    const std::size_t whole = count - count % kLanes;
    const FloatDifference found =
        floatDifferenceAvx2(bytesA, bytesB, whole, tolerance.relative, tolerance.absolute);
    running.largest[0] = std::max(running.largest[0], static_cast<double>(found.largest));
    running.sum[0] += found.sum;
    running.close &= !found.apart;
    running.notANumber |= found.notANumber;
    addFloats<float>(running, bytesA + whole * sizeof(float), bytesB + whole * sizeof(float), count - whole,
                     tolerance);
}

bool isExact(DType dtype)
{
    return isIntegral(dtype) || dtype == DType::boolean;
}

// Integers exactly: equal bits of the value decide, the difference is only shown. 64-bit ones are read whole.
struct Integer
{
    bool negative = false;
    std::uint64_t magnitude = 0;

    bool operator==(const Integer &) const = default;
};

Integer integerAt(DType dtype, const std::byte *data, std::size_t index)
{
    if (dtype == DType::uint64) {
        std::uint64_t value;
        std::memcpy(&value, data + index * sizeof value, sizeof value);
        return {false, value};
    }
    std::int64_t value = 0;
    if (dtype == DType::int64)
        std::memcpy(&value, data + index * sizeof value, sizeof value);
    else
        value = static_cast<std::int64_t>(elementAsDouble(dtype, data, index));
    return {value < 0, value < 0 ? std::uint64_t(0) - static_cast<std::uint64_t>(value)
                                 : static_cast<std::uint64_t>(value)};
}

double distance(const Integer &a, const Integer &b)
{
    if (a.negative != b.negative)
        return static_cast<double>(a.magnitude) + static_cast<double>(b.magnitude);
    return static_cast<double>(a.magnitude > b.magnitude ? a.magnitude - b.magnitude
                                                         : b.magnitude - a.magnitude);
}

class Comparison
{
public:
    Comparison(DType a, DType b, Tolerance tolerance) : m_a(a), m_b(b), m_tolerance(tolerance) {}

    void add(const std::byte *a, const std::byte *b, std::size_t count)
    {
        m_count += count;
        if (m_a == m_b && !m_tolerance.inFloat64 && (m_a == DType::float16 || m_a == DType::bfloat16)) {
            for (std::size_t i = 0; i < count; ++i)
                addSmall(a, b, i);
            return;
        }
        if (m_a == DType::float32 && m_b == DType::float32)
            return addSingle(a, b, count);
        for (std::size_t i = 0; i < count; ++i)
            addOne(a, b, i);
    }

    ValueDifference result() const
    {
        ValueDifference difference;
        if (m_count == 0)
            return difference;
        double sum = 0.0;
        for (std::size_t k = 0; k < kLanes; ++k) {
            difference.maxAbs = std::max(difference.maxAbs, m_running.largest[k]);
            sum += m_running.sum[k];
        }
        difference.meanAbs = sum / static_cast<double>(m_count);
        if (m_a == m_b && isFloating(m_a) && !m_tolerance.inFloat64)
            difference.meanAbs = roundedTo(m_a, difference.meanAbs);
        difference.allClose = m_running.close;
        if (m_running.notANumber)
            difference.maxAbs = difference.meanAbs = std::numeric_limits<double>::quiet_NaN();
        return difference;
    }

private:
    void addSingle(const std::byte *a, const std::byte *b, std::size_t count)
    {
        if (m_tolerance.inFloat64)
            addFloats<double>(m_running, a, b, count, m_tolerance);
        else if (stats_kernels::avx2Usable())
            addFloatsFast(m_running, a, b, count, m_tolerance);
        else
            addFloats<float>(m_running, a, b, count, m_tolerance);
    }

    // Two of one small type: difference and tolerance are elements of that type, as the original has them.
    void addSmall(const std::byte *a, const std::byte *b, std::size_t i)
    {
        const double x = elementAsDouble(m_a, a, i);
        const double y = elementAsDouble(m_b, b, i);
        const double delta = roundedTo(m_a, std::fabs(x - y));
        const double allowed =
            roundedTo(m_a, m_tolerance.absolute + roundedTo(m_a, std::fabs(m_tolerance.relative * y)));
        m_running.addJudged(i % kLanes, delta, (x == y) | (std::isfinite(delta) & (delta <= allowed)));
    }

    void addOne(const std::byte *a, const std::byte *b, std::size_t i)
    {
        if (isExact(m_a) && isExact(m_b)) {
            const Integer x = integerAt(m_a, a, i);
            const Integer y = integerAt(m_b, b, i);
            m_running.add(i % kLanes, distance(x, y), 0.0, x == y, {0.0, -1.0});
            return;
        }
        const double realA = elementAsDouble(m_a, a, i);
        const double realB = elementAsDouble(m_b, b, i);
        if (!isComplex(m_a) && !isComplex(m_b)) {
            m_running.add(i % kLanes, std::fabs(realA - realB), std::fabs(realB), realA == realB,
                          m_tolerance);
            return;
        }
        const double imaginaryA = elementImaginary(m_a, a, i);
        const double imaginaryB = elementImaginary(m_b, b, i);
        double delta = std::hypot(realA - realB, imaginaryA - imaginaryB);
        if (std::isnan(realA - realB) || std::isnan(imaginaryA - imaginaryB))
            delta = std::numeric_limits<double>::quiet_NaN();
        m_running.add(i % kLanes, delta, std::hypot(realB, imaginaryB),
                      realA == realB && imaginaryA == imaginaryB, m_tolerance);
    }

    DType m_a;
    DType m_b;
    Tolerance m_tolerance;
    Running m_running;
    std::uint64_t m_count = 0;
};

} // namespace

DType promotedDType(DType a, DType b)
{
    if (a == b)
        return a;
    if (isComplex(a) || isComplex(b)) {
        const std::size_t part = std::max(itemSize(partDType(a)), itemSize(partDType(b)));
        return part >= 8 && (canBeNonFinite(a) && canBeNonFinite(b))
                   ? DType::complex128
                   : std::max(isComplex(a) ? a : DType::complex64, isComplex(b) ? b : DType::complex64);
    }
    if (isFloating(a) != isFloating(b))
        return isFloating(a) ? a : b;
    if (isFloating(a))
        return itemSize(a) == itemSize(b) ? DType::float32 : (itemSize(a) > itemSize(b) ? a : b);
    return itemSize(a) >= itemSize(b) ? a : b;
}

Result<ValueDifference> differenceOf(const Trace &traceA, TensorId a, const Trace &traceB, TensorId b,
                                     Tolerance tolerance, const JobContext &job)
{
    Comparison comparison(traceA.tensor(a).dtype, traceB.tensor(b).dtype, tolerance);
    const Status read = visitPairs(traceA, a, traceB, b, job,
                                   [&](const std::byte *dataA, const std::byte *dataB, std::size_t count) {
                                       comparison.add(dataA, dataB, count);
                                       return true;
                                   });
    if (!read)
        return read;
    return comparison.result();
}

} // namespace core
