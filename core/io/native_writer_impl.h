// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/native_journal.h"
#include "core/io/native_output.h"
#include "core/io/native_writer.h"
#include "core/io/record_json.h"
#include "core/io/record_parse.h"
#include "core/trace/any_record.h"
#include "core/trace/trace_builder.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

namespace core {

// The two halves of NativeWriter: calls that fill slots of the journal, and the thread that puts full slots
// into the file. m_mutex guards everything but the line buffer (the caller's), the builder (the thread's) and
// the output, which locks itself. Internal to core/io.
class NativeWriter::Impl
{
public:
    Impl(std::unique_ptr<NativeOutput> output, std::unique_ptr<TraceJournal> journal,
         const NativeWriterOptions &options);
    ~Impl();

    template <class Record>
    Status add(Record &&record)
    {
        m_line.clear();
        printRecord(m_line, record);
        Lock lock(m_mutex);
        if (m_line.view().size() > TraceJournal::kSlotBytes)
            return addLongLine(lock, std::forward<Record>(record));
        Status status = addLine(lock);
        if (!status)
            return status;
        if (m_keepsRecords)
            m_segment.records.emplace_back(std::forward<Record>(record));
        if (m_segment.count == kSegmentRecords)
            queueSegment();
        return status;
    }

    Result<PayloadRecord> addSmall(std::span<const std::byte> bytes);
    Result<std::uint32_t> takePayloadNumber();
    void queuePayload(std::uint32_t number, DType dtype, std::span<const std::int64_t> shape,
                      std::span<const std::byte> bytes, std::shared_ptr<std::atomic<bool>> done);
    void settlePayload(const PayloadDone &done);
    Result<SourceRecord> addSource(std::string_view file, std::string_view text);
    Status flush();
    // Ends the thread and says how all went so far.
    Status stop();
    Status keepError(Status status);

    NativeOutput &output() { return *m_output; }
    TraceJournal &journal() { return *m_journal; }
    TraceBuilder &builder() { return m_builder; }
    bool buildsIndex() const { return m_buildsIndex; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kNoSlot = TraceJournal::kSlots;

    struct Segment
    {
        std::size_t slot = kNoSlot; // none: the lines are in TEXT
        std::uint32_t number = 0;
        std::size_t bytes = 0;
        std::size_t count = 0;
        std::string text;
        std::vector<AnyRecord> records;
    };
    struct Pack
    {
        std::size_t slot = kNoSlot;
        std::uint32_t number = 0;
        std::size_t bytes = 0;
    };
    struct Payload
    {
        std::uint32_t number = 0;
        DType dtype = DType::unknown;
        std::vector<std::int64_t> shape;
        std::span<const std::byte> bytes;
        std::shared_ptr<std::atomic<bool>> done;
        std::unique_ptr<std::byte[]> copy; // then BYTES are these
    };
    struct Source
    {
        std::uint32_t number = 0;
        std::string text;
    };
    using Task = std::variant<Segment, Pack, Payload, Source>;
    using Lock = std::unique_lock<std::mutex>;

    // The record of the line follows into the open segment.
    Status addLine(Lock &lock);
    Status addLongLine(Lock &lock, AnyRecord record);
    // kNoSlot after an error: then nothing becomes free any more.
    std::size_t takeSlot(Lock &lock);
    void queueSegment();
    void queuePack();
    void queue(Task task);

    void run();
    template <class Each>
    Status attempt(Each &each);
    Status work(Segment &segment);
    Status work(Pack &pack);
    Status work(Payload &payload);
    Status work(Source &source);
    void release(std::size_t slot);

    std::unique_ptr<NativeOutput> m_output;
    std::unique_ptr<TraceJournal> m_journal;
    const bool m_buildsIndex;
    const bool m_keepsRecords; // for the index; else they are read back from their lines
    JsonText m_line;
    TraceBuilder m_builder;
    RecordParser m_parser; // the thread's

    std::mutex m_mutex;
    std::condition_variable m_workCame;
    std::condition_variable m_workDone;
    std::deque<Task> m_tasks;
    bool m_working = false;
    bool m_stopping = false;
    std::size_t m_copied = 0; // bytes of queued payloads that are copies
    Status m_error;
    std::vector<std::size_t> m_freeSlots;
    Segment m_segment;
    Clock::time_point m_segmentStart;
    Pack m_pack;
    std::uint32_t m_nextSegment = 0;
    std::uint32_t m_nextPayload = 0;
    std::uint32_t m_nextSource = 0;
    std::map<std::string, SourceRecord, std::less<>> m_sources;
    std::thread m_thread;
};

} // namespace core
