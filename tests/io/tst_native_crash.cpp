// SPDX-License-Identifier: GPL-3.0-or-later
// A writer that dies at any moment, and what its parent makes of the file.
#include "core/io/native_journal.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/native_writer.h"
#include "core/trace/tensor_reader.h"
#include "tests/support/record_samples.h"

#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace core;

namespace {

constexpr int kOps = 1500;

// One op of the chain: its stack, its announcement, its tensor with a small payload, its record.
void writeOp(NativeWriter &writer, RecordId id)
{
    (void)writer.add(StackRecord{id, {0}});
    writer.markRunning("aten.relu.default", id, id);
    TensorRecord tensor;
    tensor.id = id;
    tensor.dtype = DType::int32;
    tensor.shape = {1};
    tensor.call = id;
    const std::int64_t one = 1;
    const auto payload =
        writer.writePayload(DType::int32, std::span(&one, 1), std::as_bytes(std::span(&id, 1)));
    if (payload)
        tensor.payload = *payload;
    (void)writer.add(std::move(tensor));
    CallRecord call;
    call.id = id;
    call.op = "aten.relu.default";
    call.func = "relu";
    call.stack = id;
    call.outputs = {id};
    if (id > 0)
        call.parents = {id - 1};
    (void)writer.add(std::move(call));
}

// The process that is killed: DEATH is the op in whose middle it dies, after PIECES of its four steps.
void child(const std::string &path, int journal, int death, int pieces)
{
    auto writer = NativeWriter::create(path, test::sampleInfo(), {journal, true});
    if (!writer)
        _exit(3);
    (void)(*writer)->add(FrameRecord{0, "model.py", 3, "forward", "return x.relu()", FrameOrigin::user});
    for (int i = 0; i < death; ++i)
        writeOp(**writer, static_cast<RecordId>(i));
    const auto id = static_cast<RecordId>(death);
    if (pieces >= 1)
        (void)(*writer)->add(StackRecord{id, {0}});
    if (pieces >= 2)
        (*writer)->markRunning("aten.softmax.int", id, id);
    if (pieces >= 3)
        (*writer)->markEnded();
    ::raise(SIGKILL);
}

struct Outcome
{
    std::shared_ptr<const Trace> trace;
    std::string error;
};

Outcome dieAt(const std::string &path, int death, int pieces)
{
    auto journal = TraceJournal::create();
    if (!journal)
        return {nullptr, journal.error().message()};
    const pid_t pid = ::fork();
    if (pid == 0)
        child(path, (*journal)->descriptor(), death, pieces);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status))
        return {nullptr, "the child was not killed"};
    if (const auto done = completeCrashed(path, **journal, {"SIGKILL", ""}); !done)
        return {nullptr, done.status().message()};
    JobContext job;
    auto trace = openNative(path, job);
    return trace ? Outcome{*trace, ""} : Outcome{nullptr, trace.error().message()};
}

} // namespace

class TestNativeCrash : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_path = m_folder.path().toStdString() + "/crash.opscope";
    }

    void everyOpBeforeTheDeathIsThere_data()
    {
        QTest::addColumn<int>("death");
        for (const int death : {0, 1, 2, 127, 169, 170, 171, 172, 341, 342, 343, 511, 512, 513, 1000, kOps})
            QTest::addRow("op %d", death) << death;
    }
    void everyOpBeforeTheDeathIsThere()
    {
        QFETCH(int, death);
        const Outcome outcome = dieAt(m_path, death, 2);
        QVERIFY2(outcome.trace, outcome.error.c_str());
        const Trace &trace = *outcome.trace;
        QVERIFY2(trace.loadReport().isClean(),
                 trace.loadReport().isClean() ? "" : trace.loadReport().notes()[0].message.c_str());
        QCOMPARE(trace.calls().size(), static_cast<std::size_t>(death + 1));
        QCOMPARE(trace.info().status, TraceStatus::crashed);
        QCOMPARE(trace.info().failure.signal, std::string("SIGKILL"));
        QCOMPARE(trace.info().failure.op, std::string("aten.softmax.int"));
        QCOMPARE(trace.info().failure.call, static_cast<std::uint32_t>(death));
        QVERIFY(trace.info().failure.label.starts_with("softmax_1"));
        const CallRow &running = trace.call(CallId(static_cast<std::size_t>(death)));
        QVERIFY(!running.finished);
        QVERIFY(running.stack.isValid());
        QCOMPARE(*trace.sourceLine(OpId(running.rows.begin)), std::string("model.py:3"));
        for (int i = 0; i < death; ++i) {
            const TensorId tensor(static_cast<std::size_t>(i));
            QVERIFY(trace.call(CallId(tensor.index())).finished);
            const auto reader = TensorReader::open(trace, tensor);
            QVERIFY2(reader.isOk(), reader.status().message().c_str());
            std::array<std::byte, 4> bytes;
            QVERIFY(reader->read(0, bytes).isOk());
            QCOMPARE(std::bit_cast<std::int32_t>(bytes), i);
        }
    }

    void aDeathBetweenTwoOpsNamesTheLast()
    {
        const Outcome outcome = dieAt(m_path, 5, 1);
        QVERIFY2(outcome.trace, outcome.error.c_str());
        QCOMPARE(outcome.trace->calls().size(), std::size_t(5));
        QVERIFY(outcome.trace->info().failure.op.empty());
        QVERIFY(outcome.trace->info().failure.message.find("aten.relu.default had finished") !=
                std::string::npos);
    }

    // Also where its record was still to come.
    void anOpThatHadEndedIsNotBlamed()
    {
        const Outcome outcome = dieAt(m_path, 5, 3);
        QVERIFY2(outcome.trace, outcome.error.c_str());
        QCOMPARE(outcome.trace->calls().size(), std::size_t(6));
        QVERIFY(outcome.trace->call(CallId(5)).finished);
        QVERIFY(outcome.trace->info().failure.op.empty());
        QVERIFY(outcome.trace->info().failure.message.find("aten.softmax.int had finished") !=
                std::string::npos);
    }

    void whatIsWholeStaysAsItIs()
    {
        QVERIFY(dieAt(m_path, 3, 2).trace);
        const auto size = std::filesystem::file_size(m_path);
        const auto journal = TraceJournal::create();
        QVERIFY(journal.isOk());
        QVERIFY(completeCrashed(m_path, **journal, {"SIGSEGV", ""}).isOk());
        QCOMPARE(std::filesystem::file_size(m_path), size);
    }

    void withoutAJournalTheSegmentsAreThere()
    {
        const pid_t pid = ::fork();
        if (pid == 0)
            child(m_path, -1, 1000, 2);
        int status = 0;
        ::waitpid(pid, &status, 0);
        JobContext job;
        const auto trace = openNative(m_path, job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QVERIFY((*trace)->calls().size() <= 1000);
        QVERIFY((*trace)->loadReport().has("no_final_record"));
    }

    void aJournalFullOfNonsenseIsRefusedOrHarmless()
    {
        auto journal = TraceJournal::create();
        QVERIFY(journal.isOk());
        for (std::uint32_t seed = 1; seed < 200; ++seed) {
            std::vector<std::uint32_t> noise(1024);
            std::uint32_t state = seed;
            for (std::uint32_t &word : noise)
                word = (state = state * 1664525U + 1013904223U) & (seed % 2 == 0 ? 3U : 0xffffffffU);
            QCOMPARE(::pwrite((*journal)->descriptor(), noise.data(), 4096 - 16, 16), 4096 - 16);
            const auto content = (*journal)->content();
            const auto running = (*journal)->running();
            QVERIFY(content.isOk());
            QVERIFY(content->parts.size() <= TraceJournal::kSlots);
        }
        QVERIFY(::ftruncate((*journal)->descriptor(), 10) != 0);
        QVERIFY(!TraceJournal::attach(::fileno(stdin)).isOk());
    }

private:
    QTemporaryDir m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestNativeCrash)
#include "tst_native_crash.moc"
