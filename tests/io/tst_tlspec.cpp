// SPDX-License-Identifier: GPL-3.0-or-later
// The TorchLens importer: forms of a bundle, what reaches the trace, damaged bundles.
#include "core/io/file_kind.h"
#include "core/io/trace_registry.h"
#include "core/io/zip_writer.h"
#include "core/trace/tensor_reader.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

using namespace core;

namespace {

namespace fs = std::filesystem;

const fs::path kGoldens = OPSCOPE_GOLDENS_DIR;

QByteArray contents(const fs::path &path)
{
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool write(const fs::path &path, const QByteArray &bytes)
{
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

std::vector<std::string> labels(const Trace &trace)
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < trace.ops().size(); ++i)
        all.emplace_back(trace.label(OpId(i)));
    return all;
}

// Reads everything that can be read; the answer is only that it ends.
std::size_t readAll(const Trace &trace)
{
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < trace.tensors().size(); ++i) {
        const auto reader = TensorReader::open(trace, TensorId(i));
        if (!reader || reader->elementCount() > (1U << 20U))
            continue;
        std::vector<std::byte> out(reader->elementCount() * reader->itemBytes());
        bytes += reader->read(0, out).isOk() ? out.size() : 0;
    }
    return bytes;
}

} // namespace

class TestTlspec : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_copy = fs::path(m_folder->path().toStdString()) / "copy.tlspec";
        fs::copy(kGoldens / "32_backward_birth_sqrt/trace.tlspec", m_copy, fs::copy_options::recursive);
    }

    void aZipOfABundleIsTheBundle_data()
    {
        QTest::addColumn<QString>("prefix");
        QTest::newRow("files at the root") << QString();
        QTest::newRow("one folder") << QString("trace.tlspec/");
    }

    void aZipOfABundleIsTheBundle()
    {
        QFETCH(QString, prefix);
        const fs::path path = m_copy.parent_path() / "bundle.zip";
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        for (const auto &entry : fs::recursive_directory_iterator(m_copy))
            if (entry.is_regular_file()) {
                const std::string name = prefix.toStdString() + fs::relative(entry.path(), m_copy).string();
                const QByteArray bytes = contents(entry.path());
                QVERIFY((*writer)
                            ->addDeflated(name, std::as_bytes(std::span(bytes.data(), bytes.size())))
                            .isOk());
            }
        QVERIFY((*writer)->close().isOk());
        const auto identity = identifyFile(path);
        QVERIFY(identity.isOk());
        QCOMPARE(identity->kind, FileKind::tlspecZip);
        const auto zipped = openTrace(path, JobContext());
        const auto plain = openTrace(m_copy, JobContext());
        QVERIFY(zipped.isOk() && plain.isOk());
        QCOMPARE(labels(**zipped), labels(**plain));
        QVERIFY(readAll(**plain) > 0);
        QCOMPARE(readAll(**zipped), readAll(**plain));
    }

    void whatTheBundleSaysReachesTheTrace()
    {
        const auto opened = openTrace(m_copy, JobContext());
        QVERIFY(opened.isOk());
        const Trace &trace = **opened;
        QCOMPARE(trace.info().source, TraceSource::torchLens);
        QCOMPARE(trace.info().status, TraceStatus::finished);
        QCOMPARE(trace.info().honesty.at("capture_status").toString(), std::string("complete"));
        QVERIFY(trace.info().hasBackward);
        QCOMPARE(trace.info().request.at("random_seed").toInt(), std::int64_t(20240229));
        QCOMPARE(std::string(trace.subject()), std::string("net_28"));
        QCOMPARE(trace.sources().size(), std::size_t(1));
        const auto text = trace.store().text(trace.string(trace.sources()[0].entry), 1U << 20U);
        QVERIFY(text.isOk());
        // The class's text stands at its own line of the file.
        const QStringList lines = QString::fromStdString(*text).split('\n');
        const QString file = QString::fromStdString(
            contents(kGoldens / "32_backward_birth_sqrt/scenario_backward_birth_sqrt.py").toStdString());
        const FrameRow &frame = trace.frame(trace.sourceFrame(trace.callOf(OpId(1)).stack));
        QCOMPARE(lines.value(static_cast<int>(frame.line.zeroBased())),
                 file.split('\n').value(static_cast<int>(frame.line.zeroBased())));
        // The innermost frame of the user's is the model's line, not the script that started the capture.
        const FrameId user = trace.stack(trace.callOf(OpId(1)).stack).user;
        QCOMPARE(std::string(trace.string(trace.frame(user).file)),
                 std::string("scenario_backward_birth_sqrt.py"));
    }

    void aHaltedRunIsCancelled()
    {
        const auto opened = openTrace(kGoldens / "63_halted_trace/trace.tlspec", JobContext());
        QVERIFY(opened.isOk());
        QCOMPARE((*opened)->info().status, TraceStatus::cancelled);
        QCOMPARE((*opened)->info().honesty.at("capture_status").toString(), std::string("halted"));
    }

    void buffersAndParametersAreKnown()
    {
        const auto opened = openTrace(kGoldens / "52_module_list_and_buffers/trace.tlspec", JobContext());
        QVERIFY(opened.isOk());
        const Trace &trace = **opened;
        int buffers = 0;
        for (const ParamRow &row : trace.params()) {
            const PayloadState state = trace.tensor(row.tensor).payload.state;
            QCOMPARE(state, row.isBuffer ? PayloadState::saved : PayloadState::notSaved);
            buffers += row.isBuffer ? 1 : 0;
        }
        QCOMPARE(buffers, 1);
        QCOMPARE(trace.params().size(), std::size_t(8));
    }

    void aLostFileIsADroppedPayload()
    {
        fs::remove_all(m_copy / "blobs");
        const auto opened = openTrace(m_copy, JobContext());
        QVERIFY(opened.isOk());
        QVERIFY((*opened)->loadReport().has("missing_record"));
        for (const TensorRow &row : (*opened)->tensors())
            QVERIFY(row.payload.state != PayloadState::saved);
    }

    void aChangedFileIsFoundWhenItIsRead()
    {
        const fs::path blob = m_copy / "blobs/0000000001.safetensors";
        QByteArray bytes = contents(blob);
        bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 1);
        QVERIFY(write(blob, bytes));
        const auto opened = openTrace(m_copy, JobContext());
        QVERIFY(opened.isOk());
        const auto reader = TensorReader::open(**opened, (*opened)->op(OpId(0)).tensor);
        QVERIFY(reader.isOk());
        std::vector<std::byte> out(reader->elementCount() * reader->itemBytes());
        QCOMPARE(reader->read(0, out).detail(), std::string("hash_mismatch"));
        // A small bundle is checked when it is opened.
        QVERIFY((*opened)->loadReport().has("hash_mismatch"));
    }

    void otherBundlesSayWhatTheyAre()
    {
        QByteArray manifest = contents(m_copy / "manifest.json");
        manifest.replace("\"kind\": \"trace\"", "\"kind\": \"bundle\"");
        QVERIFY(write(m_copy / "manifest.json", manifest));
        const auto opened = openTrace(m_copy, JobContext());
        QVERIFY(!opened.isOk());
        QCOMPARE(opened.error().code(), ErrorCode::unsupported);
        QVERIFY(opened.error().remedy().find("members") != std::string::npos);
    }

    void stopsWhenCancelled()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto opened = openTrace(m_copy, JobContext(stop.get_token()));
        QVERIFY(!opened.isOk());
        QCOMPARE(opened.error().code(), ErrorCode::cancelled);
    }

    void damagedMetadata_data()
    {
        QTest::addColumn<QString>("file");
        QTest::newRow("pickle") << "metadata.pkl";
        QTest::newRow("manifest") << "manifest.json";
    }

    // Cuts and flipped bits at many places: an error or a trace, never a crash.
    void damagedMetadata()
    {
        QFETCH(QString, file);
        const fs::path path = m_copy / file.toStdString();
        const QByteArray whole = contents(path);
        QVERIFY(whole.size() > 1000);
        int refused = 0;
        const qsizetype step = (whole.size() / 250) | 1; // odd: cuts and flips take turns
        for (qsizetype at = 0; at < whole.size(); at += step) {
            QByteArray damaged = at % 2 == 0 ? whole.left(at) : whole;
            if (at % 2 != 0)
                damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
            QVERIFY(write(path, damaged));
            const auto opened = openTrace(m_copy, JobContext());
            if (opened)
                readAll(**opened);
            else
                ++refused;
        }
        QVERIFY(refused > 50);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_copy;
};

QTEST_APPLESS_MAIN(TestTlspec)
#include "tst_tlspec.moc"
