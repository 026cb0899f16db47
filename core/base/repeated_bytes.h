// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace core {

// Whether strides of zero make so much of so little (a byte a thousand times and more, beyond 4 GiB) that
// reading all elements is work without end. Masks expanded over batch and heads stay far below.
inline bool repeatsWithoutEnd(std::uint64_t elements, std::uint64_t itemBytes, std::uint64_t storedBytes)
{
    constexpr std::uint64_t kMost = std::uint64_t(4) << 30U;
    constexpr std::uint64_t kTimes = 1000;
    return elements > kMost / itemBytes && elements / kTimes > storedBytes / itemBytes;
}

} // namespace core
