// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/job_context.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace core {

// SHA-256 (FIPS 180-4) of bytes given in pieces. Lives on one thread.
class Sha256
{
public:
    void add(std::span<const std::byte> bytes);
    std::string hexDigest(); // 64 lower-case digits; ends the calculation

private:
    void addBlocks(const std::byte *blocks, std::size_t count);

    std::array<std::uint32_t, 8> m_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> m_pending = {};
    std::size_t m_pendingSize = 0;
    std::uint64_t m_size = 0;
};

// Of a whole source, read in chunks.
Result<std::string> sha256Of(const ByteSource &source, const JobContext &context);

} // namespace core
