// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/job_context.h"
#include "core/io/zip_reader.h"
#include "core/trace/any_record.h"
#include "core/trace/trace.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace core {

// Whether a file that begins with HEAD (64 bytes are enough) says that it is a native trace.
bool looksLikeNativeTrace(std::span<const std::byte> head);

// Opens a native trace: by its index where there is a good one, else by its records, parsed in job.threads()
// threads; a file without a directory (its writer died, or is still at work) by a scan over what is whole.
// Payloads are not read. What was missing or damaged and left out is in the trace's load report:
// zip_recovered, truncated, no_final_record, bad_index, bad_segment, missing_segment, bad_record,
// missing_payload, dangling_reference. unknownFormat when it is no native trace, unsupportedVersion for one
// of a later format.
Result<std::shared_ptr<const Trace>> openNative(const std::filesystem::path &path, const JobContext &job);
Result<std::shared_ptr<const Trace>> openNative(std::shared_ptr<const ByteSource> source,
                                                const JobContext &job);

// What openNative() is made of, for the tools that work on a file's parts.
struct NativeParts
{
    std::shared_ptr<const ZipArchive> archive;
    Value manifest;
    TraceInfo info;
    bool hasFinal = false;
    LoadReport report;
};
Result<NativeParts> openNativeParts(std::shared_ptr<const ByteSource> source);
// Segments in the order they were written.
std::vector<const ZipEntry *> recordSegments(const ZipArchive &archive);
std::uint64_t segmentNumber(std::string_view name); // of "records/000012.jsonl"
// Gives all records of all segments to TAKE, segment by segment, in order.
Status readRecords(const NativeParts &parts, LoadReport &report, const JobContext &job,
                   const std::function<Status(std::vector<AnyRecord> records)> &take);
// The tables made from the records, as if there were no index. Notes go to parts.report, the number of
// records to COUNT where one is given.
Result<TraceTables> tablesFromRecords(NativeParts &parts, const JobContext &job,
                                      std::uint64_t *count = nullptr);

} // namespace core
