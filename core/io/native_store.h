// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/zip_reader.h"
#include "core/trace/tensor_store.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace core {

// The payloads and source texts of a native trace, read from the archive's file by range. Where an entry's
// data begin is found when it is first used; the CRC of entries up to 1 MiB is checked then too (that of
// larger ones only by verify). Thread safe.
class NativeStore final : public TensorStore
{
public:
    explicit NativeStore(std::shared_ptr<const ZipArchive> archive) : m_archive(std::move(archive)) {}

    Status read(std::string_view entry, std::uint64_t offset, std::span<std::byte> out) const override;
    std::span<const std::byte> view(std::string_view entry, std::uint64_t offset,
                                    std::uint64_t length) const override;
    Result<std::string> text(std::string_view entry, std::uint64_t limit) const override;
    Status verify(std::string_view entry, const JobContext &job) const override;

private:
    struct Place
    {
        std::shared_ptr<const ByteSource> source;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };
    Result<Place> place(std::string_view entry) const;

    std::shared_ptr<const ZipArchive> m_archive;
    mutable std::mutex m_mutex;
    mutable std::unordered_map<std::string_view, Place> m_places; // names live in the archive
};

} // namespace core
