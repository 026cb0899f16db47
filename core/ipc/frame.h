// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace core {

inline constexpr std::size_t kMaximumFramePayload = std::size_t(16) << 20;
inline constexpr std::size_t kFrameHeaderBytes = 6;

// One message between the window (or the command line) and a worker. On the pipe: the length of the payload
// in 32 bits (at most 16 MiB), the type in 16, the payload; little endian.
struct Frame
{
    std::uint16_t type = 0;
    std::vector<std::byte> payload;

    bool operator==(const Frame &) const = default;
};

// Header and payload in one buffer. limitExceeded when the payload is over 16 MiB.
Result<std::vector<std::byte>> encodeFrame(std::uint16_t type, std::span<const std::byte> payload);

// Cuts a stream of bytes that arrive in any portions into frames. Not thread safe. After a length over the
// limit it is broken for good: a stream that lies about lengths has no next frame.
class FrameParser
{
public:
    void feed(std::span<const std::byte> bytes);
    // The next whole frame, nothing when more bytes are needed, protocol when the stream is broken.
    Result<std::optional<Frame>> next();
    std::size_t buffered() const { return m_buffer.size() - m_start; }

private:
    std::vector<std::byte> m_buffer;
    std::size_t m_start = 0;
};

// Blocking, restarted after signals. Writing needs SIGPIPE ignored (Worker does); unreadable when the other
// end is closed.
Status writeFrame(int descriptor, std::uint16_t type, std::span<const std::byte> payload);
// Nothing at a clean end of input; protocol when the input ends inside a frame or a length is over the limit.
Result<std::optional<Frame>> readFrame(int descriptor);

} // namespace core
