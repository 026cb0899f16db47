// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_reader.h"
#include "core/io/native_writer.h"
#include "core/trace/tensor_reader.h"
#include "core/trace/trace_builder.h"
#include "tests/support/record_samples.h"
#include "tests/support/table_text.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace core;

namespace {

TraceTables builtDirectly()
{
    TraceBuilder builder;
    test::addEveryKind(builder);
    builder.info() = test::sampleInfo();
    return builder.finishTables(JobContext()).value();
}

QStringList text(std::string_view view)
{
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size())).split('\n');
}

} // namespace

class TestNativeRoundTrip : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_path = m_folder.path().toStdString() + "/sample.opscope";
    }

    // Without payloads, so that the file says exactly what the records said.
    void indexAndRecordsGiveTheSameTables()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY2(writer.isOk(), writer.status().message().c_str());
        test::addEveryKind(**writer);
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());

        const QStringList expected = text(test::tableText(builtDirectly()));
        JobContext job;
        const auto trace = openNative(m_path, job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QCOMPARE((*trace)->loadReport().notes().size(), std::size_t(0));
        QCOMPARE(text(test::tableText((*trace)->tables())), expected);

        auto parts = openNativeParts(*openFile(m_path));
        QVERIFY(parts.isOk());
        const auto fromRecords = tablesFromRecords(*parts, job);
        QVERIFY(fromRecords.isOk());
        QCOMPARE(text(test::tableText(*fromRecords)), expected);
        QCOMPARE(parts->report.notes().size(), std::size_t(0));
        QCOMPARE(toJson(fromRecords->info.request), toJson(test::sampleInfo().request));
        QCOMPARE(fromRecords->info.status, TraceStatus::finished);
    }

    void importedRowsSurvive()
    {
        TraceInfo info = test::sampleInfo();
        info.source = TraceSource::torchLens;
        TraceBuilder builder;
        test::addImported(builder);
        builder.info() = info;
        const auto direct = builder.finishTables(JobContext());
        QVERIFY(direct.isOk());

        auto writer = NativeWriter::create(m_path, info);
        QVERIFY(writer.isOk());
        test::addImported(**writer);
        QVERIFY((*writer)->close(info).isOk());
        JobContext job;
        auto parts = openNativeParts(*openFile(m_path));
        QVERIFY(parts.isOk());
        const auto fromRecords = tablesFromRecords(*parts, job);
        QVERIFY(fromRecords.isOk());
        QCOMPARE(fromRecords->info.source, TraceSource::torchLens);
        QCOMPARE(text(test::tableText(*fromRecords)), text(test::tableText(*direct)));
        const auto trace = openNative(m_path, job);
        QVERIFY(trace.isOk());
        QCOMPARE(text(test::tableText((*trace)->tables())), text(test::tableText(*direct)));
    }

    void payloadsReadBack()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        test::addEveryKind(**writer, writer->get());
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        JobContext job;
        const auto trace = openNative(m_path, job);
        QVERIFY(trace.isOk());
        const TensorRow &input = (*trace)->tensor(TensorId(0));
        QCOMPARE(input.payload.state, PayloadState::saved);
        QCOMPARE(input.payload.bytes, 24U);
        std::vector<std::byte> bytes(24);
        const auto reader = TensorReader::open(**trace, TensorId(0));
        QVERIFY2(reader.isOk(), reader.status().message().c_str());
        QVERIFY(reader->read(0, bytes).isOk());
        for (std::size_t i = 0; i < bytes.size(); ++i)
            QCOMPARE(static_cast<int>(bytes[i]), static_cast<int>((i * 7 + 24) & 255));
        const TensorRow &weight = (*trace)->tensor(TensorId(1));
        std::vector<std::byte> tail(100);
        const auto entry = (*trace)->string(weight.payload.entry);
        QVERIFY((*trace)->store().read(entry, 120000 - 100, tail).isOk());
        QCOMPARE(static_cast<int>(tail[99]), (119999 * 7 + 120000) & 255);
        QVERIFY(!(*trace)->store().read(entry, 120000 - 99, tail).isOk());
        QCOMPARE((*trace)->sources().size(), std::size_t(1));
        const auto source = (*trace)->store().text((*trace)->string((*trace)->sources()[0].entry), 1000);
        QVERIFY(source.isOk());
        QCOMPARE(*source, std::string("import torch\n"));
    }

    void largePayloadsAreAligned()
    {
        JobContext job;
        auto parts = openNativeParts(*openFile(m_path));
        QVERIFY(parts.isOk());
        int seen = 0;
        for (const ZipEntry &entry : parts->archive->entries())
            if (entry.name.starts_with("tensors/") || entry.name == "index.bin") {
                const auto offset = parts->archive->dataOffset(entry);
                QVERIFY(offset.isOk());
                QCOMPARE(*offset % 64, 0U);
                ++seen;
            }
        QCOMPARE(seen, 3);
        QCOMPARE(parts->archive->entries().front().name, std::string_view("mimetype"));
        QCOMPARE(parts->archive->entries().back().name, std::string_view("final.json"));
    }

    void magicIsAtByte38()
    {
        const auto source = openFile(m_path);
        const auto head = readRange(**source, 0, 128, 128);
        QVERIFY(looksLikeNativeTrace(*head));
        QCOMPARE(std::string(reinterpret_cast<const char *>(head->data()) + 38, 29),
                 std::string("application/vnd.opscope.trace").substr(0, 29));
        QVERIFY(!looksLikeNativeTrace(std::span(*head).subspan(1)));
        QVERIFY(!looksLikeNativeTrace({}));
    }

    void aFileThatIsStillWrittenOpens()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        test::addEveryKind(**writer, writer->get());
        QVERIFY((*writer)->flush().isOk());
        JobContext job;
        const auto trace = openNative(m_path, job);
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QCOMPARE((*trace)->calls().size(), std::size_t(5));
        QVERIFY((*trace)->loadReport().has("zip_recovered"));
        QVERIFY((*trace)->loadReport().has("no_final_record"));
        QCOMPARE((*trace)->info().status, TraceStatus::unknown);
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        const auto after = openNative(m_path, job);
        QVERIFY(after.isOk());
        QVERIFY((*after)->loadReport().isClean());
    }

    void segmentsAreWrittenByTime()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        const std::uint64_t start = (*writer)->bytesWritten();
        QVERIFY((*writer)->add(NoteRecord{"note", "a", "b"}).isOk());
        QTRY_VERIFY_WITH_TIMEOUT((*writer)->bytesWritten() > start, 2000);
    }

    void aRecordLongerThanASlotIsASegment()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        const std::string longText(700000, 'x');
        QVERIFY((*writer)->add(NoteRecord{"note", "before", ""}).isOk());
        QVERIFY((*writer)->add(NoteRecord{"note", "long", longText + "y"}).isOk());
        QVERIFY((*writer)->add(NoteRecord{"note", "after", ""}).isOk());
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        JobContext job;
        auto parts = openNativeParts(*openFile(m_path));
        const auto tables = tablesFromRecords(*parts, job);
        QVERIFY(tables.isOk());
        QCOMPARE(tables->notes.size(), std::size_t(3));
        QCOMPARE(tables->strings.view(tables->notes[1].text).size(), std::size_t(700001));
        QCOMPARE(tables->strings.view(tables->notes[2].target), std::string_view("after"));
    }

    void payloadsHandedOverAreWritten()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        std::vector<std::byte> bytes(1U << 20U, std::byte(7));
        const std::int64_t extent = static_cast<std::int64_t>(bytes.size());
        PayloadDone done;
        const auto payload = (*writer)->writePayloadLater(DType::uint8, std::span(&extent, 1), bytes, done);
        QVERIFY(payload.isOk());
        QTRY_VERIFY(done->load());
        bytes.assign(bytes.size(), std::byte(8));
        TensorRecord tensor;
        tensor.id = 0;
        tensor.dtype = DType::uint8;
        tensor.shape = {extent};
        tensor.payload = *payload;
        QVERIFY((*writer)->add(tensor).isOk());
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        JobContext job;
        const auto trace = openNative(m_path, job);
        QVERIFY(trace.isOk());
        std::vector<std::byte> back(bytes.size());
        QVERIFY(TensorReader::open(**trace, TensorId(0))->read(0, back).isOk());
        QCOMPARE(static_cast<int>(back.front()), 7);
        QCOMPARE(static_cast<int>(back.back()), 7);
    }

    // An op that works in place changes bytes that the queue still holds: behind larger ones, and at its
    // front.
    void settledPayloadsMayChange()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        constexpr std::size_t kCount = 12;
        std::vector<std::vector<std::byte>> payloads(kCount);
        std::vector<PayloadDone> done(kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            payloads[i].assign((i == 0 ? 64U : 1U) << 20U, std::byte(i));
            const auto extent = static_cast<std::int64_t>(payloads[i].size());
            const auto payload =
                (*writer)->writePayloadLater(DType::uint8, std::span(&extent, 1), payloads[i], done[i]);
            QVERIFY(payload.isOk());
            TensorRecord tensor;
            tensor.id = static_cast<RecordId>(i);
            tensor.dtype = DType::uint8;
            tensor.shape = {extent};
            tensor.payload = *payload;
            QVERIFY((*writer)->add(tensor).isOk());
        }
        for (std::size_t i = kCount; i-- > 0;) {
            (*writer)->settlePayload(done[i]);
            QVERIFY(done[i]->load());
            std::fill(payloads[i].begin(), payloads[i].end(), std::byte(0xee));
        }
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        JobContext job;
        const auto trace = openNative(m_path, job);
        QVERIFY(trace.isOk());
        for (std::size_t i = 0; i < kCount; ++i) {
            std::vector<std::byte> back(payloads[i].size());
            QVERIFY(
                TensorReader::open(**trace, TensorId(static_cast<std::uint32_t>(i)))->read(0, back).isOk());
            QVERIFY(std::all_of(back.begin(), back.end(), [i](std::byte b) { return b == std::byte(i); }));
        }
    }

    void textsThatAreNotUtf8AreStillReadable()
    {
        auto writer = NativeWriter::create(m_path, test::sampleInfo());
        QVERIFY(writer.isOk());
        QVERIFY((*writer)
                    ->add(NoteRecord{"note", "a\xff\xc3(\xe2\x82\xac", std::string("\x01\x7f\0z", 4)})
                    .isOk());
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
        JobContext job;
        auto parts = openNativeParts(*openFile(m_path));
        const auto tables = tablesFromRecords(*parts, job);
        QVERIFY(tables.isOk());
        QCOMPARE(tables->notes.size(), std::size_t(1));
        QCOMPARE(std::string(tables->strings.view(tables->notes[0].target)),
                 std::string("a\xef\xbf\xbd\xef\xbf\xbd(\xe2\x82\xac"));
        QCOMPARE(std::string(tables->strings.view(tables->notes[0].text)), std::string("\x01\x7f\0z", 4));
    }

private:
    QTemporaryDir m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestNativeRoundTrip)
#include "tst_native_round_trip.moc"
