// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/queued_sink.h"

#include "core/io/native_info.h"

#include <new>
#include <utility>

namespace core {

QueuedSink::QueuedSink(TraceSink &out) : m_out(out)
{
    m_batch.reserve(kRecords);
    m_thread = std::thread([this] { run(); });
}

// Without close() what waits is lost, as it is with the sink behind.
QueuedSink::~QueuedSink()
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.clear();
        m_stopping = true;
    }
    m_came.notify_one();
    if (m_thread.joinable())
        m_thread.join();
}

Result<PayloadRecord> QueuedSink::writePayload(DType dtype, std::span<const std::int64_t> shape,
                                               std::span<const std::byte> bytes)
{
    if (Status status = drain(); !status)
        return status;
    return m_out.writePayload(dtype, shape, bytes);
}

Result<PayloadRecord> QueuedSink::writePayloadLater(DType dtype, std::span<const std::int64_t> shape,
                                                    std::span<const std::byte> bytes, PayloadDone &done)
{
    done.reset();
    if (Status status = drain(); !status)
        return status;
    return m_out.writePayloadLater(dtype, shape, bytes, done);
}

void QueuedSink::settlePayload(const PayloadDone &done)
{
    (void)drain(); // an error shows in the next call
    m_out.settlePayload(done);
}

Result<SourceRecord> QueuedSink::writeSource(std::string_view file, std::string_view text)
{
    if (Status status = drain(); !status)
        return status;
    return m_out.writeSource(file, text);
}

void QueuedSink::markRunning(std::string_view op, RecordId call, RecordId stack)
{
    m_out.markRunning(op, call, stack);
    if (!m_batch.empty() && Clock::now() - m_since >= kTime)
        (void)handOver(); // an error shows in the next call
}

Status QueuedSink::close(const TraceInfo &info)
{
    TraceInfo ended = info;
    const Status status = drain();
    if (!status)
        noteNotWritten(ended, status);
    const Status closed = m_out.close(ended);
    return status ? closed : status;
}

Status QueuedSink::handOver()
{
    std::unique_lock lock(m_mutex);
    m_done.wait(lock, [this] { return m_waiting.size() < kBatches; });
    if (m_error)
        m_waiting.push_back(std::move(m_batch));
    m_batch = Batch();
    if (!m_spare.empty()) {
        m_batch = std::move(m_spare.back());
        m_spare.pop_back();
    } else {
        m_batch.reserve(kRecords);
    }
    m_came.notify_one();
    return m_error;
}

Status QueuedSink::drain()
{
    if (!m_batch.empty())
        if (Status status = handOver(); !status)
            return status;
    std::unique_lock lock(m_mutex);
    m_done.wait(lock, [this] { return m_waiting.empty() && !m_working; });
    return m_error;
}

void QueuedSink::run()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_came.wait(lock, [this] { return !m_waiting.empty() || m_stopping; });
        if (m_waiting.empty())
            return;
        Batch batch = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_working = true;
        lock.unlock();
        Status status = pass(batch);
        batch.clear();
        lock.lock();
        m_working = false;
        m_spare.push_back(std::move(batch));
        if (!status && m_error)
            m_error = std::move(status);
        m_done.notify_all();
    }
}

// Out of memory in this thread ends the trace, not the process.
Status QueuedSink::pass(Batch &batch)
{
    try {
        for (AnyRecord &record : batch)
            if (Status status = addTo(m_out, std::move(record)); !status)
                return status;
    } catch (const std::bad_alloc &) {
        return Status(ErrorCode::limitExceeded, "there was no memory left to write the trace with")
            .withDetail("out_of_memory");
    }
    return Status::ok();
}

} // namespace core
