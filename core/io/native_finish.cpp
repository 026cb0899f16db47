// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_finish.h"

#include "core/io/native_info.h"
#include "core/io/native_reader.h"

namespace core {

NativeCounts countEntries(const ZipArchive &archive)
{
    NativeCounts counts;
    for (const ZipEntry &entry : archive.entries()) {
        if (entry.name.starts_with("records/"))
            ++counts.segments;
        if (entry.name.starts_with("sources/"))
            ++counts.sources;
        if (entry.name.starts_with("tensors/")) {
            ++counts.payloadEntries;
            counts.payloadBytes += entry.size;
        }
    }
    return counts;
}

Status finishNative(const std::filesystem::path &path, NativeOutput &output, const TraceInfo &ended,
                    const JobContext &job)
{
    auto source = openFile(path);
    if (!source)
        return source.status();
    auto parts = openNativeParts(std::move(*source));
    if (!parts)
        return parts.status();
    parts->info = ended;
    parts->report = {};
    std::uint64_t records = 0;
    const auto tables = tablesFromRecords(*parts, job, &records);
    if (!tables)
        return tables.status();
    NativeCounts counts = countEntries(*parts->archive);
    counts.records = records;
    output.setCounts(counts);
    Status status;
    const auto attempt = [&status](Status step) {
        if (status)
            status = std::move(step);
    };
    // A writer that died while it closed the file has written the index.
    if (parts->archive->find(kIndexEntry) == nullptr)
        attempt(output.addIndex(*tables, parts->report));
    TraceInfo said = ended;
    if (!status)
        noteNotWritten(said, status);
    attempt(output.addFinal(said));
    attempt(output.close());
    return status;
}

} // namespace core
