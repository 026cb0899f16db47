// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Appends numbers and strings, little endian, to a growing buffer: the payload of a worker message. Strings
// are a 32-bit length and the bytes.
class ByteWriter
{
public:
    void u8(std::uint8_t value) { m_bytes.push_back(static_cast<std::byte>(value)); }
    void u16(std::uint16_t value) { integer(value, 2); }
    void u32(std::uint32_t value) { integer(value, 4); }
    void u64(std::uint64_t value) { integer(value, 8); }
    void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
    void f64(double value);
    void string(std::string_view text);
    void raw(std::span<const std::byte> bytes) { m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end()); }

    const std::vector<std::byte> &bytes() const { return m_bytes; }
    std::vector<std::byte> take() { return std::move(m_bytes); }

private:
    void integer(std::uint64_t value, int bytes);

    std::vector<std::byte> m_bytes;
};

// Reads what ByteWriter wrote, from bytes nobody vouches for. After the first read past the end every further
// read gives zero or the empty string and failed() stays true, so a decoder checks once, at its end (and
// before it believes a count: see count()). Does not own the bytes.
class ByteReader
{
public:
    explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
    std::uint64_t u64() { return integer(8); }
    std::int64_t i64() { return static_cast<std::int64_t>(integer(8)); }
    double f64();
    std::string string();
    // A 32-bit count of items that take at least BYTESEACH bytes: fails, and gives 0, when the rest cannot
    // hold so many, so that no hostile count reserves memory.
    std::uint32_t count(std::size_t bytesEach);

    bool failed() const { return m_failed; }
    std::size_t remaining() const { return m_bytes.size() - m_position; }
    // protocol, naming WHAT and the byte, when a read went past the end or bytes are left over.
    Status finish(std::string_view what) const;

private:
    std::uint64_t integer(std::size_t bytes);

    std::span<const std::byte> m_bytes;
    std::size_t m_position = 0;
    bool m_failed = false;
};

} // namespace core
