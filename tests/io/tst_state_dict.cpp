// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of the corpus against what PyTorch says is in them.
#include "core/analysis/tensor_stats.h"
#include "core/io/npy.h"
#include "core/io/state_dict.h"
#include "core/io/zip_writer.h"
#include "core/trace/tensor_reader.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cmath>

using namespace core;

namespace {

Value readJson(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const std::string text = file.readAll().toStdString();
    const auto value = parseJson(text, path.toStdString());
    return value ? *value : Value();
}

bool isClose(const Value &expected, double actual)
{
    if (expected.isNull())
        return true;
    if (expected.isString()) {
        const std::string &word = expected.toString();
        return word == "nan" ? std::isnan(actual) : std::isinf(actual) && (word == "-inf") == (actual < 0);
    }
    const double wanted = expected.toDouble();
    return std::fabs(actual - wanted) <= 1e-6 * std::max(1.0, std::fabs(wanted));
}

// What differs between TENSOR and its description; empty when nothing does.
std::string difference(const StateTensor &tensor, const Value &expected)
{
    std::string out;
    const auto check = [&](std::string_view what, const Value &actual) {
        const Value &wanted = expected.at(what);
        if (!wanted.isNull() && !(wanted == actual))
            out += std::string(what) + " is " + toJson(actual) + ", wanted " + toJson(wanted) + "; ";
    };
    const auto list = [](const std::vector<std::int64_t> &numbers) {
        Value value = Value::list();
        for (const std::int64_t number : numbers)
            value.append(number);
        return value;
    };
    check("shape", list(tensor.values.shape));
    check("dtype", dtypeName(tensor.values.dtype));
    check("layout", tensor.layout);
    check("numel", static_cast<std::int64_t>(tensor.values.elementCount()));
    check("stride", list(tensor.values.strides));
    check("storage_offset", tensor.values.storageOffset);
    std::vector<std::byte> bytes(tensor.values.byteCount());
    if (Status status = readElements(tensor.values, 0, bytes); !status)
        return out + status.message();
    const TensorStats stats = computeStats(tensor.values.dtype, bytes.data(), tensor.values.elementCount());
    check("n_nan", static_cast<std::int64_t>(stats.nan));
    check("n_posinf", static_cast<std::int64_t>(stats.posInf));
    check("n_neginf", static_cast<std::int64_t>(stats.negInf));
    if (stats.hasFinite() &&
        (!isClose(expected.at("finite_min"), stats.min) || !isClose(expected.at("finite_max"), stats.max)))
        out += "range is " + formatDouble(stats.min) + " to " + formatDouble(stats.max);
    const Value::List &first = expected.at("first").toList();
    const bool parts = isComplex(tensor.values.dtype);
    const DType part = !parts                                    ? tensor.values.dtype
                       : tensor.values.dtype == DType::complex32 ? DType::float16
                       : tensor.values.dtype == DType::complex64 ? DType::float32
                                                                 : DType::float64;
    for (std::size_t i = 0; i < first.size(); ++i)
        if (!isClose(first[i], elementAsDouble(part, bytes, i)))
            out += "element " + std::to_string(i) + " is " + formatDouble(elementAsDouble(part, bytes, i)) +
                   "; ";
    return out;
}

const StateTensor *find(const StateDict &state, const std::string &name)
{
    for (const StateTensor &tensor : state.tensors)
        if (tensor.name == name)
            return &tensor;
    return nullptr;
}

} // namespace

class TestStateDict : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asPyTorchSees_data()
    {
        QTest::addColumn<QString>("expected");
        const QDir folder(OPSCOPE_CORPUS_DIR "/state_dicts");
        const auto names = folder.entryList({"*.expected.json"}, QDir::Files, QDir::Name);
        QVERIFY(names.size() >= 15);
        for (const QString &name : names)
            QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }

    void asPyTorchSees()
    {
        QFETCH(QString, expected);
        const Value facts = readJson(expected);
        const Value::List &files = facts.at("files").toList();
        const QString path =
            QFileInfo(expected).dir().filePath(QString::fromStdString(files.back().toString()));
        const auto state = readStateDict(path.toStdString(), JobContext());
        QVERIFY2(state.isOk(), state.isOk() ? "" : state.error().message().c_str());
        QCOMPARE(std::string(fileKindName(state->kind)), facts.at("format").toString());
        const std::string outcome = facts.at("outcome").toString();
        if (outcome.empty())
            QVERIFY2(state->report.isClean(),
                     state->report.isClean() ? "" : state->report.notes()[0].message.c_str());
        else
            QVERIFY(state->report.has(outcome.substr(outcome.find(':') + 1)));
        QCOMPARE(static_cast<std::int64_t>(state->tensors.size()), facts.at("n_tensors").toInt());
        for (const Value &op : facts.at("ops").toList()) {
            const StateTensor *tensor = find(*state, op.at("name").toString());
            QVERIFY2(tensor != nullptr, op.at("name").toString().c_str());
            const std::string wrong = difference(*tensor, op);
            QVERIFY2(wrong.empty(), (op.at("name").toString() + ": " + wrong).c_str());
        }
        compareOthers(*state, facts);
    }

    // What is no readable tensor is named with the reason and its place, and the rest is read.
    void entriesThatAreNoTensorsAreNamed()
    {
        const auto state = readStateDict(OPSCOPE_ODD_MODELS_DIR "/checkpoints/mixed.pt", JobContext());
        QVERIFY2(state.isOk(), state.isOk() ? "" : state.error().message().c_str());
        QCOMPARE(inOrder(*state), std::string("step:not_a_tensor csr:sparse_csr:float32[4,4] w "
                                              "bsr:sparse_bsr:float32[4,4] quantized:quantized:qint8[3] coo "
                                              "meta:meta:float32[2,3] 7 name:not_a_tensor"));
        const auto arrays = readStateDict(OPSCOPE_ODD_MODELS_DIR "/checkpoints/mixed.npz", JobContext());
        QVERIFY2(arrays.isOk(), arrays.isOk() ? "" : arrays.error().message().c_str());
        QCOMPARE(inOrder(*arrays), std::string("first records:structured_dtype objects:object_dtype "
                                               "text:unknown_dtype dates:unknown_dtype last"));
        QVERIFY(arrays->report.has("skipped_array"));
    }

    // One array of an archive that is damaged does not keep the others from being read.
    void damagedArraysAreNamed()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath("a.npz").toStdString();
        const std::vector<std::byte> values(8);
        const std::string header = npyHeader(DType::float32, std::array<std::int64_t, 1>{2});
        const auto whole = header + std::string(reinterpret_cast<const char *>(values.data()), 8);
        auto writer = ZipWriter::create(path);
        QVERIFY(writer.isOk());
        QVERIFY((*writer)->addStored("cut.npy", std::string_view(header)).isOk());
        QVERIFY((*writer)->addStored("good.npy", std::string_view(whole)).isOk());
        QVERIFY((*writer)->addStored("garbage.npy", std::string_view("no array at all, but a text")).isOk());
        QVERIFY((*writer)->close().isOk());
        const auto state = readStateDict(path, JobContext());
        QVERIFY2(state.isOk(), state.isOk() ? "" : state.error().message().c_str());
        QCOMPARE(inOrder(*state), std::string("cut:truncated good garbage:bad_header"));
    }

    void sharedStorageIsKnown()
    {
        for (const char *name : {"views.pt", "views_legacy.pt"}) {
            const auto state =
                readStateDict(std::string(OPSCOPE_CORPUS_DIR "/state_dicts/") + name, JobContext());
            QVERIFY(state.isOk());
            const StateTensor *base = find(*state, "base");
            QVERIFY(base != nullptr);
            for (const char *view : {"transposed", "rows_1_to_3", "every_second_column"})
                QCOMPARE(find(*state, view)->storage, base->storage);
            QCOMPARE(find(*state, "embed.weight")->storage, find(*state, "lm_head.weight")->storage);
            QVERIFY(find(*state, "embed.weight")->storage != base->storage);
        }
    }

    void namesKeepTheFilesOrder()
    {
        const auto state = readStateDict(OPSCOPE_CORPUS_DIR "/state_dicts/sick_zip.pt", JobContext());
        QVERIFY(state.isOk());
        const Value facts = readJson(OPSCOPE_CORPUS_DIR "/state_dicts/sick_zip_pt.expected.json");
        for (std::size_t i = 0; i < state->tensors.size(); ++i)
            QCOMPARE(state->tensors[i].name, facts.at("ops").toList()[i].at("name").toString());
    }

    void elementsAreReadFromAnyStart()
    {
        const auto state = readStateDict(OPSCOPE_CORPUS_DIR "/state_dicts/views.pt", JobContext());
        QVERIFY(state.isOk());
        for (const StateTensor &tensor : state->tensors) {
            std::vector<std::byte> whole(tensor.values.byteCount());
            QVERIFY(readElements(tensor.values, 0, whole).isOk());
            const std::size_t item = itemSize(tensor.values.dtype);
            for (std::uint64_t first = 0; first < tensor.values.elementCount(); ++first) {
                std::vector<std::byte> rest((tensor.values.elementCount() - first) * item);
                QVERIFY(readElements(tensor.values, first, rest).isOk());
                QVERIFY(
                    std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<long>(first * item)));
            }
            std::vector<std::byte> beyond(item);
            QVERIFY(!readElements(tensor.values, tensor.values.elementCount(), beyond).isOk());
        }
    }

    void stopsWhenCancelled()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto state =
            readStateDict(OPSCOPE_CORPUS_DIR "/state_dicts/sick_zip.pt", JobContext(stop.get_token()));
        QVERIFY(!state.isOk());
        QCOMPARE(state.error().code(), ErrorCode::cancelled);
    }

    void damagedCopies_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"empty.pt", "bare_tensor.pt", "views_legacy.pt", "sparse.pt"})
            QTest::newRow(name) << name;
    }

    // Cut at every byte, and one bit of every byte flipped: an error or an answer, never a crash.
    void damagedCopies()
    {
        QFETCH(QString, name);
        QFile file(OPSCOPE_CORPUS_DIR "/state_dicts/" + name);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray whole = file.readAll();
        QTemporaryDir folder;
        const QString copy = folder.filePath("copy.pt");
        int refused = 0;
        const auto attempt = [&](const QByteArray &bytes) {
            QFile out(copy);
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(bytes);
            out.close();
            const auto state = readStateDict(copy.toStdString(), JobContext());
            if (!state) {
                QVERIFY(!state.error().message().empty());
                ++refused;
                return;
            }
            for (const StateTensor &tensor : state->tensors)
                if (tensor.values.byteCount() < (1U << 20U)) {
                    std::vector<std::byte> bytesOut(tensor.values.byteCount());
                    QVERIFY(readElements(tensor.values, 0, bytesOut).isOk());
                }
        };
        const qsizetype step = std::max<qsizetype>(whole.size() / 100, 1);
        for (qsizetype length = 0; length < whole.size(); length += step)
            attempt(whole.left(length));
        QVERIFY(refused > 0);
        for (qsizetype at = 0; at < whole.size(); at += step) {
            QByteArray flipped = whole;
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
            attempt(flipped);
        }
    }

    // A stride of zero repeats a few stored bytes: a mask over a batch does, a billion times as much is a
    // trap.
    void stridesThatRepeatWithoutEndAreRefused_data()
    {
        QTest::addColumn<qint64>("extent");
        QTest::addColumn<bool>("good");
        QTest::newRow("a mask over a batch") << qint64(1) << true;
        QTest::newRow("a thousand times") << qint64(1000) << true;
        QTest::newRow("a GiB") << (qint64(1) << 28) << true;
        QTest::newRow("a TiB") << (qint64(1) << 38) << false;
        QTest::newRow("what fits 64 bits") << (qint64(1) << 58) << false;
    }
    void stridesThatRepeatWithoutEndAreRefused()
    {
        QFETCH(qint64, extent);
        QFETCH(bool, good);
        StoredTensor tensor;
        tensor.dtype = DType::float32;
        tensor.shape = {extent};
        tensor.strides = {0};
        tensor.storage = memorySource("storage", std::vector<std::byte>(48));
        const Status status = checkStoredTensor(tensor, "w");
        QCOMPARE(status.isOk(), good);
        QCOMPARE(status.detail(), std::string(good ? "" : "tensor_out_of_bounds"));
    }

    // Sizes of zero beside huge ones have no elements and no strides that fit.
    void emptyTensorsOfHugeShapesAreEmpty()
    {
        StoredTensor tensor;
        tensor.dtype = DType::float32;
        tensor.shape = {0, qint64(1) << 62, qint64(1) << 62};
        tensor.strides = {1, 1, 1};
        tensor.storage = memorySource("storage", std::vector<std::byte>(48));
        QVERIFY(checkStoredTensor(tensor, "w").isOk());
        QVERIFY(readElements(tensor, 0, {}).isOk());
    }

private:
    // Names as the file has them; of what was skipped also the reason, and of a tensor its type.
    static std::string inOrder(const StateDict &state)
    {
        std::string text;
        std::size_t skipped = 0;
        for (std::size_t i = 0; i <= state.tensors.size(); ++i) {
            for (; skipped < state.skipped.size() && state.skipped[skipped].before <= i; ++skipped) {
                const StateSkipped &entry = state.skipped[skipped];
                text += ' ' + entry.name + ':' + entry.reason;
                if (!entry.shape.empty()) {
                    text += ':' + entry.type + '[';
                    for (const std::int64_t extent : entry.shape)
                        text += std::to_string(extent) + ',';
                    text.back() = ']';
                }
            }
            if (i < state.tensors.size())
                text += ' ' + state.tensors[i].name;
        }
        return text.substr(1);
    }

    void compareOthers(const StateDict &state, const Value &facts)
    {
        const Value &others = facts.at("other_leaves");
        QCOMPARE(state.skipped.size(), others.toObject().size());
        for (const StateSkipped &skipped : state.skipped) {
            const Value *wanted = others.find(skipped.name);
            QVERIFY2(wanted != nullptr, skipped.name.c_str());
            QCOMPARE(toJson(skipped.value), toJson(*wanted));
            QCOMPARE(skipped.reason, std::string("not_a_tensor"));
        }
    }
};

QTEST_APPLESS_MAIN(TestStateDict)
#include "tst_state_dict.moc"
