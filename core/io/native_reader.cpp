// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_reader.h"

#include "core/io/native_index.h"
#include "core/io/native_info.h"
#include "core/io/native_store.h"
#include "core/io/record_parse.h"
#include "core/io/zip_format.h"
#include "core/trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <new>
#include <thread>

namespace core {
namespace {

constexpr std::uint64_t kMostJson = std::uint64_t(256) << 20U;
constexpr std::uint64_t kMostSegment = std::uint64_t(1) << 30U;
constexpr std::string_view kSegmentFolder = "records/";
constexpr std::string_view kSegmentEnding = ".jsonl";

Result<Value> readJson(const ZipArchive &archive, std::string_view name)
{
    const ZipEntry *entry = archive.find(name);
    if (entry == nullptr)
        return Status(ErrorCode::notFound, fmt::format("{}: no entry {}", archive.fileName(), name));
    const auto bytes = archive.read(*entry, kMostJson);
    if (!bytes)
        return bytes.status();
    const std::string_view text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    return parseJson(text, fmt::format("{}:{}", archive.fileName(), name));
}

bool isSegment(std::string_view name)
{
    return name.starts_with(kSegmentFolder) && name.ends_with(kSegmentEnding);
}

// Where one segment is read to, by whatever thread.
struct SegmentResult
{
    std::vector<AnyRecord> records;
    LoadReport report;
    Status status;
};

void parseSegment(const ZipArchive &archive, const ZipEntry &entry, RecordParser &parser, SegmentResult &out)
{
    const auto bytes = archive.read(entry, kMostSegment);
    if (!bytes && bytes.error().code() == ErrorCode::unreadable) {
        out.status = bytes.status(); // the device, not the file
        return;
    }
    if (!bytes) {
        out.report.add("bad_segment", bytes.error().message());
        return;
    }
    const std::string_view lines(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    out.status = parser.parse(lines, entry.name, out.records, out.report);
}

// Runs on threads of its own, from which nothing may be thrown.
void readSegment(const ZipArchive &archive, const ZipEntry &entry, RecordParser &parser, SegmentResult &out)
{
    try {
        parseSegment(archive, entry, parser, out);
    } catch (const std::bad_alloc &) {
        out.status = Status(ErrorCode::limitExceeded, fmt::format("{}: there is not enough memory to read {}",
                                                                  archive.fileName(), entry.name))
                         .withDetail("out_of_memory");
    }
}

void noteGaps(const std::vector<const ZipEntry *> &segments, LoadReport &report)
{
    std::uint64_t expected = 0;
    for (const ZipEntry *segment : segments) {
        const std::uint64_t number = segmentNumber(segment->name);
        if (number > expected)
            report.add("missing_segment",
                       fmt::format("record segments {} to {} are not in the file", expected, number - 1));
        expected = number + 1;
    }
}

void mergeNotes(LoadReport &to, const LoadReport &from)
{
    for (const LoadReport::Note &note : from.notes())
        for (std::uint64_t i = 0; i < note.count; ++i)
            to.add(note.token, note.message);
}

Result<TraceTables> tablesFromIndex(const NativeParts &parts, LoadReport &notes)
{
    const ZipEntry *entry = parts.archive->find(kIndexEntry);
    const auto bytes = parts.archive->read(*entry, std::uint64_t(4) << 30U);
    if (!bytes)
        return bytes.status();
    IndexFacts facts;
    auto tables = decodeIndex(*bytes, kIndexEntry, facts);
    if (!tables)
        return tables.status();
    const auto segments = recordSegments(*parts.archive).size();
    if (facts.segments != segments)
        return Status(ErrorCode::corrupt, fmt::format("{}: made from {} record segments, the file has {}",
                                                      kIndexEntry, facts.segments, segments));
    notes = std::move(facts.notes);
    const TraceInfo derived = std::move(tables->info);
    tables->info = parts.info;
    tables->info.hasBackward = derived.hasBackward;
    tables->info.failure.call = derived.failure.call;
    tables->info.failure.stack = derived.failure.stack;
    tables->info.failure.label = derived.failure.label;
    return tables;
}

Result<TraceTables> tablesOf(NativeParts &parts, const JobContext &job)
{
    if (parts.archive->find(kIndexEntry) != nullptr) {
        LoadReport notes;
        auto tables = tablesFromIndex(parts, notes);
        if (tables) {
            mergeNotes(parts.report, notes);
            return tables;
        }
        if (tables.error().code() == ErrorCode::unreadable)
            return tables;
        parts.report.add("bad_index", fmt::format("the index is not used: {}", tables.error().message()));
    }
    return tablesFromRecords(parts, job);
}

// A payload that is said to be saved and is not in the file becomes `dropped`.
void checkPayloads(const ZipArchive &archive, TraceTables &tables, LoadReport &report)
{
    constexpr std::uint64_t kUnseen = UINT64_MAX;
    constexpr std::uint64_t kAbsent = UINT64_MAX - 1;
    std::vector<std::uint64_t> sizes(tables.strings.size(), kUnseen);
    for (std::size_t i = 0; i < tables.tensors.size(); ++i) {
        PayloadRow &payload = tables.tensors[i].payload;
        if (payload.state != PayloadState::saved || !payload.entry.isValid())
            continue;
        std::uint64_t &size = sizes[payload.entry.index()];
        if (size == kUnseen) {
            const ZipEntry *entry = archive.find(tables.strings.view(payload.entry));
            size = entry == nullptr ? kAbsent : entry->size;
        }
        if (size != kAbsent && payload.offset <= size && payload.bytes <= size - payload.offset)
            continue;
        payload.state = PayloadState::dropped;
        report.add("missing_payload",
                   fmt::format("tensor {}: {} bytes at {} of entry {} are not in the file", i, payload.bytes,
                               payload.offset, tables.strings.view(payload.entry)));
    }
}

} // namespace

bool looksLikeNativeTrace(std::span<const std::byte> head)
{
    const std::string_view text(reinterpret_cast<const char *>(head.data()), head.size());
    constexpr std::size_t kNameAt = zip::kLocalSize;
    constexpr std::string_view kName = "mimetype";
    return text.size() >= kNameAt + kName.size() + kNativeMimeType.size() &&
           text.substr(0, 4) == std::string_view("PK\3\4", 4) &&
           text.substr(kNameAt, kName.size()) == kName &&
           text.substr(kNameAt + kName.size(), kNativeMimeType.size()) == kNativeMimeType;
}

std::uint64_t segmentNumber(std::string_view name)
{
    name.remove_prefix(kSegmentFolder.size());
    std::uint64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    return number;
}

std::vector<const ZipEntry *> recordSegments(const ZipArchive &archive)
{
    std::vector<const ZipEntry *> segments;
    for (const ZipEntry &entry : archive.entries())
        if (isSegment(entry.name))
            segments.push_back(&entry);
    std::stable_sort(segments.begin(), segments.end(), [](const ZipEntry *a, const ZipEntry *b) {
        return segmentNumber(a->name) < segmentNumber(b->name);
    });
    return segments;
}

Result<NativeParts> openNativeParts(std::shared_ptr<const ByteSource> source)
{
    NativeParts parts;
    ZipOptions options;
    options.recover = true;
    auto archive = ZipArchive::open(std::move(source), parts.report, options);
    if (!archive)
        return archive.status();
    parts.archive = std::move(*archive);
    auto manifest = readJson(*parts.archive, kManifestEntry);
    if (!manifest && manifest.error().code() == ErrorCode::notFound)
        return Status(
            ErrorCode::unknownFormat,
            fmt::format("{}: no manifest: it is no opscope trace, or was cut before one was written",
                        parts.archive->fileName()));
    if (!manifest)
        return manifest.status();
    if (Status status = readManifest(*manifest, parts.info); !status)
        return status.prefixed(parts.archive->fileName());
    parts.manifest = std::move(*manifest);
    const auto final = readJson(*parts.archive, kFinalEntry);
    parts.hasFinal = final.isOk();
    if (final)
        readFinal(*final, parts.info);
    else if (final.error().code() == ErrorCode::unreadable)
        return final.status();
    else
        parts.report.add("no_final_record",
                         final.error().code() == ErrorCode::notFound
                             ? "there is no final record: the writer died or is still writing"
                             : fmt::format("the final record is damaged: {}", final.error().message()));
    return parts;
}

Status readRecords(const NativeParts &parts, LoadReport &report, const JobContext &job,
                   const std::function<Status(std::vector<AnyRecord> records)> &take)
{
    const auto segments = recordSegments(*parts.archive);
    noteGaps(segments, report);
    // A window of segments at a time, so that records of a long trace are not all kept twice.
    const std::size_t window = std::max<std::size_t>(job.threads(), 1) * 16;
    std::vector<RecordParser> parsers(std::max<unsigned>(job.threads(), 1));
    for (std::size_t begin = 0; begin < segments.size(); begin += window) {
        const std::size_t count = std::min(window, segments.size() - begin);
        std::vector<SegmentResult> results(count);
        std::atomic<std::size_t> next = 0;
        const auto work = [&](RecordParser &parser) {
            for (std::size_t i = next++; i < count && !job.isCancelled(); i = next++)
                readSegment(*parts.archive, *segments[begin + i], parser, results[i]);
        };
        std::vector<std::jthread> threads;
        for (std::size_t t = 1; t < std::min(parsers.size(), count); ++t)
            threads.emplace_back([&work, &parsers, t] { work(parsers[t]); });
        work(parsers[0]);
        threads.clear();
        if (Status status = job.checkpoint("reading records"); !status)
            return status;
        for (SegmentResult &result : results) {
            mergeNotes(report, result.report);
            if (!result.status)
                return result.status;
            if (Status status = take(std::move(result.records)); !status)
                return status;
        }
        job.report("reading records", begin + count, segments.size());
    }
    return Status::ok();
}

Result<TraceTables> tablesFromRecords(NativeParts &parts, const JobContext &job, std::uint64_t *count)
{
    TraceBuilder builder;
    LoadReport notes;
    const auto take = [&](std::vector<AnyRecord> records) {
        if (count != nullptr)
            *count += records.size();
        for (AnyRecord &record : records)
            if (Status status = addTo(builder, std::move(record)); !status)
                notes.add("bad_record", status.message());
        return Status::ok();
    };
    if (Status status = readRecords(parts, notes, job, take); !status)
        return status;
    builder.info() = parts.info;
    auto tables = builder.finishTables(job);
    mergeNotes(parts.report, notes);
    mergeNotes(parts.report, builder.report());
    return tables;
}

Result<std::shared_ptr<const Trace>> openNative(std::shared_ptr<const ByteSource> source,
                                                const JobContext &job)
{
    if (Status status = job.checkpoint("opening the trace"); !status)
        return status;
    auto parts = openNativeParts(std::move(source));
    if (!parts)
        return parts.status();
    auto tables = tablesOf(*parts, job);
    if (!tables)
        return tables.status();
    if (Status status = job.checkpoint("opening the trace"); !status)
        return status;
    checkPayloads(*parts->archive, *tables, parts->report);
    auto store = std::make_shared<NativeStore>(parts->archive);
    return std::shared_ptr<const Trace>(
        std::make_shared<Trace>(std::move(*tables), std::move(store), std::move(parts->report)));
}

Result<std::shared_ptr<const Trace>> openNative(const std::filesystem::path &path, const JobContext &job)
{
    auto source = openFile(path);
    if (!source)
        return source.status();
    return openNative(std::move(*source), job);
}

} // namespace core
