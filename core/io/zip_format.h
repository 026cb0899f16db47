// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

// Constants of the ZIP file format (APPNOTE 6.3), shared by the reader and the writer.
namespace core::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50U;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50U;
inline constexpr std::uint32_t kEndSignature = 0x06054b50U;
inline constexpr std::uint32_t kZip64EndSignature = 0x06064b50U;
inline constexpr std::uint32_t kZip64LocatorSignature = 0x07064b50U;

inline constexpr std::uint64_t kLocalSize = 30;
inline constexpr std::uint64_t kCentralSize = 46;
inline constexpr std::uint64_t kEndSize = 22;
inline constexpr std::uint64_t kZip64EndSize = 56;
inline constexpr std::uint64_t kZip64LocatorSize = 20;

inline constexpr std::uint16_t kFlagEncrypted = 1U << 0U;
inline constexpr std::uint16_t kFlagDescriptor = 1U << 3U;
inline constexpr std::uint16_t kFlagStrongEncryption = 1U << 6U;
inline constexpr std::uint16_t kFlagUtf8 = 1U << 11U;

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

inline constexpr std::uint16_t kExtraZip64 = 0x0001;
// Filler that moves an entry's data to an aligned offset; the id PyTorch's writer uses for the same purpose.
inline constexpr std::uint16_t kExtraPadding = 0x4246;

inline constexpr std::uint32_t kMax32 = 0xffffffffU;
inline constexpr std::uint16_t kMax16 = 0xffffU;

} // namespace core::zip
