// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/load_report.h"
#include "core/base/value.h"
#include "core/io/native_journal.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// What became of the writer's process.
struct CrashCause
{
    std::string signal; // "SIGKILL", "SIGSEGV"; empty when it ended by itself
    std::string message;
    bool isCancelled = false; // ended because it was asked to
    std::string word = {};    // for programs: "out_of_memory"; failureCause() of the trace
};

// Makes the file of a dead writer whole: appends what the journal still holds, the op that was running as a
// row that is not finished, the index, final.json with status crashed (failed without a signal,
// cancelled) and the directory. The tables are those of every record up to the death. Leaves a file that has
// its final record alone. Call it when the process is gone. Gives the frames of the op that was running,
// outermost first; none when none was, or its place is not known.
Result<std::vector<FrameRecord>> completeCrashed(const std::filesystem::path &path,
                                                 const TraceJournal &journal, const CrashCause &cause);

// Writes a whole file from what of IN is readable: every whole entry as it is, damaged segments and payloads
// left out, with a new index and directory. NOTES of the result say what was missing.
struct RepairResult
{
    std::uint64_t entriesKept = 0;
    std::uint64_t entriesDropped = 0;
    LoadReport notes;
};
Result<RepairResult> repairTrace(const std::filesystem::path &in, const std::filesystem::path &out,
                                 const JobContext &job);

// One thing that verify found wrong.
struct VerifyFinding
{
    std::string token; // "crc_mismatch", "bad_record", "missing_payload", "misaligned", "index_differs", ...
    std::string subject; // an entry, a record
    std::string message;
};
struct VerifyResult
{
    std::uint64_t entries = 0;
    std::uint64_t records = 0;
    std::uint64_t payloadBytes = 0;
    bool hasIndex = false;
    bool hasFinal = false;
    std::vector<VerifyFinding> findings;
};
// Reads all of a native trace: every CRC, every local header, alignment of payloads, every record and what it
// refers to, counts of the final record, the index against the records, hashes of the source texts.
Result<VerifyResult> verifyTrace(const std::filesystem::path &path, const JobContext &job);

// The records of a trace of any format as JSON lines, as core/trace/FORMAT.md describes them, between a line
// with the manifest and one with the final record. LINE gets each without its line end; an error of it ends
// all.
using LineSink = std::function<Status(std::string_view line)>;
Status dumpTrace(const Trace &trace, const LineSink &line, const JobContext &job);

// What a copy leaves out. The copy's manifest lists it (attributes.removed).
struct CopyOptions
{
    bool withoutPayloads = false;
    bool withoutParameters = false; // values of parameters and buffers
    bool withoutSources = false;    // source texts, also the lines kept with frames
    bool withoutInputs = false;     // values of graph inputs, and how they were asked for
    bool shortPaths = false;        // file names without folders
};
// Writes a trace of any format as a native file: "Save a copy", and convert to opscope. Replaces PATH only
// when all went well. The result: a sentence for each kind of thing that could not be read and is not in the
// copy.
Result<std::vector<std::string>> writeTrace(const Trace &trace, const std::filesystem::path &path,
                                            const CopyOptions &options, const JobContext &job);

} // namespace core
