// SPDX-License-Identifier: GPL-3.0-or-later
// The reader and writer in Python against this one: whole files, torn ones, and files written there.
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"
#include "core/io/native_writer.h"
#include "tests/support/file_content.h"
#include "tests/support/record_samples.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

using namespace core;

class TestPythonReader : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        auto writer = NativeWriter::create(m_trace.toStdString(), test::sampleInfo());
        QVERIFY(writer.isOk());
        const auto source = (*writer)->writeSource("model.py", "import torch\n");
        QVERIFY(source.isOk());
        test::addEveryKind(**writer, writer->get());
        // Known later: what the record of tensor 900 left out.
        TensorRecord tensor;
        tensor.id = 900;
        tensor.dtype = DType::float32;
        tensor.shape = {1};
        tensor.call = 0;
        QVERIFY((*writer)->add(TensorRecord(tensor)).isOk());
        const float one = 1.0F;
        const auto payload =
            (*writer)->writePayload(DType::float32, tensor.shape, std::as_bytes(std::span(&one, 1)));
        QVERIFY(payload.isOk());
        tensor.payload = *payload;
        tensor.call = kNoRecord;
        tensor.stats = TensorStats();
        QVERIFY((*writer)->add(std::move(tensor)).isOk());
        QVERIFY((*writer)->close(test::sampleInfo()).isOk());
    }

    void recordsAreRead()
    {
        const QJsonObject seen = read(m_trace);
        QCOMPARE(seen["status"].toString(), QString("finished"));
        checkRecords(seen);
    }

    void aFileWithoutADirectoryIsRead()
    {
        QByteArray bytes = support::fileContent(m_trace);
        const qsizetype directory = bytes.indexOf("PK\1\2");
        QVERIFY(directory > 0);
        QFile torn(m_folder.filePath("torn.opscope"));
        QVERIFY(torn.open(QIODevice::WriteOnly));
        torn.write(bytes.first(directory - 20)); // in the middle of final.json
        torn.close();
        const QJsonObject seen = read(torn.fileName());
        QVERIFY(seen["status"].isNull());
        checkRecords(seen);
    }

    void whatItWritesOpens()
    {
        read(m_trace);
        const auto trace = openNative(m_written.toStdString(), JobContext());
        QVERIFY2(trace.isOk(), trace.status().message().c_str());
        QCOMPARE((*trace)->info().modelName, std::string("mine"));
        QCOMPARE((*trace)->info().status, TraceStatus::finished);
        QCOMPARE((*trace)->ops().size(), std::size_t(1000));
        QCOMPARE((*trace)->parents(OpId(999)).size(), std::size_t(1));
        const TensorStats *stats = (*trace)->stats(TensorId(0));
        QVERIFY(stats != nullptr);
        QCOMPARE(stats->nan, std::uint64_t(2));
        const auto verified = verifyTrace(m_written.toStdString(), JobContext());
        QVERIFY(verified.isOk());
        QVERIFY2(verified->findings.empty(),
                 verified->findings.empty() ? "" : verified->findings[0].message.c_str());
        QCOMPARE(verified->records, std::uint64_t(2000));
    }

private:
    QJsonObject read(const QString &trace)
    {
        QProcess python;
        python.start("python3", {OPSCOPE_SOURCE_DIR "/tests/io/check_python_reader.py",
                                 OPSCOPE_SOURCE_DIR "/resources/python", trace, m_written});
        if (!python.waitForFinished(60000) || python.exitCode() != 0)
            qWarning() << python.errorString() << python.readAllStandardError();
        return QJsonDocument::fromJson(python.readAllStandardOutput()).object();
    }

    void checkRecords(const QJsonObject &seen)
    {
        const auto trace = openNative(m_trace.toStdString(), JobContext());
        QVERIFY(trace.isOk());
        const QJsonObject kinds = seen["kinds"].toObject();
        QCOMPARE(kinds["tensor"].toInt(), static_cast<int>((*trace)->tensors().size()));
        QCOMPARE(kinds["op"].toInt(), static_cast<int>((*trace)->calls().size()));
        QCOMPARE(kinds["module"].toInt(), static_cast<int>((*trace)->modules().size()));
        QCOMPARE(kinds["frame"].toInt(), static_cast<int>((*trace)->tables().frames.size()));
        QCOMPARE(seen["sources"].toObject()["model.py"].toString(), QString("import torch\n"));
        const QJsonObject late = seen["tensors"].toObject()["900"].toObject();
        QCOMPARE(late["payload"].toString(), QString("saved"));
        QCOMPARE(late["op"].toInt(-1), 0);
        QVERIFY(late["stats"].toBool());
    }

    QTemporaryDir m_folder;
    QString m_trace = m_folder.filePath("sample.opscope");
    QString m_written = m_folder.filePath("written.opscope");
};

QTEST_GUILESS_MAIN(TestPythonReader)
#include "tst_python_reader.moc"
