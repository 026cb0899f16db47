// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/convert_trace.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/native_writer.h"
#include "core/io/safetensors.h"
#include "core/io/trace_registry.h"
#include "core/io/zip_writer.h"
#include "core/trace/tensor_reader.h"
#include "tests/support/record_samples.h"
#include "tests/support/table_text.h"
#include "tests/support/trace_text.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <csignal>
#include <fstream>
#include <sqlite3.h>
#include <sys/resource.h>

using namespace core;

namespace {

QStringList text(const TraceTables &tables)
{
    return QString::fromStdString(test::tableText(tables)).split('\n');
}

std::vector<std::byte> fileBytes(const std::filesystem::path &path)
{
    const auto source = openFile(path);
    return source ? *readRange(**source, 0, (*source)->size(), UINT64_MAX) : std::vector<std::byte>();
}

void writeBytes(const std::filesystem::path &path, std::span<const std::byte> bytes)
{
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

QString findings(const VerifyResult &result)
{
    QString out;
    for (const VerifyFinding &finding : result.findings)
        out += QString::fromStdString(finding.token + " " + finding.subject + ": " + finding.message + "\n");
    return out;
}

// A source that fails at its Nth read.
class FaultySource final : public ByteSource
{
public:
    FaultySource(std::vector<std::byte> bytes, int fails)
        : m_inner(memorySource("faulty.opscope", std::move(bytes))), m_left(fails)
    {
    }
    std::uint64_t size() const override { return m_inner->size(); }
    const std::string &name() const override { return m_inner->name(); }
    std::span<const std::byte> view(std::uint64_t, std::uint64_t) const override { return {}; }
    Status readAt(std::uint64_t offset, std::span<std::byte> out) const override
    {
        if (m_left-- == 0)
            return {ErrorCode::unreadable, "the device does not answer"};
        return m_inner->readAt(offset, out);
    }
    bool wasHit() const { return m_left < 0; }

private:
    std::shared_ptr<const ByteSource> m_inner;
    mutable int m_left;
};

} // namespace

class TestNativeTools : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_path = m_folder.path().toStdString() + "/sample.opscope";
        m_other = m_folder.path().toStdString() + "/other.opscope";
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        test::addEveryKind(**writer, writer->get());
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        m_bytes = fileBytes(m_path);
        m_expected = text((*openNative(m_path, m_job))->tables());
    }

    void aGoodFileIsVerified()
    {
        const auto result = verifyTrace(m_path, m_job);
        QVERIFY2(result.isOk(), result.status().message().c_str());
        QCOMPARE(findings(*result), QString());
        QVERIFY(result->hasIndex);
        QVERIFY(result->hasFinal);
        QCOMPARE(result->payloadBytes, 120024U);
        QCOMPARE(result->records, 36U);
    }

    void aCopyKeepsEverything()
    {
        const auto trace = openTrace(m_path, m_job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QVERIFY(writeTrace(**trace, m_other, {}, m_job).isOk());
        const auto copy = openTrace(m_other, m_job);
        QVERIFY(copy.isOk());
        QCOMPARE(text((*copy)->tables()), m_expected);
        QCOMPARE(findings(*verifyTrace(m_other, m_job)), QString());
        std::vector<std::byte> bytes(24);
        QVERIFY(TensorReader::open(**copy, TensorId(0))->read(0, bytes).isOk());
        QCOMPARE(static_cast<int>(bytes[3]), (3 * 7 + 24) & 255);
        QCOMPARE((*copy)->info().createdUtc, (*trace)->info().createdUtc);
        QCOMPARE((*copy)->info().status, TraceStatus::finished);
    }

    // Also where the tables come from the index: a copy is not whole because it can be written.
    void aCopySaysWhatItCouldNotRead()
    {
        auto bytes = fileBytes(m_path);
        const std::string_view whole(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        const auto trace = openTrace(m_path, m_job);
        QVERIFY(trace.isOk());
        QCOMPARE(writeTrace(**trace, m_other, {}, m_job)->size(), std::size_t(0));
        // One byte of the first array, and one of a source text.
        const std::size_t array = whole.find("\x93NUMPY");
        const std::size_t text = whole.find("import torch");
        QVERIFY(array != std::string_view::npos && text != std::string_view::npos);
        bytes[array + 130] ^= std::byte(64);
        bytes[text] ^= std::byte(64);
        const std::string damaged = m_other + ".damaged";
        QFile file(QString::fromStdString(damaged));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<qint64>(bytes.size()));
        file.close();
        const auto again = openTrace(damaged, m_job);
        QVERIFY(again.isOk());
        const auto leftOut = writeTrace(**again, m_other, {}, m_job);
        QVERIFY(leftOut.isOk());
        QCOMPARE(leftOut->size(), std::size_t(2));
        QVERIFY2(leftOut->at(0).find("values of tensors: 1 left out") != std::string::npos,
                 leftOut->at(0).c_str());
        QVERIFY2(leftOut->at(1).find("source texts: 1 left out") != std::string::npos,
                 leftOut->at(1).c_str());
    }

    // The CRC of large entries is not looked at when they are read: a copy must not make damage whole.
    void damageOfALargeArrayIsNotMadeWhole()
    {
        const std::string path = m_other + ".large";
        const std::vector<std::byte> values(std::size_t(3) << 20U, std::byte(1));
        {
            auto writer = NativeWriter::create(path, test::sampleInfo());
            QVERIFY(writer.isOk());
            const std::array shape = {static_cast<std::int64_t>(values.size())};
            auto payload = (*writer)->writePayload(DType::uint8, shape, values);
            QVERIFY(payload.isOk());
            TensorRecord tensor;
            tensor.id = 0;
            tensor.dtype = DType::uint8;
            tensor.shape = {shape[0]};
            tensor.payload = *payload;
            QVERIFY((*writer)->add(std::move(tensor)).isOk());
            QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        }
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(file.size() / 2));
        QVERIFY(file.putChar('x'));
        file.close();
        QVERIFY(!verifyTrace(path, m_job)->findings.empty());
        const auto trace = openTrace(path, m_job);
        QVERIFY(trace.isOk());
        const auto leftOut = writeTrace(**trace, m_other, {}, m_job);
        QVERIFY(leftOut.isOk());
        QCOMPARE(leftOut->size(), std::size_t(1));
        QVERIFY2(leftOut->front().find("CRC") != std::string::npos, leftOut->front().c_str());
        const auto copy = openTrace(m_other, m_job);
        QVERIFY(copy.isOk());
        QCOMPARE((*copy)->tensor(TensorId(0)).payload.state, PayloadState::dropped);
    }

    void aCopyLeavesOutWhatIsAsked()
    {
        const auto trace = openTrace(m_path, m_job);
        QVERIFY(trace.isOk());
        const CopyOptions all{true, true, true, true, true};
        QVERIFY(writeTrace(**trace, m_other, all, m_job).isOk());
        const auto copy = openTrace(m_other, m_job);
        QVERIFY(copy.isOk());
        QCOMPARE((*copy)->info().modelPath, std::string("model.pt2"));
        QCOMPARE((*copy)->info().attributes.at("removed").toList().size(), std::size_t(5));
        QVERIFY((*copy)->info().request.at("inputs").isNull());
        for (const TensorRow &row : (*copy)->tensors())
            QVERIFY(row.payload.state != PayloadState::saved);
        QCOMPARE((*copy)->tensor(TensorId(0)).payload.state, PayloadState::dropped);
        QVERIFY(!(*copy)->sources()[0].entry.isValid());
        const auto bytes = fileBytes(m_other);
        const std::string_view whole(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        QVERIFY(whole.find("/home/someone") == std::string_view::npos);
        QVERIFY(whole.find("self.lin") == std::string_view::npos);
        QCOMPARE(findings(*verifyTrace(m_other, m_job)), QString());
    }

    void shortPathsTellFilesApartAndLeaveNoFolderOfTheAuthor()
    {
        const std::string path = m_other + ".two_files";
        TraceInfo info = test::sampleInfo();
        info.request = Value::object(
            {{"model", "/home/someone/model.pt2"},
             {"output", "/home/someone/run.opscope"},
             {"backward", Value::object({{"target", "/home/someone/y.npy"}})},
             {"effective_inputs", Value::list({Value::object({{"origin", "/home/someone/x.npy"}})})}});
        {
            auto writer = NativeWriter::create(path, info);
            QVERIFY(writer.isOk());
            RecordId id = 0;
            for (const char *file :
                 {"/home/someone/a/net.py", "/home/someone/b/net.py", "/home/someone/b/loss.py"}) {
                QVERIFY((*writer)->add(FrameRecord{id++, file, 1, "f", "x", FrameOrigin::user}).isOk());
                QVERIFY((*writer)->writeSource(file, std::string("# ") + file).isOk());
            }
            QVERIFY((*writer)->close(info).isOk());
        }
        const auto trace = openTrace(path, m_job);
        QVERIFY(trace.isOk());
        CopyOptions options;
        options.shortPaths = true;
        QVERIFY(writeTrace(**trace, m_other, options, m_job).isOk());
        const auto copy = openTrace(m_other, m_job);
        QVERIFY(copy.isOk());
        QStringList files;
        for (const SourceRow &source : (*copy)->sources()) {
            const std::string name((*copy)->string(source.file));
            const auto text = (*copy)->store().text((*copy)->string(source.entry), 1000);
            QVERIFY(text.isOk());
            QVERIFY(text->ends_with(name));
            files << QString::fromStdString(name);
        }
        QCOMPARE(files, QStringList({"a/net.py", "b/net.py", "loss.py"}));
        QVERIFY(toJson((*copy)->info().request).find("someone") == std::string::npos);
        QCOMPARE((*copy)->info().request.at("backward").at("target").toString(), std::string("y.npy"));
    }

    void aDumpIsOneDocumentALine()
    {
        const auto trace = openTrace(m_path, m_job);
        QVERIFY(trace.isOk());
        std::vector<std::string> kinds;
        const auto take = [&kinds](std::string_view line) {
            const auto value = parseJson(line, "line");
            kinds.push_back(value ? value->at("t").toString() : "bad");
            return Status::ok();
        };
        QVERIFY(dumpTrace(**trace, take, m_job).isOk());
        QCOMPARE(kinds.front(), std::string("manifest"));
        QCOMPARE(kinds.back(), std::string("final"));
        QCOMPARE(std::count(kinds.begin(), kinds.end(), "op"), 5);
        QCOMPARE(std::count(kinds.begin(), kinds.end(), "bad"), 0);
        QCOMPARE(kinds.size(), std::size_t(38));
    }

    void convertsToOtherFormats()
    {
        const auto trace = openTrace(m_path, m_job);
        QVERIFY(trace.isOk());
        const auto convert = [&](std::string_view name) {
            const Status status =
                convertTrace(**trace, m_other, *convertTargetFromName(name), m_job).status();
            const auto bytes = fileBytes(m_other);
            return status ? std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size())
                          : status.message();
        };
        const auto json = parseJson(convert("json"), "json");
        QVERIFY2(json.isOk(), json.status().message().c_str());
        QCOMPARE(json->toList().size(), std::size_t(38));
        const auto csv = QString::fromStdString(convert("csv")).split('\n');
        QCOMPARE(csv.size(), qsizetype(7));
        QVERIFY(csv[0].startsWith("label,op,call"));
        QVERIFY(csv[2].startsWith(
            "linear_1_1:1,aten.linear.default,1,0,1,lin:2,2 3,float32,input_1:1,88,36,24,1,1,1,"));
        const auto events = parseJson(convert("chrome-trace"), "events");
        QVERIFY(events.isOk());
        QCOMPARE(events->at("traceEvents").toList().size(), std::size_t(1));
        QCOMPARE(events->at("traceEvents").toList()[0].at("dur").toDouble(), 0.088);
        const std::string values = convert("safetensors");
        LoadReport report;
        const auto bytes = std::as_bytes(std::span(values));
        const auto source = memorySource("values", {bytes.begin(), bytes.end()});
        const auto read = readSafetensors(*source, report);
        QVERIFY2(read.isOk(), read.status().message().c_str());
        QVERIFY(values.find("\"input_1:1\"") != std::string::npos);
        QVERIFY(!convertTargetFromName("xml").has_value());
    }

    // safetensors has no word for every type: what is left out is named, with the type.
    void convertSaysWhatItLeavesOut()
    {
        const auto trace =
            tests::traceFromText("param w:f32[2]=1,2\nparam c:c128[1]=1,2\nparam d:c128[1]=3,4\n");
        const auto leftOut = convertTrace(*trace, m_other, ConvertTarget::safetensors, m_job);
        QVERIFY2(leftOut.isOk(), leftOut.status().message().c_str());
        QCOMPARE(*leftOut, std::vector<std::string>{
                               "2 tensors left out, safetensors has no word for complex128: c, d"});
        LoadReport report;
        const auto file = readSafetensors(**openFile(m_other), report);
        QVERIFY(file.isOk());
        QCOMPARE(file->tensors.size(), std::size_t(1));
        const auto none = tests::traceFromText("param c:c128[1]=1,2\n");
        const auto refused = convertTrace(*none, m_other, ConvertTarget::safetensors, m_job);
        QVERIFY(!refused.isOk());
        QVERIFY(refused.error().message().find("complex128") != std::string::npos);
    }

    void anSqliteExportAnswersQuestions()
    {
        const auto trace = openTrace(m_path, m_job);
        QVERIFY(trace.isOk());
        const Status status = convertTrace(**trace, m_other, ConvertTarget::sqlite, m_job).status();
        QVERIFY2(status, status.message().c_str());
        sqlite3 *database = nullptr;
        QCOMPARE(sqlite3_open_v2(m_other.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
        const auto ask = [database](const char *question) {
            std::string answer;
            const auto take = [](void *out, int count, char **values, char **) {
                for (int i = 0; i < count; ++i)
                    *static_cast<std::string *>(out) += std::string(values[i] ? values[i] : "null") + ";";
                return 0;
            };
            char *error = nullptr;
            if (sqlite3_exec(database, question, take, &answer, &error) != SQLITE_OK)
                answer = error;
            sqlite3_free(error);
            return answer;
        };
        QCOMPARE(ask("SELECT count(*) FROM ops"), std::to_string((*trace)->ops().size()) + ";");
        QCOMPARE(ask("SELECT count(*) FROM tensors"), std::to_string((*trace)->tensors().size()) + ";");
        QCOMPARE(ask("SELECT o.label, c.op, t.shape, s.nan, s.pos_inf, c.duration_ns FROM ops o"
                     " JOIN calls c ON c.id = o.call JOIN tensors t ON t.id = o.tensor"
                     " JOIN stats s ON s.tensor = t.id WHERE c.func = 'linear'"),
                 std::string("linear_1_1:1;aten.linear.default;[2,3];1;1;88;"));
        QCOMPARE(ask("SELECT p.label FROM edges e JOIN ops p ON p.id = e.parent JOIN ops o ON o.id = e.child"
                     " WHERE o.label = 'linear_1_1:1'"),
                 std::string("input_1:1;"));
        QCOMPARE(ask("PRAGMA integrity_check"), std::string("ok;"));
        sqlite3_close(database);
        const Status refused = convertTrace(**trace, m_folder.filePath("no/such/x.db").toStdString(),
                                            ConvertTarget::sqlite, m_job)
                                   .status();
        QCOMPARE(refused.code(), ErrorCode::unreadable);
    }

    // Every length of the file opens with what is whole, or says why not; what opens can be repaired.
    void everyTruncationPointExplainsItself()
    {
        std::size_t opened = 0;
        std::string lastError;
        for (std::size_t length = 0; length < m_bytes.size(); length += length < 3000 ? 1 : 97) {
            std::vector<std::byte> part(m_bytes.begin(),
                                        m_bytes.begin() + static_cast<std::ptrdiff_t>(length));
            const auto trace = openNative(memorySource("cut.opscope", std::move(part)), m_job);
            if (!trace) {
                QVERIFY(!trace.error().message().empty());
                QVERIFY(trace.error().code() == ErrorCode::corrupt ||
                        trace.error().code() == ErrorCode::unknownFormat);
                lastError = trace.error().message();
                continue;
            }
            ++opened;
            QVERIFY((*trace)->loadReport().has("zip_recovered"));
        }
        QVERIFY(opened > 100);
        QVERIFY(!lastError.empty());
    }

    // No byte of the metadata can be wrong without an error, a note, or the same trace as before.
    void everyFlippedByteIsNoticedOrHarmless()
    {
        const auto parts = openNativeParts(*openFile(m_path));
        QVERIFY(parts.isOk());
        std::vector<bool> isPayload(m_bytes.size(), false);
        for (const ZipEntry &entry : parts->archive->entries())
            if (entry.name.starts_with("tensors/") && entry.size > 100000)
                std::fill_n(isPayload.begin() + static_cast<std::ptrdiff_t>(entry.headerOffset + 256), 110000,
                            true);
        std::size_t silent = 0;
        std::size_t indexBegin = 0;
        std::size_t indexEnd = 0;
        if (const ZipEntry *index = parts->archive->find("index.bin")) {
            indexBegin = *parts->archive->dataOffset(*index);
            indexEnd = indexBegin + index->size;
        }
        QVERIFY(indexEnd > 0);
        for (std::size_t at = 0; at < m_bytes.size(); ++at) {
            const bool isIndex = at >= indexBegin && at < indexEnd;
            if (isPayload[at] || at % (isIndex ? 97 : 3) != 0)
                continue;
            std::vector<std::byte> bytes = m_bytes;
            bytes[at] ^= std::byte(1U << (at % 8));
            const auto trace = openNative(memorySource("flip.opscope", std::move(bytes)), m_job);
            if (!trace || !(*trace)->loadReport().isClean())
                continue;
            if (text((*trace)->tables()) != m_expected)
                ++silent;
        }
        QCOMPARE(silent, std::size_t(0));
    }

    void aFlippedPayloadByteIsFoundByVerify()
    {
        const auto parts = openNativeParts(*openFile(m_path));
        QVERIFY(parts.isOk());
        int checked = 0;
        for (const ZipEntry &entry : parts->archive->entries()) {
            std::vector<std::byte> bytes = m_bytes;
            bytes[*parts->archive->dataOffset(entry) + entry.compressedSize / 2] ^= std::byte(16);
            writeBytes(m_other, bytes);
            const auto result = verifyTrace(m_other, m_job);
            QVERIFY2(!result.isOk() || !result->findings.empty(), std::string(entry.name).c_str());
            ++checked;
        }
        QVERIFY(checked >= 8);
    }

    void aTornFileIsRepaired()
    {
        for (const std::size_t cut : {m_bytes.size() - 10, m_bytes.size() - 12000, m_bytes.size() / 2}) {
            writeBytes(m_other, std::span(m_bytes).first(cut));
            const auto before = openNative(m_other, m_job);
            QVERIFY(before.isOk());
            const std::string fixed = m_folder.path().toStdString() + "/fixed.opscope";
            const auto result = repairTrace(m_other, fixed, m_job);
            QVERIFY2(result.isOk(), result.status().message().c_str());
            QVERIFY(result->entriesKept >= 2);
            const auto after = openNative(fixed, m_job);
            QVERIFY(after.isOk());
            QVERIFY(!(*after)->loadReport().has("zip_recovered"));
            QCOMPARE(text((*after)->tables()), text((*before)->tables()));
        }
        QCOMPARE(repairTrace(m_path, m_path, m_job).status().code(), ErrorCode::invalidArgument);
    }

    void aDeviceThatFailsIsAnError()
    {
        int fails = 0;
        for (bool isHit = true; isHit; ++fails) {
            const auto source = std::make_shared<FaultySource>(m_bytes, fails);
            const auto trace = openNative(source, m_job);
            isHit = source->wasHit();
            QCOMPARE(trace.isOk(), !isHit);
            if (isHit)
                QCOMPARE(trace.error().code(), ErrorCode::unreadable);
        }
        QVERIFY(fails > 5);
    }

    void aCancelEndsEveryTool()
    {
        std::stop_source stop;
        stop.request_stop();
        const JobContext cancelled(stop.get_token());
        const auto trace = openNative(m_path, m_job);
        QVERIFY(trace.isOk());
        QCOMPARE(openNative(m_path, cancelled).status().code(), ErrorCode::cancelled);
        QCOMPARE(verifyTrace(m_path, cancelled).status().code(), ErrorCode::cancelled);
        QCOMPARE(repairTrace(m_path, m_other, cancelled).status().code(), ErrorCode::cancelled);
        QCOMPARE(writeTrace(**trace, m_other, {}, cancelled).status().code(), ErrorCode::cancelled);
        const QDir left(m_folder.path());
        QCOMPARE(left.entryList({"*.part"}, QDir::Files | QDir::Hidden), QStringList());
    }

    void aFullDiskIsAnErrorAndTheRestOpens()
    {
        rlimit before = {};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit small = {400000, before.rlim_max};
        auto writer = NativeWriter::create(m_other, test::sampleInfo());
        QVERIFY(writer.isOk());
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        Status status;
        std::size_t written = 0;
        for (; status && written < 100000; ++written) {
            TensorRecord tensor;
            tensor.id = static_cast<RecordId>(written);
            tensor.shape = {static_cast<std::int64_t>(written * 7919)};
            tensor.address = "tensor " + std::to_string(written * 104729 % 1000003);
            status = (*writer)->add(std::move(tensor));
        }
        const Status closed = (*writer)->close(test::sampleInfo());
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
        QVERIFY(!status);
        QVERIFY(!closed);
        QCOMPARE(closed.code(), ErrorCode::unreadable);
        const auto trace = openNative(m_other, m_job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QVERIFY((*trace)->tensors().size() > 1000);
        QVERIFY((*trace)->tensors().size() < written);
    }

    void recordsOfALaterFormatRefuseTheFile()
    {
        auto writer = ZipWriter::create(m_other);
        QVERIFY(writer.isOk());
        const auto add = [&writer](std::string_view name, std::string_view content) {
            return (*writer)->addStored(name, content, 1).isOk();
        };
        QVERIFY(add("mimetype", "application/vnd.opscope.trace"));
        QVERIFY(add("manifest.json", "{\"format\": \"opscope-trace\", \"version\": 1}"));
        QVERIFY(add("records/000000.jsonl",
                    "{\"t\":\"future\",\"id\":1}\n{\"t\":\"note\",\"kind\":\"a\",\"new\":[1]}\n"
                    "{\"t\":\"tensor\",\"id\":0,\"shape\":[-1]}\nnonsense\n"));
        QVERIFY((*writer)->close().isOk());
        const auto trace = openNative(m_other, m_job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QCOMPARE((*trace)->tables().notes.size(), std::size_t(1));
        QCOMPARE((*trace)->tensors().size(), std::size_t(0));
        QVERIFY((*trace)->loadReport().has("bad_record"));

        auto again = ZipWriter::create(m_other);
        QVERIFY((*again)->addStored("mimetype", std::string_view("application/vnd.opscope.trace"), 1).isOk());
        QVERIFY((*again)
                    ->addStored("manifest.json",
                                std::string_view("{\"format\": \"opscope-trace\", \"version\": 1}"), 1)
                    .isOk());
        QVERIFY(
            (*again)->addStored("records/000000.jsonl", std::string_view("{\"t\":\"!mask\"}\n"), 1).isOk());
        QVERIFY((*again)->close().isOk());
        QCOMPARE(openNative(m_other, m_job).status().code(), ErrorCode::unsupportedVersion);
    }

private:
    QTemporaryDir m_folder;
    std::string m_path;
    std::string m_other;
    std::vector<std::byte> m_bytes;
    QStringList m_expected;
    JobContext m_job;
};

QTEST_GUILESS_MAIN(TestNativeTools)
#include "tst_native_tools.moc"
