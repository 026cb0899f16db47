// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_writer.h"

#include "core/io/native_info.h"
#include "core/io/native_writer_impl.h"

namespace core {
namespace {

Result<std::unique_ptr<TraceJournal>> openJournal(int descriptor)
{
    return descriptor < 0 ? TraceJournal::createPrivate() : TraceJournal::attach(descriptor);
}

PayloadRecord savedAt(std::uint32_t number, std::uint64_t bytes)
{
    return {PayloadState::saved, payloadEntry(number), 0, bytes, true};
}

} // namespace

NativeWriter::NativeWriter(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
NativeWriter::~NativeWriter() = default;

Result<std::unique_ptr<NativeWriter>> NativeWriter::create(const std::filesystem::path &path,
                                                           const TraceInfo &info,
                                                           const NativeWriterOptions &options)
{
    auto journal = openJournal(options.journal);
    if (!journal)
        return journal.status();
    auto output = NativeOutput::create(path, info);
    if (!output)
        return output.status();
    auto impl = std::make_unique<Impl>(std::move(*output), std::move(*journal), options);
    return std::unique_ptr<NativeWriter>(new NativeWriter(std::move(impl)));
}

Status NativeWriter::add(FrameRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(StackRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(SourceRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(ModuleRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(ModuleCallRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(TensorRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(CallRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(ParamRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(GradNodeRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(GradFireRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(GradientRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(BackwardRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(DiagnosticRecord record)
{
    return m_impl->add(std::move(record));
}
Status NativeWriter::add(NoteRecord record)
{
    return m_impl->add(std::move(record));
}

Result<PayloadRecord> NativeWriter::writePayload(DType dtype, std::span<const std::int64_t> shape,
                                                 std::span<const std::byte> bytes)
{
    if (bytes.size() < kSmallPayload)
        return m_impl->addSmall(bytes);
    const auto number = m_impl->takePayloadNumber();
    if (!number)
        return number.status();
    if (Status status = m_impl->keepError(m_impl->output().addPayload(*number, dtype, shape, bytes)); !status)
        return status;
    return savedAt(*number, bytes.size());
}

Result<PayloadRecord> NativeWriter::writePayloadLater(DType dtype, std::span<const std::int64_t> shape,
                                                      std::span<const std::byte> bytes, PayloadDone &done)
{
    auto flag = std::make_shared<std::atomic<bool>>(bytes.size() < kSmallPayload);
    done = flag;
    if (bytes.size() < kSmallPayload)
        return m_impl->addSmall(bytes);
    const auto number = m_impl->takePayloadNumber();
    if (!number) {
        flag->store(true);
        return number.status();
    }
    m_impl->queuePayload(*number, dtype, shape, bytes, std::move(flag));
    return savedAt(*number, bytes.size());
}

void NativeWriter::settlePayload(const PayloadDone &done)
{
    m_impl->settlePayload(done);
}

Result<PayloadRecord> NativeWriter::writePayloadFrom(DType dtype, std::span<const std::int64_t> shape,
                                                     std::uint64_t size, const PayloadReader &read)
{
    if (size < kSmallPayload) {
        std::vector<std::byte> bytes(size);
        if (Status status = read(0, bytes); !status)
            return status;
        return m_impl->addSmall(bytes);
    }
    const auto number = m_impl->takePayloadNumber();
    if (!number)
        return number.status();
    // An error of READ is the caller's affair; the writer stays good.
    if (Status status = m_impl->output().addPayload(*number, dtype, shape, size, read); !status)
        return status;
    return savedAt(*number, size);
}

Result<SourceRecord> NativeWriter::writeSource(std::string_view file, std::string_view text)
{
    return m_impl->addSource(file, text);
}

void NativeWriter::markRunning(std::string_view op, RecordId call, RecordId stack)
{
    m_impl->journal().setRunning(op, call, stack);
}

void NativeWriter::markEnded()
{
    m_impl->journal().setEnded();
}

std::uint64_t NativeWriter::bytesWritten() const
{
    return m_impl->output().size();
}

Status NativeWriter::flush()
{
    return m_impl->flush();
}

Status NativeWriter::close(const TraceInfo &info)
{
    m_impl->journal().setRunning({}, kNoRecord, kNoRecord);
    Status status = m_impl->stop();
    NativeOutput &output = m_impl->output();
    const auto attempt = [&status](Status step) {
        if (status)
            status = std::move(step);
    };
    if (status && m_impl->buildsIndex()) {
        TraceBuilder &builder = m_impl->builder();
        builder.info() = info;
        const auto tables = builder.finishTables(JobContext());
        attempt(tables ? output.addIndex(*tables, builder.report()) : tables.status());
    }
    // Also after an error: with a directory the file opens without a scan.
    TraceInfo ended = info;
    if (!status)
        noteNotWritten(ended, status);
    attempt(output.addFinal(ended));
    attempt(output.close());
    return status;
}

} // namespace core
