// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_output.h"

#include "core/io/native_info.h"
#include "core/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace core {
namespace {

constexpr int kFastLevel = 1;
constexpr std::uint64_t kPiece = std::uint64_t(4) << 20U;
// The final record is a few KiB long and repeats of the manifest what has changed.
constexpr std::uint64_t kFinalRoom = std::uint64_t(64) << 10U;
// The records of the ops up to the payload that does not fit.
constexpr std::uint64_t kRecordRoom = std::uint64_t(256) << 10U;
constexpr std::size_t kFirstEntries = 2; // mimetype and manifest

std::span<const std::byte> bytesOf(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

} // namespace

std::string segmentEntry(std::uint32_t number)
{
    return fmt::format("records/{:06}.jsonl", number);
}

std::string payloadEntry(std::uint32_t number)
{
    return fmt::format("tensors/{:06}.npy", number);
}

std::string sourceEntry(std::uint32_t number)
{
    return fmt::format("sources/{:04}.txt", number);
}

Value NativeCounts::toValue() const
{
    return Value::object({{"records", records},
                          {"segments", segments},
                          {"payload_entries", payloadEntries},
                          {"payload_bytes", payloadBytes},
                          {"sources", sources}});
}

NativeOutput::NativeOutput(std::unique_ptr<ZipWriter> zip, Value started)
    : m_zip(std::move(zip)), m_started(std::move(started)),
      m_finalRoom(kFinalRoom + toJson(m_started, 1).size())
{
}

Result<std::unique_ptr<NativeOutput>> NativeOutput::create(const std::filesystem::path &path,
                                                           const TraceInfo &info)
{
    auto zip = ZipWriter::create(path);
    if (!zip)
        return zip.status();
    std::unique_ptr<NativeOutput> output(new NativeOutput(std::move(*zip), manifestValue(info)));
    if (Status status = output->addManifest(); !status) {
        std::error_code ignored;
        if (output->m_zip->hasName())
            std::filesystem::remove(path, ignored); // it would be a file that nothing opens
        return status;
    }
    return output;
}

Result<std::unique_ptr<NativeOutput>> NativeOutput::resume(const std::filesystem::path &path, Value started)
{
    auto zip = ZipWriter::resume(path);
    if (!zip)
        return zip.status();
    return std::unique_ptr<NativeOutput>(new NativeOutput(std::move(*zip), std::move(started)));
}

Status NativeOutput::addManifest()
{
    keepRoomFor(0);
    Status status = m_zip->addStored("mimetype", kNativeMimeType, 1);
    if (status)
        status = m_zip->addStored(kManifestEntry, toJson(m_started, 1), 1);
    return noteSize(std::move(status));
}

Status NativeOutput::addSegment(std::uint32_t number, std::string_view lines, std::size_t records)
{
    const auto deflated = deflateBytes(bytesOf(lines), kFastLevel);
    if (!deflated)
        return deflated.status();
    const std::scoped_lock lock(m_mutex);
    keepRoomFor(0);
    Status status = noteSize(m_zip->addDeflated(segmentEntry(number), *deflated));
    if (status) {
        ++m_counts.segments;
        m_counts.records += records;
    }
    return status;
}

Status NativeOutput::addPayload(std::uint32_t number, DType dtype, std::span<const std::int64_t> shape,
                                std::span<const std::byte> bytes)
{
    const std::string header = npyHeader(dtype, shape);
    const std::array parts = {bytesOf(header), bytes};
    const std::scoped_lock lock(m_mutex);
    keepRoomFor(kRecordRoom);
    Status status = noteSize(m_zip->addStored(payloadEntry(number), parts));
    if (status) {
        ++m_counts.payloadEntries;
        m_counts.payloadBytes += bytes.size();
    }
    return status;
}

Status NativeOutput::addPayload(std::uint32_t number, DType dtype, std::span<const std::int64_t> shape,
                                std::uint64_t size, const Reader &read)
{
    const std::string header = npyHeader(dtype, shape);
    const std::scoped_lock lock(m_mutex);
    keepRoomFor(kRecordRoom);
    if (Status status = m_zip->beginStored(payloadEntry(number), header.size() + size); !status)
        return status;
    if (Status status = m_zip->append(bytesOf(header)); !status)
        return status;
    std::vector<std::byte> piece(std::min(size, kPiece));
    for (std::uint64_t at = 0; at < size; at += piece.size()) {
        piece.resize(std::min(size - at, kPiece));
        if (Status status = read(at, piece); !status) {
            const Status undone = m_zip->abandon();
            return undone ? status : undone;
        }
        if (Status status = m_zip->append(piece); !status)
            return status;
    }
    if (Status status = noteSize(m_zip->finish()); !status)
        return status;
    ++m_counts.payloadEntries;
    m_counts.payloadBytes += size;
    return Status::ok();
}

Status NativeOutput::addSource(std::uint32_t number, std::string_view text)
{
    const auto deflated = deflateBytes(bytesOf(text), kFastLevel);
    if (!deflated)
        return deflated.status();
    const std::scoped_lock lock(m_mutex);
    keepRoomFor(0);
    Status status = noteSize(m_zip->addDeflated(sourceEntry(number), *deflated));
    m_counts.sources += status ? 1 : 0;
    return status;
}

Status NativeOutput::addFinal(const TraceInfo &info)
{
    const std::scoped_lock lock(m_mutex);
    m_zip->keepRoom(0);
    const auto add = [this](const TraceInfo &ended, Value counts) {
        return noteSize(
            m_zip->addStored(kFinalEntry, toJson(finalValue(ended, m_started, std::move(counts)), 1), 1));
    };
    Status status = add(info, m_counts.toValue());
    if (status || status.detail() != kNoRoom)
        return status;
    TraceInfo ended = info;
    noteNotWritten(ended, status);
    for (Status again = status; again.detail() == kNoRoom && m_zip->entryCount() > kFirstEntries;) {
        if (Status dropped = m_zip->dropLast(); !dropped)
            return dropped;
        again = add(ended, Value()); // how much is left is not known
    }
    return status;
}

Status NativeOutput::addIndex(const TraceTables &tables, LoadReport notes)
{
    const std::scoped_lock lock(m_mutex);
    keepRoomFor(0);
    return noteSize(
        m_zip->addStored(kIndexEntry, encodeIndex(tables, {m_counts.segments, std::move(notes)})));
}

Status NativeOutput::close()
{
    const std::scoped_lock lock(m_mutex);
    return noteSize(m_zip->close());
}

NativeCounts NativeOutput::counts() const
{
    const std::scoped_lock lock(m_mutex);
    return m_counts;
}

void NativeOutput::setCounts(const NativeCounts &counts)
{
    const std::scoped_lock lock(m_mutex);
    m_counts = counts;
}

// Under the lock. MORE: beside the final record.
void NativeOutput::keepRoomFor(std::uint64_t more)
{
    m_zip->keepRoom(m_finalRoom + more);
}

// Under the lock, after every step that writes.
Status NativeOutput::noteSize(Status status)
{
    m_size.store(m_zip->size(), std::memory_order_relaxed);
    return status;
}

} // namespace core
