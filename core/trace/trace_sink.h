// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/record_sink.h"
#include "core/trace/trace_info.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace core {

// Whether a payload that was handed over is where it belongs; null: it was at once.
using PayloadDone = std::shared_ptr<const std::atomic<bool>>;

// Where a capture puts a run while it happens: records, payloads and source texts, and at the end how it
// went. The native writer (core/io/native_writer.h) implements it; tests have one in memory. Used from one
// thread.
class TraceSink : public RecordSink
{
public:
    // Stores ELEMENTS or a storage's bytes as one payload and says where they are; DTYPE and SHAPE describe
    // the array as it is stored (a storage is one dimension). The bytes are taken before the call returns.
    // The answer goes into the TensorRecords that show it; set contiguous to false there when the bytes are a
    // storage.
    virtual Result<PayloadRecord> writePayload(DType dtype, std::span<const std::int64_t> shape,
                                               std::span<const std::byte> bytes) = 0;
    // As writePayload(), but the sink may read BYTES after the call: they must stay as they are until DONE is
    // true (null: they were read).
    virtual Result<PayloadRecord> writePayloadLater(DType dtype, std::span<const std::int64_t> shape,
                                                    std::span<const std::byte> bytes, PayloadDone &done)
    {
        done.reset();
        return writePayload(dtype, shape, bytes);
    }
    // Before bytes that were handed over change: the sink has read, or copied, those of DONE when this
    // returns.
    virtual void settlePayload(const PayloadDone &) {}
    // Stores the text of a source file and returns its record (already added).
    virtual Result<SourceRecord> writeSource(std::string_view file, std::string_view text) = 0;
    // Called before each op runs, so that a dead process leaves its name: goes to the journal, not into a
    // segment.
    virtual void markRunning(std::string_view op, RecordId call, RecordId stack) = 0;
    // That op has ended: what runs until the next one is none.
    virtual void markEnded() {}
    // Bytes written so far, for progress and limits.
    virtual std::uint64_t bytesWritten() const = 0;
    // Ends the trace: writes what is pending, final record, index, directory. INFO is the manifest as it
    // turned out.
    virtual Status close(const TraceInfo &info) = 0;
};

} // namespace core
