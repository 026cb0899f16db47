// SPDX-License-Identifier: GPL-3.0-or-later
// The thread between a run and its trace: what arrives, in which order, and what an error does.
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/native_writer.h"
#include "core/io/queued_sink.h"
#include "tests/support/record_samples.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <functional>
#include <new>
#include <semaphore>
#include <thread>

using namespace core;

namespace {

// Notes what comes; EACH may hold up, refuse or raise at a record.
class Noting final : public TraceSink
{
public:
    using Each = std::function<Status(std::size_t index)>;
    explicit Noting(Each each = nullptr) : m_each(std::move(each)) {}

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

    Result<PayloadRecord> writePayload(DType, std::span<const std::int64_t>,
                                       std::span<const std::byte> bytes) override
    {
        before = records.size();
        return PayloadRecord{PayloadState::saved, "payload", 0, bytes.size(), true};
    }
    Result<SourceRecord> writeSource(std::string_view file, std::string_view) override
    {
        before = records.size();
        SourceRecord record;
        record.file = file;
        return record;
    }
    void markRunning(std::string_view op, RecordId, RecordId) override { running = op; }
    void markEnded() override { running.clear(); }
    std::uint64_t bytesWritten() const override { return 7; }
    Status close(const TraceInfo &info) override
    {
        before = records.size();
        closed = info;
        return Status::ok();
    }

    std::vector<AnyRecord> records;
    std::vector<std::thread::id> threads;
    std::size_t before = 0; // records there were when something else than a record came last
    std::string running;
    std::optional<TraceInfo> closed;

private:
    template <class Record>
    Status keep(Record record)
    {
        if (m_each)
            if (Status status = m_each(records.size()); !status)
                return status;
        records.emplace_back(std::move(record));
        threads.push_back(std::this_thread::get_id());
        return Status::ok();
    }

    Each m_each;
};

StackRecord numbered(std::size_t number)
{
    return {static_cast<RecordId>(number), {0}};
}

Status addMany(TraceSink &sink, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        if (Status status = sink.add(numbered(i)); !status)
            return status;
    return Status::ok();
}

QString linesOf(const std::string &path)
{
    JobContext job;
    const auto trace = openNative(path, job);
    if (!trace)
        return QString::fromStdString(trace.error().message());
    QString lines;
    const Status status = dumpTrace(
        **trace,
        [&lines](std::string_view line) {
            lines += QString::fromUtf8(line.data(), static_cast<qsizetype>(line.size())) + '\n';
            return Status::ok();
        },
        job);
    return status ? lines : QString::fromStdString(status.message());
}

} // namespace

class TestQueuedSink : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void recordsArriveInOrderFromOneThread()
    {
        constexpr std::size_t kCount = QueuedSink::kRecords * QueuedSink::kBatches * 3 + 5;
        Noting out;
        QueuedSink sink(out);
        QVERIFY(addMany(sink, kCount));
        QCOMPARE(sink.bytesWritten(), std::uint64_t(7));
        QVERIFY(sink.close(TraceInfo()));
        QCOMPARE(out.records.size(), kCount);
        for (std::size_t i = 0; i < kCount; ++i)
            QCOMPARE(std::get<StackRecord>(out.records[i]).id, static_cast<RecordId>(i));
        QVERIFY(out.threads.front() != std::this_thread::get_id());
        QVERIFY(std::all_of(out.threads.begin(), out.threads.end(),
                            [&](std::thread::id id) { return id == out.threads.front(); }));
    }

    void everythingElseComesBehindTheRecordsBeforeIt()
    {
        Noting out;
        QueuedSink sink(out);
        const std::int64_t one = 1;
        const std::byte byte{};
        QVERIFY(addMany(sink, 3));
        const auto payload = sink.writePayload(DType::uint8, std::span(&one, 1), std::span(&byte, 1));
        QVERIFY(payload && payload->state == PayloadState::saved);
        QCOMPARE(out.before, std::size_t(3));
        PayloadDone done = std::make_shared<std::atomic<bool>>(false);
        QVERIFY(addMany(sink, 4));
        QVERIFY(sink.writePayloadLater(DType::uint8, std::span(&one, 1), std::span(&byte, 1), done));
        QVERIFY2(done == nullptr, "this sink has read the bytes");
        QCOMPARE(out.before, std::size_t(7));
        QVERIFY(addMany(sink, 200));
        QCOMPARE(sink.writeSource("model.py", "pass")->file, std::string("model.py"));
        QCOMPARE(out.before, std::size_t(207));
        QVERIFY(addMany(sink, 1));
        QVERIFY(sink.close(TraceInfo()));
        QCOMPARE(out.before, std::size_t(208));
    }

    void theOpThatRunsIsNamedAtOnce()
    {
        std::binary_semaphore gate(0);
        Noting out([&gate](std::size_t index) {
            if (index == 0)
                gate.acquire();
            return Status::ok();
        });
        QueuedSink sink(out);
        QVERIFY(addMany(sink, QueuedSink::kRecords));
        sink.markRunning("aten.relu.default", 3, 3);
        QCOMPARE(out.running, std::string("aten.relu.default"));
        sink.markEnded();
        QVERIFY(out.running.empty());
        gate.release();
        QVERIFY(sink.close(TraceInfo()));
        QCOMPARE(out.records.size(), QueuedSink::kRecords);
    }

    // Before an op that may be the last: what came a while ago is on its way.
    void recordsDoNotWaitForLong()
    {
        std::atomic<bool> came{false};
        Noting out([&came](std::size_t) {
            came = true;
            return Status::ok();
        });
        QueuedSink sink(out);
        QVERIFY(addMany(sink, 1));
        const auto isPassedOn = [&] {
            sink.markRunning("aten.relu.default", 3, 3);
            return came.load();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isPassedOn(), 30000);
    }

    void anErrorShowsInALaterCall()
    {
        Noting out([](std::size_t index) {
            return index < 200 ? Status::ok() : Status(ErrorCode::limitExceeded, "the disk is full");
        });
        QueuedSink sink(out);
        Status status = Status::ok();
        for (std::size_t i = 0; status && i < 100000; ++i)
            status = sink.add(numbered(i));
        QCOMPARE(status.code(), ErrorCode::limitExceeded);
        QCOMPARE(QString::fromStdString(status.message()), QString("the disk is full"));
        QVERIFY(!sink.writeSource("model.py", "pass"));
        TraceInfo info;
        info.status = TraceStatus::finished;
        QCOMPARE(sink.close(info).code(), ErrorCode::limitExceeded);
        QCOMPARE(out.records.size(), std::size_t(200));
        QVERIFY(out.closed.has_value());
        QVERIFY2(out.closed->status != TraceStatus::finished, "the trace says that it is not whole");
        QVERIFY(out.closed->failure.message.find("the disk is full") != std::string::npos);
    }

    void wantOfMemoryEndsTheTraceNotTheProcess()
    {
        Noting out([](std::size_t index) -> Status {
            if (index == 5)
                throw std::bad_alloc();
            return Status::ok();
        });
        QueuedSink sink(out);
        QVERIFY(addMany(sink, 10));
        const Status status = sink.close(TraceInfo());
        QCOMPARE(status.code(), ErrorCode::limitExceeded);
        QCOMPARE(status.detail(), std::string("out_of_memory"));
        QCOMPARE(out.records.size(), std::size_t(5));
    }

    void aRunThatIsGivenUpEnds()
    {
        Noting out;
        {
            QueuedSink sink(out);
            QVERIFY(addMany(sink, QueuedSink::kRecords + 1));
        }
        QVERIFY(out.records.size() <= QueuedSink::kRecords);
        QVERIFY(!out.closed);
    }

    void aTraceFileIsTheSame()
    {
        const QTemporaryDir work;
        const auto write = [&work](const char *name, bool isQueued) {
            const std::string path = work.filePath(name).toStdString();
            auto writer = NativeWriter::create(path, test::sampleInfo());
            if (!writer)
                return QString("no writer");
            std::optional<QueuedSink> queued;
            if (isQueued)
                queued.emplace(**writer);
            TraceSink &sink = isQueued ? static_cast<TraceSink &>(*queued) : **writer;
            test::addEveryKind(sink, &sink);
            const Status closed = sink.close(test::sampleInfo());
            return closed ? linesOf(path) : QString::fromStdString(closed.message());
        };
        const QString plain = write("plain.opscope", false);
        QVERIFY2(plain.count('\n') > 20 && plain.contains("aten"), qPrintable(plain));
        QCOMPARE(write("queued.opscope", true), plain);
    }
};

QTEST_GUILESS_MAIN(TestQueuedSink)
#include "tst_queued_sink.moc"
