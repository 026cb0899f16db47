// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/file_kind.h"
#include "core/io/inflate.h"
#include "core/io/zip_reader.h"
#include "core/io/zip_writer.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/resource.h>

using namespace core;

namespace {

std::vector<std::byte> bytesOf(std::string_view text)
{
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> fileBytes(const std::filesystem::path &path)
{
    const auto source = openFile(path);
    return source ? *readRange(**source, 0, (*source)->size(), UINT64_MAX) : std::vector<std::byte>();
}

Result<std::shared_ptr<const ZipArchive>> openBytes(std::vector<std::byte> bytes, LoadReport &report,
                                                    bool recover = false)
{
    ZipOptions options;
    options.recover = recover;
    return ZipArchive::open(memorySource("sample.zip", std::move(bytes)), report, options);
}

std::string textOf(const ZipArchive &archive, std::string_view name)
{
    const ZipEntry *entry = archive.find(name);
    if (entry == nullptr)
        return "(missing)";
    const auto bytes = archive.read(*entry, 1U << 30U);
    return bytes ? std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size())
                 : bytes.error().detail();
}

// Four entries: stored without extra field, deflated, aligned, empty.
void writeSample(const std::filesystem::path &path, bool close = true)
{
    auto writer = ZipWriter::create(path);
    QVERIFY(writer.isOk());
    QVERIFY((*writer)->addStored("mimetype", std::string_view("application/x"), 1).isOk());
    QVERIFY((*writer)->addDeflated("records/000000.jsonl", bytesOf(std::string(300, 'a'))).isOk());
    QVERIFY((*writer)->addStored("tensors/000000.npy", std::string_view("payload")).isOk());
    QVERIFY((*writer)->addStored("empty", std::string_view()).isOk());
    if (close)
        QVERIFY((*writer)->close().isOk());
}

} // namespace

class TestZip : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_path = m_folder.path().toStdString() + "/sample.zip";
    }

    void whatIsWrittenReadsBack()
    {
        writeSample(m_path);
        LoadReport report;
        const auto archive = openBytes(fileBytes(m_path), report);
        QVERIFY(archive.isOk());
        QVERIFY(report.isClean());
        QCOMPARE((*archive)->entries().size(), std::size_t(4));
        QCOMPARE(textOf(**archive, "mimetype"), std::string("application/x"));
        QCOMPARE(textOf(**archive, "records/000000.jsonl"), std::string(300, 'a'));
        QCOMPARE(textOf(**archive, "tensors/000000.npy"), std::string("payload"));
        QCOMPARE(textOf(**archive, "empty"), std::string());
        QCOMPARE((*archive)->find("records"), static_cast<const ZipEntry *>(nullptr));
        const auto bytes = fileBytes(m_path);
        QCOMPARE(std::string(reinterpret_cast<const char *>(bytes.data()) + 30, 21),
                 std::string("mimetypeapplication/x"));
    }

    void storedDataAreAligned()
    {
        const std::string path = m_folder.path().toStdString() + "/aligned.zip";
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        for (int i = 0; i < 200; ++i)
            QVERIFY(
                (*writer)
                    ->addStored("t" + std::string(i % 70, 'x') + std::to_string(i), std::string_view("ab"))
                    .isOk());
        QVERIFY((*writer)->close().isOk());
        LoadReport report;
        const auto archive = openBytes(fileBytes(path), report);
        QVERIFY(archive.isOk());
        for (const ZipEntry &entry : (*archive)->entries()) {
            const auto offset = (*archive)->dataOffset(entry);
            QVERIFY(offset.isOk());
            QCOMPARE(*offset % 64, std::uint64_t(0));
            QCOMPARE(textOf(**archive, entry.name), std::string("ab"));
        }
    }

    void anEntryGivenInPieces()
    {
        const std::string path = m_folder.path().toStdString() + "/pieces.zip";
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        QVERIFY((*writer)->beginStored("big", 6).isOk());
        QVERIFY(!(*writer)->addStored("other", std::string_view("x")).isOk());
        QVERIFY((*writer)->append(bytesOf("abc")).isOk());
        QVERIFY(!(*writer)->finish().isOk());
        QVERIFY(!(*writer)->append(bytesOf("defg")).isOk());
        QVERIFY((*writer)->append(bytesOf("def")).isOk());
        QVERIFY((*writer)->finish().isOk());
        QCOMPARE((*writer)->lastDataOffset(), std::uint64_t(64));
        QVERIFY((*writer)->beginStored("gone", 3).isOk());
        QVERIFY((*writer)->append(bytesOf("xyz")).isOk());
        QVERIFY((*writer)->abandon().isOk());
        QVERIFY((*writer)->close().isOk());
        QVERIFY(!(*writer)->addStored("late", std::string_view("x")).isOk());
        LoadReport report;
        const auto archive = openBytes(fileBytes(path), report);
        QVERIFY(archive.isOk());
        QCOMPARE((*archive)->entries().size(), std::size_t(1));
        QCOMPARE(textOf(**archive, "big"), std::string("abcdef"));
    }

    void manyEntriesNeedZip64()
    {
        const std::string path = m_folder.path().toStdString() + "/many.zip";
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        const int count = 70000;
        for (int i = 0; i < count; ++i)
            QVERIFY((*writer)->addStored(std::to_string(i), std::string_view("v"), 1).isOk());
        QVERIFY((*writer)->close().isOk());
        LoadReport report;
        const auto archive = openBytes(fileBytes(path), report);
        QVERIFY(archive.isOk());
        QCOMPARE((*archive)->entries().size(), std::size_t(count));
        QCOMPARE(textOf(**archive, "69999"), std::string("v"));
        ZipOptions few;
        few.entries = 1000;
        const auto refused = ZipArchive::open((*archive)->byteSource(), report, few);
        QCOMPARE(refused.error().detail(), std::string("too_many_entries"));
    }

    // Cut anywhere: without recovery refused, with it every entry that is whole is there.
    void everyTruncationPoint()
    {
        writeSample(m_path);
        const auto whole = fileBytes(m_path);
        LoadReport clean;
        const auto archive = openBytes(whole, clean);
        QVERIFY(archive.isOk());
        std::vector<std::uint64_t> ends;
        for (const ZipEntry &entry : (*archive)->entries())
            ends.push_back(*(*archive)->dataOffset(entry) + entry.compressedSize);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(length));
            LoadReport report;
            QCOMPARE(openBytes(cut, report).error().detail(), std::string("zip_no_end_record"));
            const auto recovered = openBytes(cut, report, true);
            const auto expected = static_cast<std::size_t>(
                std::count_if(ends.begin(), ends.end(), [&](auto end) { return end <= length; }));
            if (expected == 0) {
                QVERIFY(!recovered.isOk());
                continue;
            }
            QVERIFY(recovered.isOk());
            QVERIFY(report.has("zip_recovered"));
            QVERIFY((*recovered)->isRecovered());
            QCOMPARE((*recovered)->entries().size(), expected);
            QCOMPARE((*recovered)->endOfEntries(), ends[expected - 1]);
            QCOMPARE(textOf(**recovered, "mimetype"), std::string("application/x"));
        }
    }

    void everyFlippedBitIsAnErrorOrHarmless()
    {
        writeSample(m_path);
        const auto whole = fileBytes(m_path);
        int refused = 0;
        for (std::size_t at = 0; at < whole.size(); ++at)
            for (int bit = 0; bit < 8; ++bit) {
                auto damaged = whole;
                damaged[at] ^= std::byte(1U << static_cast<unsigned>(bit));
                for (const bool recover : {false, true}) {
                    LoadReport report;
                    const auto archive = openBytes(damaged, report, recover);
                    refused += archive.isOk() ? 0 : 1;
                    if (!archive.isOk())
                        continue;
                    for (const ZipEntry &entry : (*archive)->entries())
                        QVERIFY((*archive)->read(entry, 1U << 20U).isOk() ||
                                !(*archive)->read(entry, 1U << 20U).error().message().empty());
                }
            }
        QVERIFY(refused > 100);
    }

    void aDeadWritersFileGoesOn()
    {
        writeSample(m_path, false);
        std::filesystem::resize_file(m_path,
                                     std::filesystem::file_size(m_path) - 3); // cuts the entry "empty"
        auto writer = ZipWriter::resume(m_path);
        QVERIFY(writer.isOk());
        QCOMPARE((*writer)->entryCount(), std::size_t(3));
        QVERIFY((*writer)->addStored("final.json", std::string_view("{}")).isOk());
        QVERIFY((*writer)->close().isOk());
        LoadReport report;
        const auto archive = openBytes(fileBytes(m_path), report);
        QVERIFY(archive.isOk());
        QVERIFY(report.isClean());
        QCOMPARE(textOf(**archive, "tensors/000000.npy"), std::string("payload"));
        QCOMPARE(textOf(**archive, "final.json"), std::string("{}"));
    }

    // Two runs that are told to write one file would mix their entries.
    void aFileThatIsBeingWrittenIsRefused()
    {
        const std::string path = m_folder.path().toStdString() + "/busy.zip";
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        const auto second = ZipWriter::create(path);
        QCOMPARE(second.status().code(), ErrorCode::unreadable);
        QVERIFY(second.status().message().find("busy.zip") != std::string::npos);
        QVERIFY((*writer)->addStored("first", std::string_view("kept")).isOk());
        QCOMPARE(ZipWriter::resume(path).status().code(), ErrorCode::unreadable);
        QVERIFY((*writer)->close().isOk());
        LoadReport report;
        const auto archive = openBytes(fileBytes(path), report);
        QVERIFY(archive.isOk());
        QCOMPARE(textOf(**archive, "first"), std::string("kept"));
        QVERIFY(ZipWriter::create(path).isOk());
    }

    // Who has the old file open keeps it.
    void aNewArchiveReplacesTheOldFile()
    {
        const std::string path = m_folder.path().toStdString() + "/old.zip";
        writeSample(path);
        const auto old = openFile(path);
        QVERIFY(old.isOk());
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        QVERIFY((*writer)->close().isOk());
        LoadReport report;
        const auto archive = ZipArchive::open(*old, report);
        QVERIFY(archive.isOk());
        QCOMPARE(textOf(**archive, "tensors/000000.npy"), std::string("payload"));
    }

    // A disk without room for the new file leaves the old one, under its name and alone.
    void aFullDiskKeepsTheOldFile()
    {
        const QTemporaryDir folder;
        const std::string path = folder.path().toStdString() + "/old.zip";
        writeSample(path);
        const auto before = fileBytes(path);
        {
            auto writer = ZipWriter::create(path);
            QVERIFY(writer.isOk());
            (*writer)->keepRoom(std::uint64_t(1) << 60U);
            QVERIFY(!(*writer)->addStored("first", std::string_view("new")));
            QVERIFY(!(*writer)->hasName());
            QCOMPARE(fileBytes(path), before);
            QCOMPARE(ZipWriter::create(path).status().code(), ErrorCode::unreadable); // it is in use
        }
        QCOMPARE(fileBytes(path), before);
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList{"old.zip"});
        auto writer = ZipWriter::create(path);
        QVERIFY((*writer)->addStored("first", std::string_view("new")).isOk());
        QVERIFY((*writer)->hasName());
        QVERIFY(fileBytes(path) != before);
    }

    // The file may not grow beyond a limit, as on a full disk: the call fails, the entries before it stay.
    void aFullDiskLosesOnlyTheEntry()
    {
        const std::string path = m_folder.path().toStdString() + "/full.zip";
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        QVERIFY((*writer)->addStored("first", std::string_view("kept")).isOk());
        rlimit before = {};
        QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
        const auto old = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small = {4096, before.rlim_max};
        QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
        const Status failed = (*writer)->addStored("second", std::string(10000, 'x'));
        const Status next = (*writer)->addStored("third", std::string_view("small"));
        const Status closed = (*writer)->close();
        QCOMPARE(setrlimit(RLIMIT_FSIZE, &before), 0);
        std::signal(SIGXFSZ, old);
        QCOMPARE(failed.code(), ErrorCode::unreadable);
        QVERIFY(next.isOk());
        QVERIFY(closed.isOk());
        LoadReport report;
        const auto archive = openBytes(fileBytes(path), report);
        QVERIFY(archive.isOk());
        QCOMPARE((*archive)->entries().size(), std::size_t(2));
        QCOMPARE(textOf(**archive, "first"), std::string("kept"));
        QCOMPARE(textOf(**archive, "third"), std::string("small"));
    }

    void damageIsFoundByTheCheck()
    {
        writeSample(m_path);
        auto bytes = fileBytes(m_path);
        LoadReport report;
        const auto good = openBytes(bytes, report);
        QVERIFY(good.isOk());
        const ZipEntry *entry = (*good)->find("tensors/000000.npy");
        QVERIFY(entry != nullptr);
        JobContext context;
        QVERIFY((*good)->verify(*entry, context).isOk());
        bytes[*(*good)->dataOffset(*entry)] ^= std::byte{1};
        const auto bad = openBytes(bytes, report);
        QVERIFY(bad.isOk());
        QCOMPARE((*bad)->verify(*(*bad)->find("tensors/000000.npy"), context).detail(),
                 std::string("crc_mismatch"));
        QCOMPARE(textOf(**bad, "tensors/000000.npy"), std::string("crc_mismatch"));
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE((*good)->verify(*entry, JobContext(stop.get_token())).code(), ErrorCode::cancelled);
    }

    void tooGoodCompressionIsStored()
    {
        const std::vector<std::byte> zeros(std::size_t(3) << 20U);
        const auto deflated = deflateBytes(zeros);
        QVERIFY(deflated.isOk());
        QVERIFY(deflated->stored);
        QCOMPARE(deflated->bytes.size(), zeros.size());
    }

    // What torch.jit.save leaves when it raises on the way is no checkpoint.
    void aScriptWhoseSaveBrokeOffIsNamed()
    {
        const auto named = [this](std::string_view pickle, std::initializer_list<const char *> more) {
            const std::string path = m_folder.filePath("part.pt").toStdString();
            auto writer = ZipWriter::create(path);
            bool good = writer && (*writer)->addStored("m/data/0", std::string_view("1234")).isOk() &&
                        (*writer)->addStored("m/data.pkl", pickle).isOk();
            for (const char *name : more)
                good = good && (*writer)->addStored(name, std::string_view("text")).isOk();
            good = good && (*writer)->close().isOk();
            const auto identity = identifyFile(path);
            return good && identity ? identity->description : std::string("(not written)");
        };
        const std::string_view module = "\x80\x02"
                                        "c__torch__.models\nNet\nq";
        const std::string broken = "a TorchScript archive whose save broke off: it has no constants.pkl";
        QCOMPARE(named(module, {}), broken);
        QCOMPARE(named(module, {"m/code/__torch__/models.py"}), broken);
        QCOMPARE(named("\x80\x02}q", {"m/code/__torch__/models.py"}), broken);
        QCOMPARE(named(module, {"m/code/__torch__/models.py", "m/constants.pkl"}),
                 std::string("a TorchScript archive"));
        QCOMPARE(named("\x80\x02}q", {}), std::string("a torch.save checkpoint"));
    }

    void safeNames()
    {
        for (const char *good : {"a", "a/b", "a..b/c", "...", "a/"})
            QVERIFY2(isSafeRelativePath(good), good);
        for (const char *bad : {"", "/a", "..", "a/../b", "a/..", "C:x", "a\\b", "a\nb"})
            QVERIFY2(!isSafeRelativePath(bad), bad);
    }

private:
    QTemporaryDir m_folder;
    std::string m_path;
};

QTEST_APPLESS_MAIN(TestZip)
#include "tst_zip.moc"
