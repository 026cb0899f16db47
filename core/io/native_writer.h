// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace_sink.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

namespace core {

struct NativeWriterOptions
{
    // Descriptor of the parent's TraceJournal; -1: nobody watches and records of the last second die with the
    // process.
    int journal = -1;
    // Make the index from the records as they pass; without it the file is opened by parsing its records.
    bool buildsIndex = true;
    // The writer's thread reads the records of the index back from their lines: twice the work there, and
    // nothing is kept of a record once it is printed, which costs the caller's caches least.
    bool indexesLines = false;
};

// Writes a native trace (core/trace/FORMAT.md) while a run goes on. Records are printed at once into the
// journal; a thread of its own compresses and writes a segment every 512 records and every second, and makes
// the tables of the index. Payloads below 64 KiB are copied and share entries; larger ones are written before
// writePayload() returns, or by the thread with writePayloadLater(). The first error (disk full) is kept and
// given by every later call; what was written before stays readable. One thread calls it. A writer that is
// destroyed without close() leaves a file without final record, as a dead process would.
class NativeWriter final : public TraceSink
{
public:
    static constexpr std::size_t kSmallPayload = std::size_t(64) << 10U;
    static constexpr std::size_t kSegmentRecords = 512;

    // Creates or replaces the file and writes the manifest: what is known of INFO by now.
    static Result<std::unique_ptr<NativeWriter>>
    create(const std::filesystem::path &path, const TraceInfo &info, const NativeWriterOptions &options = {});
    ~NativeWriter() override;

    Status add(FrameRecord record) override;
    Status add(StackRecord record) override;
    Status add(SourceRecord record) override;
    Status add(ModuleRecord record) override;
    Status add(ModuleCallRecord record) override;
    Status add(TensorRecord record) override;
    Status add(CallRecord record) override;
    Status add(ParamRecord record) override;
    Status add(GradNodeRecord record) override;
    Status add(GradFireRecord record) override;
    Status add(GradientRecord record) override;
    Status add(BackwardRecord record) override;
    Status add(DiagnosticRecord record) override;
    Status add(NoteRecord record) override;

    Result<PayloadRecord> writePayload(DType dtype, std::span<const std::int64_t> shape,
                                       std::span<const std::byte> bytes) override;
    // As writePayload(), but BYTES are read after the call returned: they must stay as they are until DONE is
    // true (small payloads: at once). An error shows in later calls.
    Result<PayloadRecord> writePayloadLater(DType dtype, std::span<const std::int64_t> shape,
                                            std::span<const std::byte> bytes, PayloadDone &done) override;
    // Copies what was not written yet; waits for what is being written.
    void settlePayload(const PayloadDone &done) override;
    // As writePayload() for SIZE bytes that come in pieces: READ fills each span with the bytes from an
    // offset.
    using PayloadReader = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;
    Result<PayloadRecord> writePayloadFrom(DType dtype, std::span<const std::int64_t> shape,
                                           std::uint64_t size, const PayloadReader &read);
    Result<SourceRecord> writeSource(std::string_view file, std::string_view text) override;

    void markRunning(std::string_view op, RecordId call, RecordId stack) override;
    void markEnded() override;
    std::uint64_t bytesWritten() const override;

    // Writes what is in memory as a segment now and waits until it is in the file.
    Status flush();
    Status close(const TraceInfo &info) override;

private:
    class Impl;
    explicit NativeWriter(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

} // namespace core
