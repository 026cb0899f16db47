// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/load_report.h"
#include "core/io/tlspec_files.h"
#include "core/io/tlspec_manifest.h"
#include "core/trace/tensor_store.h"

#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace core {

// The payloads of a TorchLens bundle, each in a safetensors file of its own, opened when it is first read:
// then its hash is compared with the manifest's and its header with dtype and shape (corrupt with detail
// hash_mismatch or size_mismatch). A few files stay open. Source texts are kept in memory. Thread safe.
class TlspecStore final : public TensorStore
{
public:
    TlspecStore(std::shared_ptr<const TlspecFiles> files, std::shared_ptr<const TlspecManifest> manifest);

    // Texts by entry name, given before the store is shared.
    void addText(std::string entry, std::string text) { m_texts.emplace(std::move(entry), std::move(text)); }

    // Checks tensor files ahead of their first reading, in the manifest's order, as far as ATMOST bytes go:
    // what was changed since it was written is a note (hash_mismatch, size_mismatch).
    void checkAhead(std::uint64_t atMost, LoadReport &report) const;

    Status read(std::string_view entry, std::uint64_t offset, std::span<std::byte> out) const override;
    std::span<const std::byte> view(std::string_view, std::uint64_t, std::uint64_t) const override
    {
        return {};
    }
    Result<std::string> text(std::string_view entry, std::uint64_t limit) const override;

private:
    struct Data
    {
        std::string entry;
        std::shared_ptr<const ByteSource> bytes; // the data section
    };
    Result<std::shared_ptr<const ByteSource>> data(std::string_view entry) const;
    Result<std::shared_ptr<const ByteSource>> openBlob(const TlspecBlob &blob) const;

    std::shared_ptr<const TlspecFiles> m_files;
    std::shared_ptr<const TlspecManifest> m_manifest;
    std::map<std::string, std::string, std::less<>> m_texts;
    std::unordered_map<std::string_view, std::size_t> m_byPath;
    mutable std::mutex m_mutex;
    mutable std::list<Data> m_open;        // most recently used first
    mutable std::vector<bool> m_isChecked; // by blob: its hash was right
};

} // namespace core
