// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a trace whose writer died.
#include "core/io/native_finish.h"
#include "core/io/native_info.h"
#include "core/io/native_output.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/record_json.h"
#include "core/trace/failure_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace core {
namespace {

std::size_t lineCount(std::string_view text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The parts of the journal that did not reach the file, as many as there is room for; NEXTSEGMENT becomes the
// number after the last segment. The first failure is given back.
Status appendJournal(NativeOutput &output, const ZipArchive &archive, const JournalContent &content,
                     std::uint32_t &nextSegment)
{
    for (const ZipEntry *segment : recordSegments(archive))
        nextSegment = std::max(nextSegment, static_cast<std::uint32_t>(segmentNumber(segment->name) + 1));
    Status lost;
    for (const JournalContent::Part &part : content.parts) {
        const std::string name = part.isPack ? payloadEntry(part.number) : segmentEntry(part.number);
        if (archive.find(name) != nullptr)
            continue;
        const auto extent = static_cast<std::int64_t>(part.bytes.size());
        const std::string_view lines(reinterpret_cast<const char *>(part.bytes.data()), part.bytes.size());
        Status status = part.isPack
                            ? output.addPayload(part.number, DType::uint8, std::span(&extent, 1), part.bytes)
                            : output.addSegment(part.number, lines, lineCount(lines));
        if (!part.isPack)
            nextSegment = std::max(nextSegment, part.number + 1);
        if (!status && lost)
            lost = std::move(status);
    }
    return lost;
}

struct Seen
{
    bool runningIsRecorded = false;
    bool runningEnded = false;
    std::map<RecordId, FrameRecord> frames;
    std::vector<RecordId> runningStack;

    // Of the running op, outermost first.
    std::vector<FrameRecord> place() const
    {
        std::vector<FrameRecord> result;
        for (const RecordId id : runningStack)
            if (const auto frame = frames.find(id);
                !runningIsRecorded && !runningEnded && frame != frames.end())
                result.push_back(frame->second);
        return result;
    }
};

Result<Seen> lookThrough(const std::filesystem::path &path, const JournalContent &content)
{
    auto source = openFile(path);
    if (!source)
        return source.status();
    auto parts = openNativeParts(std::move(*source));
    if (!parts)
        return parts.status();
    Seen seen;
    seen.runningEnded = content.running && content.running->ended;
    LoadReport ignored;
    const auto take = [&](std::vector<AnyRecord> records) {
        for (const AnyRecord &record : records) {
            if (const auto *call = std::get_if<CallRecord>(&record))
                seen.runningIsRecorded |= content.running && call->id == content.running->call;
            if (const auto *frame = std::get_if<FrameRecord>(&record))
                seen.frames.emplace(frame->id, *frame);
            const auto *stack = std::get_if<StackRecord>(&record);
            if (stack != nullptr && content.running && stack->id == content.running->stack)
                seen.runningStack = stack->frames;
        }
        return Status::ok();
    };
    const JobContext job;
    if (Status status = readRecords(*parts, ignored, job, take); !status)
        return status;
    return seen;
}

// "aten.add.Tensor" -> "add"
std::string functionOf(std::string_view op)
{
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos)
        return std::string(op);
    op.remove_prefix(first + 1);
    return std::string(op.substr(0, op.find('.')));
}

Status appendRunning(NativeOutput &output, std::uint32_t segment, const JournalContent::Running &running)
{
    CallRecord call;
    call.id = running.call;
    call.op = running.op;
    call.func = functionOf(running.op);
    call.stack = running.stack;
    call.finished = running.ended;
    JsonText line;
    printRecord(line, call);
    return output.addSegment(segment, line.view(), 1);
}

TraceFailure failureOf(const JournalContent &content, const Seen &seen, const CrashCause &cause)
{
    TraceFailure failure;
    failure.signal = cause.signal;
    failure.message = cause.message;
    if (failure.message.empty())
        failure.message = cause.signal.empty()
                              ? std::string("the process that ran the model ended too early")
                              : fmt::format("the process that ran the model was ended by {}", cause.signal);
    if (!content.running)
        return failure;
    if (seen.runningIsRecorded || seen.runningEnded) {
        failure.message += fmt::format("; {} had finished, the next op had not begun", content.running->op);
        return failure;
    }
    failure.op = content.running->op;
    failure.call = content.running->call;
    failure.stack = content.running->stack;
    return failure;
}

} // namespace

Result<std::vector<FrameRecord>> completeCrashed(const std::filesystem::path &path,
                                                 const TraceJournal &journal, const CrashCause &cause)
{
    const auto content = journal.content();
    if (!content)
        return content.status();
    auto source = openFile(path);
    if (!source)
        return source.status();
    auto parts = openNativeParts(std::move(*source));
    if (!parts)
        return parts.status();
    if (parts->hasFinal)
        return std::vector<FrameRecord>();
    auto output = NativeOutput::resume(path, parts->manifest);
    if (!output)
        return output.status();
    std::uint32_t nextSegment = 0;
    Status lost = appendJournal(**output, *parts->archive, *content, nextSegment);
    auto seen = lookThrough(path, *content);
    if (!seen)
        return seen.status();
    if (content->running && !seen->runningIsRecorded)
        if (Status status = appendRunning(**output, nextSegment, *content->running); !status && lost)
            lost = std::move(status);
    TraceInfo ended = parts->info;
    ended.failure = failureOf(*content, *seen, cause);
    ended.status = cause.isCancelled      ? TraceStatus::cancelled
                   : cause.signal.empty() ? TraceStatus::failed
                                          : TraceStatus::crashed;
    setFailureCause(ended, cause.word);
    if (!lost)
        noteNotWritten(ended, lost);
    Status finished = finishNative(path, **output, ended, JobContext());
    // For want of room no index or not every record: the final record says it, which has the last room.
    if (!finished && finished.detail() != kNoRoom)
        return finished;
    return seen->place();
}

} // namespace core
