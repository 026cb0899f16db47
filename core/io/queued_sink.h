// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/any_record.h"
#include "core/trace/trace_sink.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace core {

// Stands before a sink and hands it the records in a thread of its own, for a run that should not wait until
// they are printed. Payloads, source texts and the end go to the sink at once, behind the records before
// them; the op that runs is named at once, ahead of them. An error of the sink shows in a later call. Of a
// process that is killed the records that wait are lost. Used from one thread, as every sink; what it stands
// before is the caller's and must not be used while this one is.
class QueuedSink final : public TraceSink
{
public:
    static constexpr std::size_t kRecords = 128;                 // are handed over together
    static constexpr std::size_t kBatches = 16;                  // wait at most
    static constexpr auto kTime = std::chrono::milliseconds(20); // before an op starts

    // OUT takes markRunning() and markEnded() while another thread adds records to it, as the native writer
    // does.
    explicit QueuedSink(TraceSink &out);
    ~QueuedSink() override;

    Status add(FrameRecord record) override { return keep(std::move(record)); }
    Status add(StackRecord record) override { return keep(std::move(record)); }
    Status add(SourceRecord record) override { return keep(std::move(record)); }
    Status add(ModuleRecord record) override { return keep(std::move(record)); }
    Status add(ModuleCallRecord record) override { return keep(std::move(record)); }
    Status add(TensorRecord record) override { return keep(std::move(record)); }
    Status add(CallRecord record) override { return keep(std::move(record)); }
    Status add(ParamRecord record) override { return keep(std::move(record)); }
    Status add(GradNodeRecord record) override { return keep(std::move(record)); }
    Status add(GradFireRecord record) override { return keep(std::move(record)); }
    Status add(GradientRecord record) override { return keep(std::move(record)); }
    Status add(BackwardRecord record) override { return keep(std::move(record)); }
    Status add(DiagnosticRecord record) override { return keep(std::move(record)); }
    Status add(NoteRecord record) override { return keep(std::move(record)); }

    Result<PayloadRecord> writePayload(DType dtype, std::span<const std::int64_t> shape,
                                       std::span<const std::byte> bytes) override;
    Result<PayloadRecord> writePayloadLater(DType dtype, std::span<const std::int64_t> shape,
                                            std::span<const std::byte> bytes, PayloadDone &done) override;
    void settlePayload(const PayloadDone &done) override;
    Result<SourceRecord> writeSource(std::string_view file, std::string_view text) override;
    void markRunning(std::string_view op, RecordId call, RecordId stack) override;
    void markEnded() override { m_out.markEnded(); }
    std::uint64_t bytesWritten() const override { return m_out.bytesWritten(); }
    Status close(const TraceInfo &info) override;

private:
    using Batch = std::vector<AnyRecord>;
    using Clock = std::chrono::steady_clock;

    template <class Record>
    Status keep(Record record)
    {
        if (m_batch.empty())
            m_since = Clock::now();
        m_batch.emplace_back(std::move(record));
        return m_batch.size() < kRecords ? Status::ok() : handOver();
    }
    Status handOver();
    // Until the sink has all records.
    Status drain();
    void run();
    Status pass(Batch &batch);

    TraceSink &m_out;
    Batch m_batch; // the caller's
    Clock::time_point m_since;

    std::mutex m_mutex;
    std::condition_variable m_came;
    std::condition_variable m_done;
    std::deque<Batch> m_waiting;
    std::vector<Batch> m_spare; // their memory is used again
    bool m_working = false;
    bool m_stopping = false;
    Status m_error;
    std::thread m_thread;
};

} // namespace core
