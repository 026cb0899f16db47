// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/byte_codec.h"

#include <bit>

namespace core {

void ByteWriter::integer(std::uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        m_bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void ByteWriter::f64(double value)
{
    u64(std::bit_cast<std::uint64_t>(value));
}

void ByteWriter::string(std::string_view text)
{
    u32(static_cast<std::uint32_t>(text.size()));
    raw(std::as_bytes(std::span(text.data(), text.size())));
}

std::uint64_t ByteReader::integer(std::size_t bytes)
{
    if (m_failed || bytes > remaining()) {
        m_failed = true;
        return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
        value |= static_cast<std::uint64_t>(m_bytes[m_position + i]) << (8 * i);
    m_position += bytes;
    return value;
}

double ByteReader::f64()
{
    return std::bit_cast<double>(integer(8));
}

std::string ByteReader::string()
{
    const std::uint32_t length = u32();
    if (m_failed || length > remaining()) {
        m_failed = true;
        return {};
    }
    std::string text(reinterpret_cast<const char *>(m_bytes.data() + m_position), length);
    m_position += length;
    return text;
}

std::uint32_t ByteReader::count(std::size_t bytesEach)
{
    const std::uint32_t count = u32();
    if (m_failed || count > remaining() / (bytesEach == 0 ? 1 : bytesEach)) {
        m_failed = true;
        return 0;
    }
    return count;
}

Status ByteReader::finish(std::string_view what) const
{
    if (m_failed)
        return {ErrorCode::protocol, std::string(what) + ": ends at byte " + std::to_string(m_position) +
                                         " of " + std::to_string(m_bytes.size()) + ", more was announced"};
    if (remaining() != 0)
        return {ErrorCode::protocol, std::string(what) + ": " + std::to_string(remaining()) +
                                         " bytes left over of " + std::to_string(m_bytes.size())};
    return Status::ok();
}

} // namespace core
