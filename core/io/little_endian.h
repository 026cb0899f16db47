// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace core {

// Unaligned little-endian numbers in file bytes; the caller has checked that they are there.
template <class T>
T loadLittle(const std::byte *at)
{
    static_assert(std::is_trivially_copyable_v<T> && std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class T>
void appendLittle(std::vector<std::byte> &out, T value)
{
    static_assert(std::is_trivially_copyable_v<T> && std::endian::native == std::endian::little);
    const std::size_t at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(out.data() + at, &value, sizeof value);
}

} // namespace core
