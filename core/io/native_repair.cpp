// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/draft_file.h"
#include "core/io/native_finish.h"
#include "core/io/native_info.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t(4) << 20U;
constexpr std::uint64_t kMostInflated = std::uint64_t(1) << 30U;

// The error of the source (the entry is dropped), or of the destination (the repair ends).
struct CopyStatus
{
    Status read;
    Status write;
};

CopyStatus copyStored(const ZipArchive &archive, const ZipEntry &entry, ZipWriter &out, const JobContext &job)
{
    if (Status status = archive.verify(entry, job); !status)
        return {status, {}};
    const auto source = archive.open(entry);
    if (!source)
        return {source.status(), {}};
    const bool isPlain = entry.name == "mimetype" || entry.name.ends_with(".json");
    if (Status status = out.beginStored(entry.name, entry.size, isPlain ? 1 : ZipWriter::kDefaultAlignment);
        !status)
        return {{}, status};
    std::vector<std::byte> piece;
    for (std::uint64_t at = 0; at < entry.size; at += piece.size()) {
        piece.resize(std::min(kPiece, entry.size - at));
        if (Status status = (*source)->readAt(at, piece); !status)
            return {status, out.abandon()};
        if (Status status = out.append(piece); !status)
            return {{}, status};
    }
    return {{}, out.finish()};
}

CopyStatus copyEntry(const ZipArchive &archive, const ZipEntry &entry, ZipWriter &out, const JobContext &job)
{
    if (entry.isStored())
        return copyStored(archive, entry, out, job);
    const auto bytes = archive.read(entry, kMostInflated);
    if (!bytes)
        return {bytes.status(), {}};
    return {{}, out.addDeflated(entry.name, *bytes, 1)};
}

Status copyEntries(const NativeParts &parts, ZipWriter &out, RepairResult &result, const JobContext &job)
{
    const auto &entries = parts.archive->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const ZipEntry &entry = entries[i];
        if (Status status = job.checkpoint("repairing the trace"); !status)
            return status;
        job.report("repairing the trace", i, entries.size());
        if (entry.name == kIndexEntry || entry.name == kFinalEntry || entry.isDirectory())
            continue;
        const CopyStatus copied = copyEntry(*parts.archive, entry, out, job);
        if (!copied.write || copied.read.code() == ErrorCode::cancelled)
            return copied.write ? copied.read : copied.write;
        ++(copied.read ? result.entriesKept : result.entriesDropped);
        if (!copied.read)
            result.notes.add("dropped_entry", copied.read.message());
    }
    return Status::ok();
}

Status writeRepaired(const NativeParts &parts, const std::filesystem::path &draft, RepairResult &result,
                     const JobContext &job)
{
    {
        auto writer = ZipWriter::create(draft);
        if (!writer)
            return writer.status();
        if (Status status = copyEntries(parts, **writer, result, job); !status)
            return status;
    }
    auto output = NativeOutput::resume(draft, parts.manifest);
    if (!output)
        return output.status();
    TraceInfo ended = parts.info;
    if (!parts.hasFinal) {
        ended.status = TraceStatus::failed;
        ended.failure.message = "the writer ended before the trace was closed";
    }
    return finishNative(draft, **output, ended, job);
}

} // namespace

Result<RepairResult> repairTrace(const std::filesystem::path &in, const std::filesystem::path &out,
                                 const JobContext &job)
{
    std::error_code ignored;
    if (std::filesystem::equivalent(in, out, ignored))
        return Status(ErrorCode::invalidArgument,
                      fmt::format("{}: the repaired trace cannot replace the damaged one", out.string()));
    auto source = openFile(in);
    if (!source)
        return source.status();
    auto parts = openNativeParts(std::move(*source));
    if (!parts)
        return parts.status();
    auto name = DraftName::take(out);
    if (!name)
        return name.status();
    RepairResult result;
    result.notes = parts->report;
    name->handOverLock();
    if (Status status = writeRepaired(*parts, name->draft(), result, job); !status)
        return name->named(status);
    if (Status status = name->commit(); !status)
        return status;
    return result;
}

} // namespace core
