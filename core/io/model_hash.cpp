// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/model_hash.h"

#include "core/io/zip_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>
#include <xxhash.h>

namespace core {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t(1) << 20U;

std::string named(XXH128_hash_t hash)
{
    return fmt::format("xxh3-128:{:016x}{:016x}", hash.high64, hash.low64);
}

bool hasChecksums(const ZipArchive &archive)
{
    return std::all_of(archive.entries().begin(), archive.entries().end(),
                       [](const ZipEntry &entry) { return entry.size == 0 || entry.crc != 0; });
}

std::string hashOfDirectory(const ZipArchive &archive)
{
    std::string text;
    for (const ZipEntry &entry : archive.entries())
        text += fmt::format("{} {} {:08x}\n", entry.name, entry.size, entry.crc);
    return named(XXH3_128bits(text.data(), text.size()));
}

Result<std::string> hashOfBytes(const ByteSource &source, const JobContext &job)
{
    // The state of a running hash wants an alignment that its own allocation gives.
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(XXH3_createState(),
                                                                                 XXH3_freeState);
    if (state == nullptr)
        return Status(ErrorCode::limitExceeded, "there is not enough memory to hash " + source.name());
    XXH3_128bits_reset(state.get());
    std::vector<std::byte> piece;
    for (std::uint64_t at = 0; at < source.size(); at += piece.size()) {
        if (Status status = job.checkpoint("hashing the model"); !status)
            return status;
        piece.resize(std::min(kPiece, source.size() - at));
        if (Status status = source.readAt(at, piece); !status)
            return status;
        XXH3_128bits_update(state.get(), piece.data(), piece.size());
    }
    return named(XXH3_128bits_digest(state.get()));
}

} // namespace

Result<std::string> modelHash(const std::filesystem::path &path, const JobContext &job)
{
    const auto source = openFile(path);
    if (!source)
        return source.error();
    LoadReport report;
    const auto archive = ZipArchive::open(*source, report);
    return archive && hasChecksums(**archive) ? Result<std::string>(hashOfDirectory(**archive))
                                              : hashOfBytes(**source, job);
}

} // namespace core
