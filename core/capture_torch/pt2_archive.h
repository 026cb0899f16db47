// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/capture_torch/pt2_json.h"
#include "core/capture_torch/storage_view.h"
#include "core/io/zip_reader.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace core::pt2 {

// The three ways in which torch.export.save laid out its archives.
enum class Generation {
    flatZip,      // 2.1 to 2.7: entries at the root, weights as torch.save files
    torchSaveDir, // 2.8: one root folder, weights still as torch.save files
    rawRecords,   // 2.9 and later: one root folder, raw records with JSON configurations
};

// One tensor as the configuration of a rawRecords archive states it.
struct StateRecord
{
    std::string name;
    std::string entry; // of the archive
    bool isParameter = false;
    bool isPickled = false; // a torch.save stream: a tensor subclass
    StorageView view;
    std::string device;
};

// A .pt2 file opened: its program document is read, its weights are not. Immutable, thread safe. Nothing in
// the file is executed; native code in it (AOTInductor) is listed and never loaded.
class Archive
{
public:
    // Errors: what ZipArchive says; unknownFormat when it is no torch.export archive; parseDocument's;
    // corrupt with unsafe_path; unsupported with native_code when there is compiled code and no program.
    // Notes in REPORT: missing_record, unknown_dtype, custom_object, native_code_ignored, several_programs
    // and parseDocument's.
    static Result<std::shared_ptr<const Archive>> open(const std::filesystem::path &path, LoadReport &report);

    const std::shared_ptr<const Document> &document() const { return m_document; }
    Generation generation() const { return m_generation; }
    const std::string &modelName() const { return m_model; }
    const std::vector<StateRecord> &records() const { return m_records; } // rawRecords only
    const std::vector<std::string> &nativeCode() const { return m_nativeCode; }

    // Entries that are torch.save files with parameters, buffers, constants (the older generations).
    const std::vector<std::string> &dictionaries() const { return m_dictionaries; }
    // The torch.save file with the inputs the model was exported with; empty when there is none.
    const std::string &sampleEntry() const { return m_sampleEntry; }
    const ZipArchive &zip() const { return *m_zip; }

private:
    Archive() = default;

    Status findProgram(LoadReport &report);
    Status readConfig(const std::string &entryName, LoadReport &report);
    Status addRecord(const std::string &folder, const Value::Member &entry, LoadReport &report);
    void listNotRead(LoadReport &report);

    std::shared_ptr<const ZipArchive> m_zip;
    std::shared_ptr<const Document> m_document;
    Generation m_generation = Generation::rawRecords;
    std::string m_root; // "model/", or empty
    std::string m_model;
    std::vector<StateRecord> m_records;
    std::vector<std::string> m_dictionaries; // torch.save files with state
    std::string m_sampleEntry;
    std::vector<std::string> m_nativeCode;
};

} // namespace core::pt2
