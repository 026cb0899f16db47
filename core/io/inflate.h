// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace core {

// Raw deflate data to exactly SIZE bytes; corrupt when the stream is damaged or has another length. NAME is
// for messages.
Result<std::vector<std::byte>> inflateRaw(const ByteSource &compressed, std::uint64_t size,
                                          std::string_view name);
// A whole gzip file (RFC 1952, concatenated members allowed) with its CRC checked. limitExceeded (detail
// decompression_limit) above MAXIMUM bytes or above RATIO times the compressed size; corrupt (detail
// truncated) when it ends too early.
struct GzipLimits
{
    std::uint64_t maximum = std::uint64_t(4) << 30U;
    std::uint64_t ratio = 200;
    std::uint64_t ratioFreeBytes = std::uint64_t(1) << 20U;
};
Result<std::vector<std::byte>> gunzip(const ByteSource &source, const GzipLimits &limits = {});
bool looksLikeGzip(std::span<const std::byte> head);

// CRC-32 of zip and gzip, continued from CRC (0 at the start).
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

} // namespace core
