// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tlspec_store.h"

#include "core/io/safetensors.h"
#include "core/io/sha256.h"

#include <fmt/format.h>

namespace core {
namespace {

constexpr std::size_t kOpenFiles = 32;

} // namespace

TlspecStore::TlspecStore(std::shared_ptr<const TlspecFiles> files,
                         std::shared_ptr<const TlspecManifest> manifest)
    : m_files(std::move(files)), m_manifest(std::move(manifest)), m_isChecked(m_manifest->blobs.size())
{
    for (std::size_t i = 0; i < m_manifest->blobs.size(); ++i)
        m_byPath.emplace(m_manifest->blobs[i].path, i);
}

void TlspecStore::checkAhead(std::uint64_t atMost, LoadReport &report) const
{
    for (const TlspecBlob &blob : m_manifest->blobs) {
        const auto file = m_files->open(blob.path);
        if (!file || (*file)->size() > atMost)
            continue;
        atMost -= (*file)->size();
        const Status status = data(blob.path).status();
        if (const std::string &damage = status.detail();
            damage == "hash_mismatch" || damage == "size_mismatch")
            report.add(damage, status.message());
    }
}

Status TlspecStore::read(std::string_view entry, std::uint64_t offset, std::span<std::byte> out) const
{
    const auto bytes = data(entry);
    return bytes ? (*bytes)->readAt(offset, out) : bytes.status();
}

Result<std::string> TlspecStore::text(std::string_view entry, std::uint64_t limit) const
{
    const auto found = m_texts.find(entry);
    if (found == m_texts.end())
        return Status(ErrorCode::notFound, fmt::format("{}: no source text {}", m_files->name(), entry));
    return found->second.substr(0, limit);
}

Result<std::shared_ptr<const ByteSource>> TlspecStore::data(std::string_view entry) const
{
    std::size_t blob = 0;
    bool checked = false;
    {
        const std::lock_guard lock(m_mutex);
        for (auto at = m_open.begin(); at != m_open.end(); ++at)
            if (at->entry == entry) {
                m_open.splice(m_open.begin(), m_open, at);
                return m_open.front().bytes;
            }
        const auto found = m_byPath.find(entry);
        if (found == m_byPath.end())
            return Status(ErrorCode::notFound, fmt::format("{}: no tensor file {}", m_files->name(), entry));
        blob = found->second;
        checked = m_isChecked[blob];
    }
    // Hashing may take long: several threads may do the same work once, none waits for another.
    const TlspecBlob &wanted = m_manifest->blobs[blob];
    auto bytes = checked ? openBlob(wanted) : [&]() -> Result<std::shared_ptr<const ByteSource>> {
        const auto file = m_files->open(wanted.path);
        if (!file)
            return file.status();
        const auto hash = sha256Of(**file, JobContext());
        if (!hash)
            return hash.status();
        if (!wanted.sha256.empty() && *hash != wanted.sha256)
            return Status(ErrorCode::corrupt, fmt::format("{}/{}: SHA-256 is {}, the manifest says {}",
                                                          m_files->name(), wanted.path, *hash, wanted.sha256))
                .withDetail("hash_mismatch");
        return openBlob(wanted);
    }();
    if (!bytes)
        return bytes;
    const std::lock_guard lock(m_mutex);
    m_isChecked[blob] = true;
    m_open.push_front({std::string(entry), *bytes});
    if (m_open.size() > kOpenFiles)
        m_open.pop_back();
    return bytes;
}

Result<std::shared_ptr<const ByteSource>> TlspecStore::openBlob(const TlspecBlob &blob) const
{
    const auto file = m_files->open(blob.path);
    if (!file)
        return file.status();
    LoadReport ignored;
    const auto header = readSafetensors(**file, ignored);
    if (!header)
        return header.status();
    const bool fits = header->tensors.size() == 1 && header->tensors.front().name == "data" &&
                      header->tensors.front().dtype == blob.dtype &&
                      header->tensors.front().shape == blob.shape;
    if (!fits)
        return Status(ErrorCode::corrupt,
                      fmt::format("{}/{}: the file does not hold the one tensor that the manifest describes",
                                  m_files->name(), blob.path))
            .withDetail("size_mismatch");
    const SafetensorsEntry &tensor = header->tensors.front();
    return sliceSource(*file, tensor.offset, tensor.bytes, (*file)->name());
}

} // namespace core
