// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_index.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/npy.h"
#include "core/io/zip_writer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <unordered_map>

namespace core {
namespace {

constexpr std::uint64_t kMostText = std::uint64_t(256) << 20U;

// The checks of one file, a member function each; what is wrong becomes a finding, only a cancel or an
// unreadable device ends the work.
class Verifier
{
public:
    Verifier(NativeParts parts, const JobContext &job) : m_parts(std::move(parts)), m_job(job) {}

    Result<VerifyResult> run()
    {
        m_result.hasFinal = m_parts.hasFinal;
        addNotes(m_parts.report);
        m_parts.report = {};
        for (const auto step : {&Verifier::checkEntries, &Verifier::checkRecords, &Verifier::checkIndex,
                                &Verifier::checkPayloads, &Verifier::checkSources})
            if (Status status = (this->*step)(); !status)
                return status;
        return std::move(m_result);
    }

private:
    void find(std::string_view token, std::string subject, std::string message)
    {
        m_result.findings.push_back({std::string(token), std::move(subject), std::move(message)});
    }
    void addNotes(const LoadReport &notes)
    {
        for (const LoadReport::Note &note : notes.notes())
            find(note.token, m_parts.archive->fileName(),
                 note.count == 1 ? note.message
                                 : fmt::format("{} (and {} more)", note.message, note.count - 1));
    }

    Status checkEntries();
    Status checkRecords();
    Status checkIndex();
    Status checkPayloads();
    Status checkSources();
    void checkPayloadEntry(const ZipEntry &entry);
    void checkPayload(std::size_t index, const TensorRow &row);

    NativeParts m_parts;
    const JobContext &m_job;
    VerifyResult m_result;
    TraceTables m_tables;
    std::unordered_map<std::string_view, std::uint64_t> m_dataBytes; // of payload entries
};

Status Verifier::checkEntries()
{
    const auto &entries = m_parts.archive->entries();
    for (const ZipEntry &entry : entries) {
        m_job.report("checking entries", m_result.entries, entries.size());
        ++m_result.entries;
        const Status status = m_parts.archive->verify(entry, m_job);
        if (status.code() == ErrorCode::cancelled || status.code() == ErrorCode::unreadable)
            return status;
        if (!status)
            find(status.detail().empty() ? "bad_entry" : status.detail(), std::string(entry.name),
                 status.message());
        else if (entry.name.starts_with("tensors/"))
            checkPayloadEntry(entry);
    }
    return m_job.checkpoint("checking entries");
}

void Verifier::checkPayloadEntry(const ZipEntry &entry)
{
    const auto offset = m_parts.archive->dataOffset(entry);
    if (entry.isStored() && offset && *offset % ZipWriter::kDefaultAlignment != 0)
        find("misaligned", std::string(entry.name),
             fmt::format("the data begin at byte {}, no multiple of {}", *offset,
                         ZipWriter::kDefaultAlignment));
    const auto source = m_parts.archive->open(entry);
    const auto header = source ? readNpyHeader(**source) : Result<NpyInfo>(source.status());
    if (!header) {
        find("bad_npy", std::string(entry.name), header.error().message());
        return;
    }
    m_dataBytes.emplace(entry.name, header->dataBytes);
    m_result.payloadBytes += header->dataBytes;
}

Status Verifier::checkRecords()
{
    auto tables = tablesFromRecords(m_parts, m_job, &m_result.records);
    if (!tables)
        return tables.status();
    m_tables = std::move(*tables);
    addNotes(m_parts.report);
    if (!m_parts.hasFinal)
        return Status::ok();
    const ZipEntry *entry = m_parts.archive->find("final.json");
    const auto bytes = m_parts.archive->read(*entry, kMostText);
    if (!bytes)
        return Status::ok(); // found as an entry
    const auto final =
        parseJson({reinterpret_cast<const char *>(bytes->data()), bytes->size()}, "final.json");
    const std::int64_t counted = final ? final->at("counts").at("records").toInt(-1) : -1;
    if (counted != static_cast<std::int64_t>(m_result.records))
        find("count_differs", "final.json",
             fmt::format("{} records are said to be in the file, {} are", counted, m_result.records));
    return Status::ok();
}

Status Verifier::checkIndex()
{
    const ZipEntry *entry = m_parts.archive->find(kIndexEntry);
    m_result.hasIndex = entry != nullptr;
    const auto bytes = entry == nullptr ? Result<std::vector<std::byte>>(std::vector<std::byte>())
                                        : m_parts.archive->read(*entry, std::uint64_t(4) << 30U);
    if (entry == nullptr || !bytes)
        return Status::ok();
    IndexFacts facts;
    const auto tables = decodeIndex(*bytes, kIndexEntry, facts);
    if (!tables) {
        find("bad_index", std::string(kIndexEntry), tables.error().message());
        return Status::ok();
    }
    // The notes are the writer's own; everything else follows from the records.
    if (encodeIndex(m_tables, {facts.segments, facts.notes}) != *bytes)
        find("index_differs", std::string(kIndexEntry), "the index is not the one that the records give");
    return Status::ok();
}

Status Verifier::checkPayloads()
{
    for (std::size_t i = 0; i < m_tables.tensors.size(); ++i)
        if (m_tables.tensors[i].payload.state == PayloadState::saved)
            checkPayload(i, m_tables.tensors[i]);
    return m_job.checkpoint("checking payloads");
}

void Verifier::checkPayload(std::size_t index, const TensorRow &row)
{
    const std::string_view entry = m_tables.strings.view(row.payload.entry);
    const auto found = m_dataBytes.find(entry);
    if (found == m_dataBytes.end()) {
        find("missing_payload", fmt::format("tensor {}", index),
             fmt::format("entry {} is not in the file or is damaged", entry));
        return;
    }
    const PayloadRow &payload = row.payload;
    if (payload.offset > found->second || payload.bytes > found->second - payload.offset) {
        find("missing_payload", fmt::format("tensor {}", index),
             fmt::format("bytes {} to {} of entry {} are meant, it has {}", payload.offset,
                         payload.offset + payload.bytes, entry, found->second));
        return;
    }
    std::uint64_t needed = itemSize(row.dtype);
    for (std::uint32_t d = 0; d < row.shape.count; ++d)
        needed *= static_cast<std::uint64_t>(m_tables.integers[row.shape.begin + d]);
    if (payload.contiguous && row.dtype != DType::unknown && row.shapeKnown && needed != payload.bytes)
        find("payload_size", fmt::format("tensor {}", index),
             fmt::format("payload is {} bytes, shape needs {}", payload.bytes, needed));
}

Status Verifier::checkSources()
{
    for (const SourceRow &row : m_tables.sources) {
        const std::string_view name = m_tables.strings.view(row.entry);
        const std::string_view hash = m_tables.strings.view(row.hash);
        if (name.empty())
            continue;
        const ZipEntry *entry = m_parts.archive->find(name);
        if (entry == nullptr) {
            find("missing_source", std::string(name), "the source text is not in the file");
            continue;
        }
        const auto text = m_parts.archive->read(*entry, kMostText);
        if (!text || hash.empty())
            continue;
        const XXH128_hash_t is = XXH3_128bits(text->data(), text->size());
        if (fmt::format("{:016x}{:016x}", is.high64, is.low64) != hash)
            find("hash_differs", std::string(name), fmt::format("the text has not the hash {}", hash));
    }
    return m_job.checkpoint("checking sources");
}

} // namespace

Result<VerifyResult> verifyTrace(const std::filesystem::path &path, const JobContext &job)
{
    auto source = openFile(path);
    if (!source)
        return source.status();
    auto parts = openNativeParts(std::move(*source));
    if (!parts)
        return parts.status();
    return Verifier(std::move(*parts), job).run();
}

} // namespace core
