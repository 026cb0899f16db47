// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_writer_impl.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

namespace core {
namespace {

constexpr std::size_t kPackAlignment = 64;
constexpr std::size_t kMostCopied = std::size_t(256) << 20U;
constexpr auto kSegmentTime = std::chrono::milliseconds(900);

std::string hashOf(std::string_view text)
{
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

} // namespace

NativeWriter::Impl::Impl(std::unique_ptr<NativeOutput> output, std::unique_ptr<TraceJournal> journal,
                         const NativeWriterOptions &options)
    : m_output(std::move(output)), m_journal(std::move(journal)), m_buildsIndex(options.buildsIndex),
      m_keepsRecords(options.buildsIndex && !options.indexesLines)
{
    for (std::size_t slot = TraceJournal::kSlots; slot-- > 0;)
        m_freeSlots.push_back(slot);
    if (m_keepsRecords)
        m_segment.records.reserve(kSegmentRecords);
    m_thread = std::thread([this] { run(); });
}

NativeWriter::Impl::~Impl()
{
    if (!m_thread.joinable())
        return;
    {
        const Lock lock(m_mutex);
        m_stopping = true;
        for (Task &task : m_tasks)
            if (auto *payload = std::get_if<Payload>(&task))
                payload->done->store(true);
        m_tasks.clear();
    }
    m_workCame.notify_one();
    m_thread.join();
}

Status NativeWriter::Impl::keepError(Status status)
{
    const Lock lock(m_mutex);
    if (!status && m_error)
        m_error = status;
    return status;
}

Status NativeWriter::Impl::addLine(Lock &lock)
{
    if (!m_error)
        return m_error;
    const std::string_view line = m_line.view();
    if (m_segment.slot != kNoSlot && m_segment.bytes + line.size() > TraceJournal::kSlotBytes)
        queueSegment();
    if (m_segment.slot == kNoSlot) {
        const std::size_t slot = takeSlot(lock);
        if (slot == kNoSlot)
            return m_error;
        m_segment.slot = slot;
        m_segment.number = m_nextSegment++;
        m_segmentStart = Clock::now();
        m_journal->open(slot, false, m_segment.number);
    }
    std::memcpy(m_journal->memory(m_segment.slot).data() + m_segment.bytes, line.data(), line.size());
    m_segment.bytes += line.size();
    m_journal->commit(m_segment.slot, m_segment.bytes);
    ++m_segment.count;
    return Status::ok();
}

// A record that fits no slot becomes a segment of its own; the call waits until it is in the file.
Status NativeWriter::Impl::addLongLine(Lock &lock, AnyRecord record)
{
    if (!m_error)
        return m_error;
    queueSegment();
    Segment segment;
    segment.number = m_nextSegment++;
    segment.text = m_line.view();
    segment.bytes = segment.text.size();
    segment.count = 1;
    if (m_keepsRecords)
        segment.records.push_back(std::move(record));
    queue(std::move(segment));
    m_workDone.wait(lock, [this] { return m_tasks.empty() && !m_working; });
    return m_error;
}

std::size_t NativeWriter::Impl::takeSlot(Lock &lock)
{
    m_workDone.wait(lock, [this] { return !m_freeSlots.empty() || !m_error; });
    if (!m_error)
        return kNoSlot;
    const std::size_t slot = m_freeSlots.back();
    m_freeSlots.pop_back();
    return slot;
}

// What a segment refers to goes into the file before it.
void NativeWriter::Impl::queueSegment()
{
    queuePack();
    if (m_segment.slot == kNoSlot)
        return;
    queue(std::move(m_segment));
    m_segment = Segment();
    if (m_keepsRecords)
        m_segment.records.reserve(kSegmentRecords);
}

void NativeWriter::Impl::queuePack()
{
    if (m_pack.slot == kNoSlot)
        return;
    queue(m_pack);
    m_pack = Pack();
}

void NativeWriter::Impl::queue(Task task)
{
    m_tasks.push_back(std::move(task));
    m_workCame.notify_one();
}

Result<PayloadRecord> NativeWriter::Impl::addSmall(std::span<const std::byte> bytes)
{
    Lock lock(m_mutex);
    if (!m_error)
        return m_error;
    const auto aligned = [](std::size_t at) {
        return (at + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
    };
    if (m_pack.slot != kNoSlot && aligned(m_pack.bytes) + bytes.size() > TraceJournal::kSlotBytes)
        queuePack();
    if (m_pack.slot == kNoSlot) {
        const std::size_t slot = takeSlot(lock);
        if (slot == kNoSlot)
            return m_error;
        m_pack.slot = slot;
        m_pack.number = m_nextPayload++;
        m_journal->open(slot, true, m_pack.number);
    }
    const std::size_t at = aligned(m_pack.bytes);
    std::byte *memory = m_journal->memory(m_pack.slot).data();
    std::memset(memory + m_pack.bytes, 0, at - m_pack.bytes);
    if (!bytes.empty())
        std::memcpy(memory + at, bytes.data(), bytes.size());
    m_pack.bytes = at + bytes.size();
    m_journal->commit(m_pack.slot, m_pack.bytes);
    return PayloadRecord{PayloadState::saved, payloadEntry(m_pack.number), at, bytes.size(), true};
}

Result<std::uint32_t> NativeWriter::Impl::takePayloadNumber()
{
    const Lock lock(m_mutex);
    if (!m_error)
        return m_error;
    return m_nextPayload++;
}

void NativeWriter::Impl::queuePayload(std::uint32_t number, DType dtype, std::span<const std::int64_t> shape,
                                      std::span<const std::byte> bytes,
                                      std::shared_ptr<std::atomic<bool>> done)
{
    const Lock lock(m_mutex);
    queue(Payload{number, dtype, {shape.begin(), shape.end()}, bytes, std::move(done), nullptr});
}

// An op that works in place would else wait for everything in the queue before its operand.
void NativeWriter::Impl::settlePayload(const PayloadDone &done)
{
    if (!done || done->load(std::memory_order_acquire))
        return;
    Lock lock(m_mutex);
    for (Task &task : m_tasks) {
        auto *payload = std::get_if<Payload>(&task);
        if (payload == nullptr || payload->done != done)
            continue;
        const std::size_t size = payload->bytes.size();
        if (size > kMostCopied || m_copied > kMostCopied - size)
            break;
        payload->copy.reset(new (std::nothrow) std::byte[size]);
        if (payload->copy == nullptr)
            break;
        std::memcpy(payload->copy.get(), payload->bytes.data(), size);
        payload->bytes = {payload->copy.get(), size};
        payload->done->store(true, std::memory_order_release);
        m_copied += size;
        return;
    }
    m_workDone.wait(lock, [&done] { return done->load(std::memory_order_acquire); });
}

Result<SourceRecord> NativeWriter::Impl::addSource(std::string_view file, std::string_view text)
{
    SourceRecord record;
    {
        const Lock lock(m_mutex);
        if (!m_error)
            return m_error;
        if (const auto known = m_sources.find(file); known != m_sources.end())
            return known->second;
        record.id = m_nextSource++;
        record.file = file;
        record.entry = sourceEntry(record.id);
        record.hash = hashOf(text);
        m_sources.emplace(file, record);
        queue(Source{record.id, std::string(text)});
    }
    if (Status status = add(SourceRecord(record)); !status)
        return status;
    return record;
}

Status NativeWriter::Impl::flush()
{
    Lock lock(m_mutex);
    queueSegment();
    m_workDone.wait(lock, [this] { return m_tasks.empty() && !m_working; });
    return m_error;
}

Status NativeWriter::Impl::stop()
{
    if (!m_thread.joinable())
        return Status(ErrorCode::invalidArgument, "the trace is closed");
    {
        const Lock lock(m_mutex);
        queueSegment();
        m_stopping = true;
    }
    m_workCame.notify_one();
    m_thread.join();
    return m_error;
}

void NativeWriter::Impl::run()
{
    Lock lock(m_mutex);
    for (;;) {
        const auto came = [this] { return !m_tasks.empty() || m_stopping; };
        if (!m_workCame.wait_for(lock, kSegmentTime / 4, came)) {
            const bool isPending = m_segment.slot != kNoSlot || m_pack.slot != kNoSlot;
            if (isPending && Clock::now() - m_segmentStart >= kSegmentTime * 3 / 4)
                queueSegment();
            continue;
        }
        if (m_tasks.empty())
            return;
        Task task = std::move(m_tasks.front());
        m_tasks.pop_front();
        m_working = true;
        lock.unlock();
        Status status = std::visit([this](auto &each) { return attempt(each); }, task);
        lock.lock();
        m_working = false;
        if (!status && m_error)
            m_error = std::move(status);
        m_workDone.notify_all();
    }
}

// Out of memory in this thread ends the trace, not the process.
template <class Each>
Status NativeWriter::Impl::attempt(Each &each)
{
    try {
        return work(each);
    } catch (const std::bad_alloc &) {
        if constexpr (std::is_same_v<Each, Payload>)
            each.done->store(true, std::memory_order_release);
        return Status(ErrorCode::limitExceeded, "there was no memory left to write the trace with")
            .withDetail("out_of_memory");
    }
}

Status NativeWriter::Impl::work(Segment &segment)
{
    std::string_view lines = segment.text;
    if (segment.slot != kNoSlot)
        lines = {reinterpret_cast<const char *>(m_journal->memory(segment.slot).data()), segment.bytes};
    Status status = m_output->addSegment(segment.number, lines, segment.count);
    if (m_buildsIndex && !m_keepsRecords)
        if (Status parsed = m_parser.parse(lines, "a segment", segment.records, m_builder.report()); status)
            status = std::move(parsed);
    // What could not be written stays in the journal.
    if (status)
        release(segment.slot);
    for (AnyRecord &record : segment.records) {
        Status added = addTo(m_builder, std::move(record));
        if (status)
            status = std::move(added);
    }
    return status;
}

Status NativeWriter::Impl::work(Pack &pack)
{
    const auto bytes = std::span<const std::byte>(m_journal->memory(pack.slot).first(pack.bytes));
    const auto extent = static_cast<std::int64_t>(bytes.size());
    Status status = m_output->addPayload(pack.number, DType::uint8, std::span(&extent, 1), bytes);
    if (status)
        release(pack.slot);
    return status;
}

Status NativeWriter::Impl::work(Payload &payload)
{
    Status status = m_output->addPayload(payload.number, payload.dtype, payload.shape, payload.bytes);
    payload.done->store(true, std::memory_order_release);
    if (payload.copy != nullptr) {
        const Lock lock(m_mutex);
        m_copied -= payload.bytes.size();
    }
    return status;
}

Status NativeWriter::Impl::work(Source &source)
{
    return m_output->addSource(source.number, source.text);
}

void NativeWriter::Impl::release(std::size_t slot)
{
    if (slot == kNoSlot)
        return;
    m_journal->free(slot);
    const Lock lock(m_mutex);
    m_freeSlots.push_back(slot);
}

} // namespace core
