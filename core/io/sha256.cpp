// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace core {
namespace {

alignas(16) constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void plainBlocks(std::array<std::uint32_t, 8> &state, const std::byte *block, std::size_t count)
{
    for (; count > 0; --count, block += 64) {
        std::uint32_t w[64];
        for (int i = 0; i < 16; ++i) {
            std::uint32_t word = 0;
            std::memcpy(&word, block + 4 * i, 4);
            w[i] = __builtin_bswap32(word);
        }
        for (int i = 16; i < 64; ++i) {
            const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
            const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto [a, b, c, d, e, f, g, h] = state;
        for (int i = 0; i < 64; ++i) {
            const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
            const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
            const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
            const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < state.size(); ++i)
            state[i] += add[i];
    }
}

#if defined(__x86_64__)
// The same with the processor's SHA instructions: four rounds a step, the schedule kept in four registers.
__attribute__((target("sha,sse4.1"))) void shaBlocks(std::array<std::uint32_t, 8> &state,
                                                     const std::byte *block, std::size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i *constants = reinterpret_cast<const __m128i *>(kRound);
    __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i *>(&state[0]));
    __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i *>(&state[4]));
    low = _mm_shuffle_epi32(low, 0xb1);
    high = _mm_shuffle_epi32(high, 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; --count, block += 64) {
        const __m128i oldAbef = abef;
        const __m128i oldCdgh = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; ++i)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(block) + i), swap);
        for (int step = 0; step < 16; ++step) {
            if (step >= 4) {
                __m128i next = _mm_sha256msg1_epu32(w[step % 4], w[(step + 1) % 4]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(w[(step + 3) % 4], w[(step + 2) % 4], 4));
                w[step % 4] = _mm_sha256msg2_epu32(next, w[(step + 3) % 4]);
            }
            const __m128i message = _mm_add_epi32(w[step % 4], _mm_load_si128(constants + step));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, message);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(message, 0x0e));
        }
        abef = _mm_add_epi32(abef, oldAbef);
        cdgh = _mm_add_epi32(cdgh, oldCdgh);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(&state[0]), _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(&state[4]), _mm_alignr_epi8(high, low, 8));
}

bool hasShaInstructions()
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
    return (b & (1U << 29U)) != 0 && __builtin_cpu_supports("sse4.1");
}
#endif

} // namespace

void Sha256::addBlocks(const std::byte *blocks, std::size_t count)
{
#if defined(__x86_64__)
    static const bool kHasSha = hasShaInstructions();
    if (kHasSha) {
        shaBlocks(m_state, blocks, count);
        return;
    }
#endif
    plainBlocks(m_state, blocks, count);
}

void Sha256::add(std::span<const std::byte> bytes)
{
    m_size += bytes.size();
    if (m_pendingSize > 0) {
        const std::size_t take = std::min(bytes.size(), m_pending.size() - m_pendingSize);
        std::copy_n(bytes.begin(), take, m_pending.begin() + static_cast<std::ptrdiff_t>(m_pendingSize));
        m_pendingSize += take;
        bytes = bytes.subspan(take);
        if (m_pendingSize < m_pending.size())
            return;
        addBlocks(m_pending.data(), 1);
        m_pendingSize = 0;
    }
    const std::size_t whole = bytes.size() / m_pending.size();
    addBlocks(bytes.data(), whole);
    const auto rest = bytes.subspan(whole * m_pending.size());
    std::copy(rest.begin(), rest.end(), m_pending.begin());
    m_pendingSize = rest.size();
}

std::string Sha256::hexDigest()
{
    const std::uint64_t bits = m_size * 8;
    const std::array<std::byte, 72> padding = {std::byte{0x80}};
    const std::size_t length = (m_pendingSize < 56 ? 56 : 120) - m_pendingSize;
    add(std::span(padding).first(length));
    std::array<std::byte, 8> size;
    for (std::size_t i = 0; i < size.size(); ++i)
        size[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
    add(size);
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint32_t word : m_state)
        for (int shift = 28; shift >= 0; shift -= 4)
            text += kDigits[(word >> static_cast<unsigned>(shift)) & 15U];
    return text;
}

Result<std::string> sha256Of(const ByteSource &source, const JobContext &context)
{
    Sha256 hash;
    std::vector<std::byte> chunk(std::min<std::uint64_t>(source.size(), std::uint64_t(1) << 20U));
    for (std::uint64_t at = 0; at < source.size(); at += chunk.size()) {
        if (Status status = context.checkpoint("hashing " + source.name()); !status)
            return status;
        const auto part = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), source.size() - at));
        if (Status status = source.readAt(at, part); !status)
            return status;
        hash.add(part);
    }
    return hash.hexDigest();
}

} // namespace core
