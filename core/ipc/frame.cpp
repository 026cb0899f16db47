// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ipc/frame.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace core {

namespace {

std::uint32_t payloadLength(const std::byte *header)
{
    std::uint32_t length = 0;
    for (int i = 0; i < 4; ++i)
        length |= static_cast<std::uint32_t>(header[i]) << (8 * i);
    return length;
}

std::uint16_t frameType(const std::byte *header)
{
    return static_cast<std::uint16_t>(static_cast<unsigned>(header[4]) |
                                      (static_cast<unsigned>(header[5]) << 8U));
}

Status tooLong(std::size_t length)
{
    return {ErrorCode::protocol, "frame: announces " + std::to_string(length) + " bytes, the limit is " +
                                     std::to_string(kMaximumFramePayload)};
}

// How many of the bytes wanted arrived before the end of input.
Result<std::size_t> readFully(int descriptor, std::span<std::byte> out)
{
    std::size_t got = 0;
    while (got < out.size()) {
        const ssize_t count = ::read(descriptor, out.data() + got, out.size() - got);
        if (count == 0)
            break;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return Status(ErrorCode::unreadable, std::string("frame: ") + std::strerror(errno));
        got += static_cast<std::size_t>(count);
    }
    return got;
}

Status cutShort(std::size_t got, std::size_t wanted)
{
    return {ErrorCode::protocol,
            "frame: input ends after " + std::to_string(got) + " of " + std::to_string(wanted) + " bytes"};
}

} // namespace

Result<std::vector<std::byte>> encodeFrame(std::uint16_t type, std::span<const std::byte> payload)
{
    if (payload.size() > kMaximumFramePayload)
        return Status(ErrorCode::limitExceeded, "frame: payload is " + std::to_string(payload.size()) +
                                                    " bytes, the limit is " +
                                                    std::to_string(kMaximumFramePayload));
    std::vector<std::byte> bytes;
    bytes.reserve(kFrameHeaderBytes + payload.size());
    for (unsigned i = 0; i < 4; ++i)
        bytes.push_back(static_cast<std::byte>(payload.size() >> (8 * i)));
    bytes.push_back(static_cast<std::byte>(type & 0xffU));
    bytes.push_back(static_cast<std::byte>(type >> 8U));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

void FrameParser::feed(std::span<const std::byte> bytes)
{
    if (m_start > 0 && m_start == m_buffer.size()) {
        m_buffer.clear();
        m_start = 0;
    }
    m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Frame>> FrameParser::next()
{
    if (buffered() < kFrameHeaderBytes)
        return std::optional<Frame>();
    const std::byte *header = m_buffer.data() + m_start;
    const std::size_t length = payloadLength(header);
    if (length > kMaximumFramePayload)
        return tooLong(length);
    if (buffered() < kFrameHeaderBytes + length)
        return std::optional<Frame>();
    Frame frame;
    frame.type = frameType(header);
    frame.payload.assign(header + kFrameHeaderBytes, header + kFrameHeaderBytes + length);
    m_start += kFrameHeaderBytes + length;
    // Keeps the buffer from growing with the life of the worker.
    if (m_start > (std::size_t(1) << 20)) {
        m_buffer.erase(m_buffer.begin(), m_buffer.begin() + static_cast<std::ptrdiff_t>(m_start));
        m_start = 0;
    }
    return std::optional<Frame>(std::move(frame));
}

Status writeFrame(int descriptor, std::uint16_t type, std::span<const std::byte> payload)
{
    const Result<std::vector<std::byte>> bytes = encodeFrame(type, payload);
    if (!bytes)
        return bytes.error();
    std::size_t written = 0;
    while (written < bytes->size()) {
        const ssize_t count = ::write(descriptor, bytes->data() + written, bytes->size() - written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return {ErrorCode::unreadable, std::string("frame: ") + std::strerror(errno)};
        written += static_cast<std::size_t>(count);
    }
    return Status::ok();
}

Result<std::optional<Frame>> readFrame(int descriptor)
{
    std::byte header[kFrameHeaderBytes];
    const Result<std::size_t> got = readFully(descriptor, header);
    if (!got)
        return got.error();
    if (*got == 0)
        return std::optional<Frame>();
    if (*got < kFrameHeaderBytes)
        return cutShort(*got, kFrameHeaderBytes);
    const std::size_t length = payloadLength(header);
    if (length > kMaximumFramePayload)
        return tooLong(length);
    Frame frame;
    frame.type = frameType(header);
    frame.payload.resize(length);
    const Result<std::size_t> body = readFully(descriptor, frame.payload);
    if (!body)
        return body.error();
    if (*body < length)
        return cutShort(*body, length);
    return std::optional<Frame>(std::move(frame));
}

} // namespace core
