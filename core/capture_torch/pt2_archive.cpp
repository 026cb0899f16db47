// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_archive.h"

#include <optional>
#include <tuple>

namespace core::pt2 {

namespace {

constexpr std::string_view kFlatProgram = "serialized_exported_program.json";
constexpr std::uint64_t kMaxProgramBytes = std::uint64_t(1) << 30U;

Result<std::vector<std::byte>> readEntry(const ZipArchive &zip, const std::string &name)
{
    const ZipEntry *entry = zip.find(name);
    if (entry == nullptr)
        return Status(ErrorCode::corrupt, zip.fileName() + ": no entry " + name).withDetail("missing_record");
    return zip.read(*entry, kMaxProgramBytes);
}

std::string_view asText(const std::vector<std::byte> &bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The folder before "models/NAME.json" and NAME, when ENTRY is such a name.
std::optional<std::pair<std::string, std::string>> programName(std::string_view entry)
{
    constexpr std::string_view kModels = "/models/";
    constexpr std::string_view kJson = ".json";
    const auto at = entry.find(kModels);
    if (at == std::string_view::npos || !entry.ends_with(kJson) ||
        entry.substr(0, at).find('/') != entry.npos)
        return std::nullopt;
    const std::string_view name = entry.substr(at + kModels.size());
    return std::pair(std::string(entry.substr(0, at + 1)),
                     std::string(name.substr(0, name.size() - kJson.size())));
}

std::vector<std::int64_t> fixedSizes(const Value &list)
{
    std::vector<std::int64_t> sizes;
    for (const Value &size : list.toList())
        sizes.push_back(size.isInt() ? size.toInt() : size.at("as_int").toInt(-1));
    return sizes;
}

} // namespace

Result<std::shared_ptr<const Archive>> Archive::open(const std::filesystem::path &path, LoadReport &report)
{
    auto source = openFile(path);
    if (!source)
        return source.error();
    auto zip = ZipArchive::open(*std::move(source), report);
    if (!zip)
        return zip.error();
    std::shared_ptr<Archive> archive(new Archive);
    archive->m_zip = *std::move(zip);
    archive->listNotRead(report);
    if (Status status = archive->findProgram(report); !status)
        return status;
    for (const char *config :
         {"data/weights/%_weights_config.json", "data/weights/%_model_param_config.json",
          "data/constants/%_constants_config.json", "data/constants/%_model_constants_config.json"}) {
        std::string name = archive->m_root + config;
        name.replace(name.find('%'), 1, archive->m_model);
        if (archive->m_zip->find(name) == nullptr)
            continue;
        if (Status status = archive->readConfig(name, report); !status)
            return status;
    }
    return std::shared_ptr<const Archive>(std::move(archive));
}

// Compiled code and pickled objects: told, never opened.
void Archive::listNotRead(LoadReport &report)
{
    for (const ZipEntry &entry : m_zip->entries()) {
        const std::string_view base = entry.name.substr(entry.name.rfind('/') + 1);
        if (entry.name.find("/aotinductor/") != std::string_view::npos || base.ends_with(".so"))
            m_nativeCode.emplace_back(entry.name);
        if (base.starts_with("custom_obj_") || base.starts_with("opaque_obj_"))
            report.add("custom_object",
                       m_zip->fileName() + ": the object in " + std::string(entry.name) + " is never read");
    }
    if (!m_nativeCode.empty())
        report.add("native_code_ignored", m_zip->fileName() + ": " + std::to_string(m_nativeCode.size()) +
                                              " files of compiled code are not loaded, the first is " +
                                              m_nativeCode.front());
}

Status Archive::findProgram(LoadReport &report)
{
    std::string program;
    if (m_zip->find(kFlatProgram) != nullptr) {
        m_generation = Generation::flatZip;
        program = kFlatProgram;
        for (const char *name : {"serialized_state_dict.pt", "serialized_state_dict.json",
                                 "serialized_constants.pt", "serialized_constants.json"})
            if (m_zip->find(name) != nullptr)
                m_dictionaries.emplace_back(name);
        m_sampleEntry = "serialized_example_inputs.pt";
    } else {
        std::size_t programs = 0;
        for (const ZipEntry &entry : m_zip->entries())
            if (const auto found = programName(entry.name); found && ++programs == 1) {
                std::tie(m_root, m_model) = *found;
                program = entry.name;
            }
        if (programs > 1)
            report.add("several_programs", m_zip->fileName() + ": " + std::to_string(programs) +
                                               " programs, only \"" + m_model + "\" is shown");
        for (const char *folder : {"data/weights/", "data/constants/"})
            if (std::string name = m_root + folder + m_model + ".pt"; m_zip->find(name) != nullptr)
                m_dictionaries.push_back(std::move(name));
        m_generation = m_dictionaries.empty() ? Generation::rawRecords : Generation::torchSaveDir;
        m_sampleEntry = m_root + "data/sample_inputs/" + m_model + ".pt";
    }
    if (const ZipEntry *sample = m_zip->find(m_sampleEntry); sample == nullptr || sample->size == 0)
        m_sampleEntry.clear();
    if (program.empty() && !m_nativeCode.empty())
        return Status(ErrorCode::unsupported,
                      m_zip->fileName() + ": an AOTInductor archive, it holds compiled code and no program")
            .withDetail("native_code");
    if (program.empty())
        return Status(ErrorCode::unknownFormat, m_zip->fileName() +
                                                    ": a zip without models/NAME.json, not a file of "
                                                    "torch.export")
            .withDetail("missing_record");
    auto bytes = readEntry(*m_zip, program);
    if (!bytes)
        return bytes.error();
    auto document = parseDocument(asText(*bytes), m_zip->fileName() + ": " + program, report);
    if (!document)
        return document.error();
    m_document = std::make_shared<const Document>(*std::move(document));
    return Status::ok();
}

Status Archive::readConfig(const std::string &entryName, LoadReport &report)
{
    auto bytes = readEntry(*m_zip, entryName);
    if (!bytes)
        return bytes.error();
    auto config = parseJson(asText(*bytes), m_zip->fileName() + ": " + entryName);
    if (!config)
        return config.error();
    const std::string folder = entryName.substr(0, entryName.rfind('/') + 1);
    for (const Value::Member &entry : config->at("config").toObject())
        if (Status status = addRecord(folder, entry, report); !status)
            return status;
    return Status::ok();
}

Status Archive::addRecord(const std::string &folder, const Value::Member &entry, LoadReport &report)
{
    const auto &[name, description] = entry;
    const std::string &path = description.at("path_name").toString();
    if (!isSafeRelativePath(path))
        return Status(ErrorCode::corrupt, m_zip->fileName() + ": the record of \"" + name +
                                              "\" leaves the archive: \"" + path + '"')
            .withDetail("unsafe_path");
    const Value &meta = description.at("tensor_meta");
    if (meta.isNull()) {
        report.add("custom_object", m_zip->fileName() + ": \"" + name + "\" is an object in " + path +
                                        ", which is never read");
        return Status::ok();
    }
    StateRecord record;
    record.name = name;
    record.entry = folder + path;
    record.isParameter = description.at("is_param").toBool();
    record.isPickled = description.at("use_pickle").toBool();
    record.device = deviceText(meta.at("device"));
    record.view.dtype = dtypeFromCode(meta.at("dtype"));
    record.view.sizes = fixedSizes(meta.at("sizes"));
    record.view.strides = fixedSizes(meta.at("strides"));
    const Value &offset = meta.at("storage_offset");
    record.view.offset = offset.isInt() ? offset.toInt() : offset.at("as_int").toInt();
    if (m_zip->find(record.entry) == nullptr)
        report.add("missing_record", m_zip->fileName() + ": \"" + name + "\" should be in " + record.entry +
                                         ", which the archive does not have");
    if (record.view.dtype == DType::unknown)
        report.add("unknown_dtype",
                   m_zip->fileName() + ": \"" + name + "\" has dtype code " + toJson(meta.at("dtype")));
    m_records.push_back(std::move(record));
    return Status::ok();
}

} // namespace core::pt2
