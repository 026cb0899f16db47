// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/inflate.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace core {
namespace {

constexpr std::size_t kChunk = std::size_t(256) << 10U;

// Owns a zlib stream and feeds it from a byte source in chunks.
class Inflater
{
public:
    explicit Inflater(const ByteSource &source) : m_source(source), m_buffer(kChunk) {}
    ~Inflater()
    {
        if (m_ready)
            inflateEnd(&m_stream);
    }
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;

    bool init(int windowBits)
    {
        m_ready = inflateInit2(&m_stream, windowBits) == Z_OK;
        return m_ready;
    }
    bool restart() { return inflateReset(&m_stream) == Z_OK; }
    bool isInputUsedUp() const { return m_stream.avail_in == 0 && m_read == m_source.size(); }

    Status refill()
    {
        if (m_stream.avail_in != 0 || m_read == m_source.size())
            return Status::ok();
        const auto length = std::min<std::uint64_t>(kChunk, m_source.size() - m_read);
        if (Status status = m_source.readAt(m_read, std::span(m_buffer).first(length)); !status)
            return status;
        m_read += length;
        m_stream.next_in = reinterpret_cast<Bytef *>(m_buffer.data());
        m_stream.avail_in = static_cast<uInt>(length);
        return Status::ok();
    }
    // zlib's code; WRITTEN counts what was added to OUT.
    int step(std::span<std::byte> out, std::size_t &written)
    {
        const auto room = std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max());
        m_stream.next_out = reinterpret_cast<Bytef *>(out.data());
        m_stream.avail_out = static_cast<uInt>(room);
        const int code = ::inflate(&m_stream, Z_NO_FLUSH);
        written = room - m_stream.avail_out;
        return code;
    }

private:
    const ByteSource &m_source;
    std::vector<std::byte> m_buffer;
    z_stream m_stream = {};
    std::uint64_t m_read = 0;
    bool m_ready = false;
};

Status damaged(std::string_view name, std::uint64_t at)
{
    return Status(ErrorCode::corrupt,
                  fmt::format("{}: the compressed data are damaged after {} bytes", name, at))
        .withDetail("bad_deflate");
}

Status tooLarge(std::string_view name, std::uint64_t size, std::uint64_t compressed)
{
    return Status(ErrorCode::limitExceeded,
                  fmt::format("{}: {} compressed bytes expand to more than {} bytes", name, compressed, size))
        .withDetail("decompression_limit");
}

// One gzip member appended to OUT.
Status inflateMember(Inflater &inflater, const ByteSource &source, std::uint64_t allowed,
                     std::vector<std::byte> &out)
{
    for (std::size_t filled = out.size();;) {
        if (Status status = inflater.refill(); !status)
            return status;
        const std::size_t room = std::max(kChunk, std::min(out.size(), std::size_t(64) << 20U));
        out.resize(filled + std::min<std::uint64_t>(room, allowed + 1 - filled));
        std::size_t written = 0;
        const int code = inflater.step(std::span(out).subspan(filled), written);
        filled += written;
        out.resize(filled);
        if (code == Z_STREAM_END)
            return Status::ok();
        if (code != Z_OK && code != Z_BUF_ERROR)
            return damaged(source.name(), filled);
        if (filled > allowed)
            return tooLarge(source.name(), allowed, source.size());
        if (inflater.isInputUsedUp() && written == 0)
            return Status(ErrorCode::corrupt,
                          fmt::format("{}: the gzip data end after {} bytes", source.name(), source.size()))
                .withDetail("truncated");
    }
}

} // namespace

Result<std::vector<std::byte>> inflateRaw(const ByteSource &compressed, std::uint64_t size,
                                          std::string_view name)
{
    Inflater inflater(compressed);
    if (!inflater.init(-MAX_WBITS))
        return Status(ErrorCode::internal, fmt::format("{}: zlib does not start", name));
    // One byte of room beyond the stated size shows a stream that is longer than stated.
    std::vector<std::byte> out(size + 1);
    std::size_t filled = 0;
    for (;;) {
        if (Status status = inflater.refill(); !status)
            return status;
        std::size_t written = 0;
        const int code = inflater.step(std::span(out).subspan(filled), written);
        filled += written;
        if (code == Z_STREAM_END)
            break;
        if (filled > size || (code != Z_OK && code != Z_BUF_ERROR) ||
            (written == 0 && inflater.isInputUsedUp()))
            return damaged(name, filled);
    }
    if (filled != size)
        return Status(ErrorCode::corrupt,
                      fmt::format("{}: expands to {} bytes, the directory says {}", name, filled, size))
            .withDetail("bad_deflate");
    out.resize(size);
    return out;
}

Result<std::vector<std::byte>> gunzip(const ByteSource &source, const GzipLimits &limits)
{
    Inflater inflater(source);
    if (!inflater.init(MAX_WBITS + 16))
        return Status(ErrorCode::internal, fmt::format("{}: zlib does not start", source.name()));
    const std::uint64_t byRatio = std::max(limits.ratioFreeBytes, source.size() * limits.ratio);
    const std::uint64_t allowed = std::min(limits.maximum, byRatio);
    std::vector<std::byte> out;
    do {
        if (Status status = inflateMember(inflater, source, allowed, out); !status)
            return status;
        if (!inflater.restart())
            return damaged(source.name(), out.size());
    } while (!inflater.isInputUsedUp());
    return out;
}

bool looksLikeGzip(std::span<const std::byte> head)
{
    return head.size() >= 3 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b} &&
           head[2] == std::byte{8};
}

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes)
{
    return bytes.empty() ? crc : ::libdeflate_crc32(crc, bytes.data(), bytes.size());
}

} // namespace core
