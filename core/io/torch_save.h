// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/io/pickle.h"
#include "core/io/stored_tensor.h"
#include "core/io/zip_reader.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace core {

// The bytes behind one key of a torch.save file. Tensors with the same KEY share memory.
struct TorchStorage
{
    std::string key;
    DType dtype = DType::unknown; // of a typed storage class; unknown for untyped ones
    bool isUntyped = false;
    std::string className;
    std::shared_ptr<const ByteSource> bytes; // null: the record is missing
};

// A file of torch.save (zip form, or the legacy form before PyTorch 1.6) or a TorchScript archive: its object
// as an inert graph and its storages. Nothing is imported or called. Thread safe.
class TorchFile
{
public:
    // Errors carry the tokens of the zip reader and of the pickle, or truncated, unknown_format.
    static Result<std::shared_ptr<const TorchFile>> openZip(std::shared_ptr<const ZipArchive> archive);
    static Result<std::shared_ptr<const TorchFile>> openLegacy(std::shared_ptr<const ByteSource> source);

    PickleValue root() const { return m_graph->root(); }
    const PickleGraph &graph() const { return *m_graph; }
    bool isBigEndian() const { return m_bigEndian; }
    const std::string &name() const { return m_name; }

    // The storage that a persistent id ("storage", class, key, location, count) names. corrupt when it is no
    // such id or the record is shorter than the id says (tensor_out_of_bounds).
    Result<TorchStorage> storage(PickleValue persistentId) const;
    // Reads all storages once and compares their CRCs; ok for legacy files, which have none.
    Status verifyStorages(const JobContext &context) const;
    std::uint64_t storageBytes() const;

private:
    TorchFile() = default;
    Status readLegacy(const std::shared_ptr<const ByteSource> &source);
    Status readLegacyStorages(const std::shared_ptr<const ByteSource> &source, PickleValue keys,
                              std::uint64_t at);

    std::string m_name;
    std::shared_ptr<const PickleGraph> m_graph;
    std::shared_ptr<const ZipArchive> m_archive; // null for legacy files
    std::string m_prefix;
    Result<std::shared_ptr<const ByteSource>> openRecord(const std::string &key) const;

    std::unordered_map<std::string, std::shared_ptr<const ByteSource>> m_storages; // legacy
    // Records that are in use: a compressed one is expanded once for all tensors that share it.
    mutable std::mutex m_mutex;
    mutable std::unordered_map<std::string, std::weak_ptr<const ByteSource>> m_open;
    bool m_bigEndian = false;
};

// "torch.FloatStorage" -> float32; nullopt for classes that are not known, DType::unknown for untyped
// storages.
std::optional<DType> dtypeOfStorageClass(std::string_view module, std::string_view name);

} // namespace core
