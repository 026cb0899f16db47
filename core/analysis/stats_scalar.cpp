// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/stats_partial.h"
#include "core/base/element_codec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace core::stats_kernels {
namespace {

template <class Word>
Word wordAt(const std::byte *data, std::size_t index)
{
    Word word;
    std::memcpy(&word, data + index * sizeof(Word), sizeof(Word));
    return word;
}

template <class Word, class Decode>
StatsPartial scanWords(const std::byte *data, std::size_t count, double smallestNormal, Decode decode)
{
    StatsPartial partial;
    partial.elements = count;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 64); ++i) {
        const double value = static_cast<double>(decode(wordAt<Word>(data, i)));
        if (std::isfinite(value)) {
            partial.shift = value;
            break;
        }
    }
    for (std::size_t i = 0; i < count; ++i)
        addValue(partial, decode(wordAt<Word>(data, i)), smallestNormal, static_cast<std::int64_t>(i));
    return partial;
}

// Integers: four independent chains and no case distinctions in the loop.
template <class Int>
StatsPartial scanIntegers(const std::byte *data, std::size_t count)
{
    StatsPartial partial;
    partial.elements = count;
    if (count == 0)
        return partial;
    const double shift = static_cast<double>(wordAt<Int>(data, 0));
    Int low = wordAt<Int>(data, 0);
    Int high = low;
    std::uint64_t zeros = 0;
    std::array<double, 4> sums{};
    std::array<double, 4> squares{};
    for (std::size_t i = 0; i < count; ++i) {
        const Int value = wordAt<Int>(data, i);
        low = std::min(low, value);
        high = std::max(high, value);
        zeros += value == 0 ? 1 : 0;
        const double magnitude = std::fabs(static_cast<double>(value));
        partial.absMin = value != 0 && magnitude < partial.absMin ? magnitude : partial.absMin;
        const double difference = static_cast<double>(value) - shift;
        sums[i & 3] += difference;
        squares[i & 3] += difference * difference;
    }
    partial.min = static_cast<double>(low);
    partial.max = static_cast<double>(high);
    partial.zero = zeros;
    partial.shift = shift;
    partial.sum = sums[0] + sums[1] + sums[2] + sums[3];
    partial.sumOfSquares = squares[0] + squares[1] + squares[2] + squares[3];
    return partial;
}

// N equal values at once, for the kernel that counts codes.
void addRepeated(StatsPartial &partial, double value, double smallestNormal, std::uint64_t times)
{
    StatsPartial one;
    one.shift = partial.shift;
    addValue(one, value, smallestNormal, 0);
    partial.nan += one.nan * times;
    partial.posInf += one.posInf * times;
    partial.negInf += one.negInf * times;
    partial.zero += one.zero * times;
    partial.subnormal += one.subnormal * times;
    partial.min = std::min(partial.min, one.min);
    partial.max = std::max(partial.max, one.max);
    partial.absMin = std::min(partial.absMin, one.absMin);
    partial.sum += one.sum * static_cast<double>(times);
    partial.sumOfSquares += one.sumOfSquares * static_cast<double>(times);
}

// One-byte types have 256 values: count each, then add the table. Exact, and as fast as counting bytes.
template <class Decode>
StatsPartial scanBytes(const std::byte *data, std::size_t count, double smallestNormal, Decode decode)
{
    if (count < 1024)
        return scanWords<std::uint8_t>(data, count, smallestNormal, decode);
    std::array<std::array<std::uint64_t, 256>, 8> tables{};
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(data);
    for (std::size_t i = 0; i < count; ++i)
        ++tables[i & 7][bytes[i]];
    StatsPartial partial;
    partial.elements = count;
    for (unsigned code = 0; code < 256; ++code) {
        std::uint64_t times = 0;
        for (const auto &table : tables)
            times += table[code];
        const double value = static_cast<double>(decode(static_cast<std::uint8_t>(code)));
        if (times == 0)
            continue;
        addRepeated(partial, value, smallestNormal, times);
        if (std::isfinite(value))
            continue;
        std::int64_t &first =
            std::isnan(value) ? partial.firstNan : (value > 0 ? partial.firstPosInf : partial.firstNegInf);
        const auto found = static_cast<std::int64_t>(
            std::find(bytes, bytes + count, static_cast<std::uint8_t>(code)) - bytes);
        first = first < 0 ? found : std::min(first, found);
    }
    return partial;
}

template <class Word, class Decode>
double largestWord(const std::byte *data, std::size_t count, Decode decode)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        const double magnitude = std::fabs(static_cast<double>(decode(wordAt<Word>(data, i))));
        largest = std::max(largest, magnitude <= kInfinity ? magnitude : kInfinity);
    }
    return largest;
}

template <class Word>
double sameNumber(Word word)
{
    return static_cast<double>(word);
}

} // namespace

StatsPartial scanScalar(DType dtype, const std::byte *data, std::size_t count)
{
    const double normal = floatLimits(dtype).smallestNormal;
    switch (dtype) {
    case DType::boolean:
        return scanBytes(data, count, 0.0, [](std::uint8_t byte) { return byte != 0 ? 1.0 : 0.0; });
    case DType::uint8:
    case DType::quint8:
        return scanBytes(data, count, 0.0, sameNumber<std::uint8_t>);
    case DType::int8:
    case DType::qint8:
        return scanBytes(data, count, 0.0,
                         [](std::uint8_t b) { return double(static_cast<std::int8_t>(b)); });
    case DType::uint16:
        return scanIntegers<std::uint16_t>(data, count);
    case DType::int16:
        return scanIntegers<std::int16_t>(data, count);
    case DType::uint32:
        return scanIntegers<std::uint32_t>(data, count);
    case DType::int32:
    case DType::qint32:
        return scanIntegers<std::int32_t>(data, count);
    case DType::uint64:
        return scanIntegers<std::uint64_t>(data, count);
    case DType::int64:
        return scanIntegers<std::int64_t>(data, count);
    case DType::float16:
        return scanWords<std::uint16_t>(data, count, normal, halfToFloat);
    case DType::bfloat16:
        return scanWords<std::uint16_t>(data, count, normal, bfloat16ToFloat);
    case DType::float32:
        return scanWords<float>(data, count, normal, [](float value) { return value; });
    case DType::float64:
        return scanWords<double>(data, count, normal, [](double value) { return value; });
    default:
        return scanBytes(data, count, normal,
                         [dtype](std::uint8_t byte) { return float8ToFloat(dtype, byte); });
    }
}

double largestMagnitudeScalar(DType dtype, const std::byte *data, std::size_t count)
{
    switch (dtype) {
    case DType::float16:
        return largestWord<std::uint16_t>(data, count, halfToFloat);
    case DType::bfloat16:
        return largestWord<std::uint16_t>(data, count, bfloat16ToFloat);
    case DType::float32:
        return largestWord<float>(data, count, [](float value) { return value; });
    case DType::float64:
        return largestWord<double>(data, count, [](double value) { return value; });
    default:
        break;
    }
    if (count < 256)
        return largestWord<std::uint8_t>(data, count,
                                         [dtype](std::uint8_t b) { return float8ToFloat(dtype, b); });
    std::array<bool, 256> present{};
    for (std::size_t i = 0; i < count; ++i)
        present[static_cast<std::size_t>(data[i])] = true;
    double largest = 0.0;
    for (unsigned code = 0; code < 256; ++code) {
        const auto byte = static_cast<std::byte>(code);
        if (present[code])
            largest = std::max(largest, largestMagnitudeScalar(dtype, &byte, 1));
    }
    return largest;
}

} // namespace core::stats_kernels
