// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/native_index.h"
#include "core/io/zip_writer.h"
#include "core/trace/trace_info.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace core {

std::string segmentEntry(std::uint32_t number); // "records/000012.jsonl"
std::string payloadEntry(std::uint32_t number); // "tensors/000012.npy"
std::string sourceEntry(std::uint32_t number);  // "sources/0012.txt"

// What is in a native trace file being written, for final.json.
struct NativeCounts
{
    std::uint64_t records = 0;
    std::uint64_t segments = 0;
    std::uint64_t payloadEntries = 0;
    std::uint64_t payloadBytes = 0;
    std::uint64_t sources = 0;

    Value toValue() const;
};

// The entries of a native trace, each written whole, from any thread. Knows the layout; threads, journal and
// records are its callers' (NativeWriter, the repair of a crashed file). On a disk that becomes full the last
// room belongs to the final record, and what is before it to records rather than to payloads.
class NativeOutput
{
public:
    // A new file with its manifest.
    static Result<std::unique_ptr<NativeOutput>> create(const std::filesystem::path &path,
                                                        const TraceInfo &info);
    // Goes on with a file whose writer died; STARTED is its manifest.
    static Result<std::unique_ptr<NativeOutput>> resume(const std::filesystem::path &path, Value started);

    Status addSegment(std::uint32_t number, std::string_view lines, std::size_t records);
    Status addPayload(std::uint32_t number, DType dtype, std::span<const std::int64_t> shape,
                      std::span<const std::byte> bytes);
    using Reader = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;
    Status addPayload(std::uint32_t number, DType dtype, std::span<const std::int64_t> shape,
                      std::uint64_t size, const Reader &read);
    Status addSource(std::uint32_t number, std::string_view text);
    // Where it does not fit in spite of the room kept for it, entries go until it does: then it says failed,
    // and what is given back is why.
    Status addFinal(const TraceInfo &info);
    Status addIndex(const TraceTables &tables, LoadReport notes);
    Status close();

    std::uint64_t size() const { return m_size.load(std::memory_order_relaxed); } // without waiting
    NativeCounts counts() const;
    void setCounts(const NativeCounts &counts); // of what stands in a resumed file

private:
    NativeOutput(std::unique_ptr<ZipWriter> zip, Value started);

    Status addManifest();
    Status noteSize(Status status);
    void keepRoomFor(std::uint64_t more);

    mutable std::mutex m_mutex;
    std::atomic<std::uint64_t> m_size = 0;
    std::unique_ptr<ZipWriter> m_zip;
    Value m_started;
    std::uint64_t m_finalRoom;
    NativeCounts m_counts;
};

} // namespace core
