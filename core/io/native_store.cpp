// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_store.h"

#include "core/io/npy.h"

#include <fmt/format.h>

namespace core {
namespace {

constexpr std::uint64_t kCheckedAtOnce = std::uint64_t(1) << 20U;

Status absent(const ZipArchive &archive, std::string_view entry)
{
    return {ErrorCode::notFound, fmt::format("entry {} is not in {}", entry, archive.fileName())};
}

} // namespace

Result<NativeStore::Place> NativeStore::place(std::string_view entry) const
{
    const ZipEntry *found = m_archive->find(entry);
    if (found == nullptr)
        return absent(*m_archive, entry);
    {
        const std::scoped_lock lock(m_mutex);
        if (const auto known = m_places.find(found->name); known != m_places.end())
            return known->second;
    }
    const auto source = m_archive->open(*found);
    if (!source)
        return source.status();
    if (found->isStored() && found->size <= kCheckedAtOnce)
        if (Status status = m_archive->verify(*found, JobContext()); !status)
            return status;
    const auto header = readNpyHeader(**source);
    if (!header)
        return header.status();
    const Place place{*source, header->dataOffset, header->dataBytes};
    const std::scoped_lock lock(m_mutex);
    m_places.emplace(found->name, place);
    return place;
}

Status NativeStore::read(std::string_view entry, std::uint64_t offset, std::span<std::byte> out) const
{
    const auto found = place(entry);
    if (!found)
        return found.status();
    if (offset > found->bytes || out.size() > found->bytes - offset)
        return {ErrorCode::corrupt, fmt::format("entry {}: bytes {} to {} are asked for, it has {}", entry,
                                                offset, offset + out.size(), found->bytes)};
    return found->source->readAt(found->offset + offset, out);
}

Status NativeStore::verify(std::string_view entry, const JobContext &job) const
{
    const ZipEntry *found = m_archive->find(entry);
    if (found == nullptr)
        return absent(*m_archive, entry);
    return found->size <= kCheckedAtOnce ? Status::ok() : m_archive->verify(*found, job);
}

std::span<const std::byte> NativeStore::view(std::string_view entry, std::uint64_t offset,
                                             std::uint64_t length) const
{
    const auto found = place(entry);
    if (!found || offset > found->bytes || length > found->bytes - offset)
        return {};
    return found->source->view(found->offset + offset, length);
}

Result<std::string> NativeStore::text(std::string_view entry, std::uint64_t limit) const
{
    const ZipEntry *found = m_archive->find(entry);
    if (found == nullptr)
        return absent(*m_archive, entry);
    const auto bytes = m_archive->read(*found, limit);
    if (!bytes)
        return bytes.status();
    return std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size());
}

} // namespace core
