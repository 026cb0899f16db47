// SPDX-License-Identifier: GPL-3.0-or-later
// A disk that becomes full, or a limit on the size of files, at every point of a trace that is written.
#include "core/io/native_journal.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/native_writer.h"
#include "core/io/zip_writer.h"
#include "core/trace/failure_cause.h"
#include "core/trace/tensor_reader.h"
#include "tests/support/record_samples.h"

#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace core;

namespace {

constexpr std::size_t kTensors = 15;
constexpr std::size_t kLargeBytes = std::size_t(80) << 10U;

// Of this process, for as long as this lives.
class FileLimit
{
public:
    explicit FileLimit(rlim_t bytes)
    {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        m_old = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = {bytes, m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileLimit()
    {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_old);
    }
    FileLimit(const FileLimit &) = delete;
    FileLimit &operator=(const FileLimit &) = delete;

private:
    rlimit m_before = {};
    void (*m_old)(int) = SIG_DFL;
};

std::string noise(std::size_t bytes, std::uint32_t seed)
{
    std::string text(bytes, ' ');
    for (char &c : text) {
        seed = seed * 1664525U + 1013904223U;
        c = static_cast<char>('0' + (seed >> 24U) % 64U);
    }
    return text;
}

// What a run says before it meets the limit.
struct Written
{
    std::size_t flushed = 0;  // tensors that a flush said are in the file
    std::size_t payloads = 0; // large ones that were written
    Status status;
};

TensorRecord tensorOf(std::size_t number)
{
    TensorRecord tensor;
    tensor.id = static_cast<RecordId>(number);
    tensor.dtype = DType::uint8;
    tensor.shape = {static_cast<std::int64_t>(kLargeBytes)};
    tensor.address = noise(900, static_cast<std::uint32_t>(number)); // does not compress
    return tensor;
}

// Fifteen tensors, every fifth with a payload of its own, a segment for each three.
Written writeUntilFull(NativeWriter &writer)
{
    Written written;
    std::size_t number = 0;
    for (; number < kTensors && written.status; ++number) {
        TensorRecord tensor = tensorOf(number);
        if (number % 5 == 4) {
            const std::string bytes = noise(kLargeBytes, 7);
            const auto extent = static_cast<std::int64_t>(bytes.size());
            const auto payload =
                writer.writePayload(DType::uint8, std::span(&extent, 1), std::as_bytes(std::span(bytes)));
            written.status = payload.status();
            if (payload) {
                tensor.payload = *payload;
                ++written.payloads;
            }
        }
        if (written.status)
            written.status = writer.add(std::move(tensor));
        if (written.status && number % 3 == 2) {
            written.status = writer.flush();
            if (written.status)
                written.flushed = number + 1;
        }
    }
    return written;
}

} // namespace

class TestFullDisk : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_path = m_folder.path().toStdString() + "/full.opscope";
    }

    void everyLimitIsTheCauseThatIsTold()
    {
        const std::uint64_t whole = wholeSize();
        QVERIFY(whole > 3 * kLargeBytes);
        std::size_t most = 0;
        std::size_t failures = 0;
        for (std::uint64_t limit = 512; limit < whole + 400000; limit += 1024) {
            std::filesystem::remove(m_path);
            const std::string at = "at " + std::to_string(limit);
            Written written;
            Status closed;
            bool isMade = false;
            {
                const FileLimit small(limit);
                auto writer = NativeWriter::create(m_path, test::sampleInfo());
                isMade = writer.isOk();
                closed = writer.status();
                if (writer) {
                    written = writeUntilFull(**writer);
                    closed = (*writer)->close(test::sampleInfo());
                }
            }
            if (!isMade) {
                QVERIFY2(!std::filesystem::exists(m_path), at.c_str());
                QCOMPARE(closed.detail(), std::string("no_room"));
                continue;
            }
            const auto trace = openNative(m_path, m_job);
            QVERIFY2(trace.isOk(), (at + trace.status().message()).c_str());
            const TraceInfo &info = (*trace)->info();
            // What is in the file never becomes less with more room, and is all that was promised.
            QVERIFY2((*trace)->tensors().size() >= written.flushed, at.c_str());
            QVERIFY2((*trace)->tensors().size() >= most, at.c_str());
            most = (*trace)->tensors().size();
            if (closed) {
                QVERIFY2(info.status == TraceStatus::finished && written.payloads == 3, at.c_str());
                continue;
            }
            ++failures;
            QVERIFY2(info.status == TraceStatus::failed, at.c_str());
            QCOMPARE(failureCause(info), std::string("no_room"));
            QVERIFY2(info.failure.message.find("File too large") != std::string::npos,
                     info.failure.message.c_str());
            QCOMPARE(closed.detail(), std::string("no_room"));
            QVERIFY(closed.remedy().find("ulimit -f") != std::string::npos);
            // Found by its directory, without a scan.
            QVERIFY2(!(*trace)->loadReport().has("zip_recovered") &&
                         !(*trace)->loadReport().has("no_final_record"),
                     at.c_str());
        }
        QCOMPARE(most, kTensors);
        QVERIFY(failures > 200);
    }

    // More than the room that is kept: earlier entries go for it, and it says so.
    void aLongFinalRecordFindsItsRoom()
    {
        std::filesystem::remove(m_path);
        Status closed;
        {
            const FileLimit small(480000);
            auto writer = NativeWriter::create(m_path, test::sampleInfo());
            QVERIFY(writer.isOk());
            const Written written = writeUntilFull(**writer);
            QVERIFY(!written.status);
            TraceInfo info = test::sampleInfo();
            info.totals = Value::object({{"long", noise(400000, 3)}});
            closed = (*writer)->close(info);
        }
        QCOMPARE(closed.detail(), std::string("no_room"));
        const auto trace = openNative(m_path, m_job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QVERIFY((*trace)->info().status == TraceStatus::failed);
        QCOMPARE((*trace)->info().totals.at("long").toString().size(), std::size_t(400000));
        QVERIFY(!(*trace)->tensors().empty());
    }

    // The last ops of a killed run do not fit: what it died of is still told.
    void aCrashOnAFullDiskIsToldAsSuch()
    {
        std::filesystem::remove(m_path);
        const auto journal = TraceJournal::create();
        QVERIFY(journal.isOk());
        const pid_t pid = ::fork();
        if (pid == 0) {
            auto writer = NativeWriter::create(m_path, test::sampleInfo(), {(*journal)->descriptor(), true});
            for (std::size_t i = 0; writer && i < 100; ++i)
                (void)(*writer)->add(tensorOf(i));
            ::raise(SIGKILL);
        }
        int state = 0;
        ::waitpid(pid, &state, 0);
        QVERIFY(WIFSIGNALED(state));
        {
            const FileLimit small(std::filesystem::file_size(m_path) + 70000);
            const Status done = completeCrashed(m_path, **journal, {"SIGKILL", "", false, ""}).status();
            QCOMPARE(done.detail(), std::string());
        }
        const auto trace = openNative(m_path, m_job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QVERIFY((*trace)->info().status == TraceStatus::crashed);
        QCOMPARE((*trace)->info().failure.signal, std::string("SIGKILL"));
        QVERIFY2((*trace)->info().failure.message.find("File too large") != std::string::npos,
                 (*trace)->info().failure.message.c_str());
    }

    // What is set aside ahead of the writing is given back, of a writer that is not closed too.
    void nothingStaysSetAside()
    {
        for (const bool closes : {true, false}) {
            std::filesystem::remove(m_path);
            {
                auto writer = ZipWriter::create(m_path);
                QVERIFY(writer.isOk());
                (*writer)->keepRoom(std::uint64_t(8) << 20U);
                QVERIFY((*writer)->addStored("a", noise(100000, 1)).isOk());
                if (closes)
                    QVERIFY((*writer)->close().isOk());
            }
            struct stat info = {};
            QCOMPARE(::stat(m_path.c_str(), &info), 0);
            QVERIFY(info.st_blocks * 512 < info.st_size + (std::int64_t(1) << 17U));
        }
    }

private:
    std::uint64_t wholeSize()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        if (!writer || !writeUntilFull(**writer).status || !(*writer)->close(test::sampleInfo()))
            return 0;
        return std::filesystem::file_size(m_path);
    }

    QTemporaryDir m_folder;
    std::string m_path;
    JobContext m_job;
};

QTEST_APPLESS_MAIN(TestFullDisk)
#include "tst_full_disk.moc"
