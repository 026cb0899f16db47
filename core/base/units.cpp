// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace core {

std::string formatBytes(std::uint64_t bytes)
{
    if (bytes < 1024)
        return fmt::format("{} B", bytes);
    static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024.0;
    std::size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < kUnits.size()) {
        value /= 1024.0;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string formatFlops(double flops)
{
    static constexpr std::array kUnits = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
    std::size_t unit = 0;
    while (std::fabs(flops) >= 999.5 && unit + 1 < kUnits.size()) {
        flops /= 1000.0;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} FLOPs", flops) : fmt::format("{:.3g} {}", flops, kUnits[unit]);
}

std::string formatNanoseconds(std::int64_t ns)
{
    const auto value = static_cast<double>(ns);
    if (std::fabs(value) < 1e3)
        return fmt::format("{} ns", ns);
    if (std::fabs(value) < 1e6)
        return fmt::format("{:.1f} us", value / 1e3);
    if (std::fabs(value) < 1e9)
        return fmt::format("{:.1f} ms", value / 1e6);
    return fmt::format("{:.2f} s", value / 1e9);
}

std::string formatCount(std::uint64_t count)
{
    std::string digits = std::to_string(count);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string formatNumber(double value, int digits)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "+Inf" : "-Inf";
    return fmt::format("{:.{}g}", value, digits);
}

} // namespace core
