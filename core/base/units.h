// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace core {

std::string formatBytes(std::uint64_t bytes);           // "8 B", "1.5 KiB", "6.0 GiB"
std::string formatFlops(double flops);                  // powers of 1000: "1.23 GFLOPs"
std::string formatNanoseconds(std::int64_t ns);         // "812 ns", "3.1 us", "12.4 ms", "2.05 s"
std::string formatCount(std::uint64_t count);           // grouped by three with commas: "3,145,728"
std::string formatNumber(double value, int digits = 6); // %.{digits}g with NaN, +Inf, -Inf spelled so

} // namespace core
