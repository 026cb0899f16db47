// SPDX-License-Identifier: GPL-3.0-or-later
// The isolated rerun harness: isolated_capture, preserved_rng_state and clone_input_tree of the reference
// page.
#include "core/analysis/rerun_reports.h"
#include "core/capture_torch/isolated_capture.h"
#include "core/io/native_reader.h"
#include "tests/support/corpus_case.h"

#include <ATen/Context.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace core;

namespace {

CaptureRequest goldenRequest(const char *golden, const char *model)
{
    CaptureRequest request;
    const std::string folder = std::string(OPSCOPE_GOLDENS_DIR) + "/" + golden;
    request.modelPath = folder + "/" + model;
    request.inputs = {{"", folder + "/input_0.npy"}};
    return request;
}

std::shared_ptr<const Trace> openTrace(const std::string &path)
{
    const auto trace = openNative(path, JobContext());
    return trace ? *trace : nullptr;
}

// Values of all that a model holds, to see whether a run changed it.
std::vector<at::Tensor> stateOf(const RunnableModel &model)
{
    std::vector<at::Tensor> copies;
    for (const auto &[name, tensor] : model.parameters())
        copies.push_back(tensor.detach().clone());
    for (const ModelInput &input : model.inputs())
        if (input.value.isTensor())
            copies.push_back(input.value.toTensor().detach().clone());
    return copies;
}

bool same(const std::vector<at::Tensor> &a, const std::vector<at::Tensor> &b)
{
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const auto &x, const auto &y) {
               return x.scalar_type() == y.scalar_type() && at::equal(x, y);
           });
}

// Pages in memory that are this process's own.
std::size_t ownBytes()
{
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    std::size_t shared = 0;
    file >> total >> resident >> shared;
    return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Value readJson(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    const auto parsed = parseJson(text.str(), path);
    return parsed ? *parsed : Value();
}

} // namespace

class TestIsolatedCapture : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void treesAreCloned()
    {
        const at::Tensor shared = at::ones({2}).set_requires_grad(true);
        c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
        dict.insert("mask", shared);
        dict.insert("length", 3);
        c10::List<at::Tensor> list;
        list.push_back(shared);
        list.push_back(at::ones({1}));
        const c10::IValue tree = c10::ivalue::Tuple::create({shared, dict, list, c10::IValue("name")});
        const c10::IValue clone = cloneInputTree(tree);
        const auto &items = clone.toTupleRef().elements();
        QCOMPARE(items.size(), std::size_t(4));
        const at::Tensor first = items[0].toTensor();
        QVERIFY(!first.is_same(shared) && !first.is_alias_of(shared));
        QVERIFY(at::equal(first, shared) && first.requires_grad() && first.is_leaf());
        QVERIFY(items[1].toGenericDict().at("mask").toTensor().is_same(first)); // one object stays one
        QCOMPARE(items[1].toGenericDict().at("length").toInt(), std::int64_t(3));
        QVERIFY(items[2].isTensorList());
        QVERIFY(items[2].toTensorVector()[0].is_same(first));
        QVERIFY(!items[2].toTensorVector()[1].requires_grad());
        QCOMPARE(items[3].toStringRef(), std::string("name"));
    }

    void generatorsAreRestored()
    {
        at::manual_seed(5);
        const at::Tensor expected = at::rand({4});
        at::manual_seed(5);
        {
            const PreservedRngState preserved;
            at::manual_seed(77);
            QVERIFY(at::rand({4}).defined());
        }
        QVERIFY(at::equal(at::rand({4}), expected));
    }

    void runsLeaveTheModelAlone_data()
    {
        QTest::addColumn<QString>("golden");
        QTest::addColumn<QString>("file");
        for (const char *const file : {"model.pt", "model.pt2"})
            QTest::newRow(file) << "118_live_determinism_dropout" << file;
    }
    void runsLeaveTheModelAlone()
    {
        QFETCH(QString, golden);
        QFETCH(QString, file);
        const QTemporaryDir folder;
        CaptureRequest request = goldenRequest(golden.toStdString().c_str(), file.toStdString().c_str());
        request.train = file == "model.pt";
        request.outputPath = folder.filePath("unused.opscope").toStdString();
        const auto loaded = loadModel(request, {});
        QVERIFY2(loaded.isOk(), loaded.status().message().c_str());
        const std::vector<at::Tensor> before = stateOf(*loaded->model);
        at::manual_seed(3);
        const at::Tensor expected = at::rand({1});
        at::manual_seed(3);
        std::vector<std::shared_ptr<const Trace>> traces;
        for (const std::uint64_t seed : {1, 1, 2}) {
            const std::string path =
                folder.filePath(QString::number(traces.size()) + ".opscope").toStdString();
            const CaptureOutcome outcome = isolatedCapture(*loaded->model, request, {}, {seed, path, {}, {}});
            QVERIFY2(outcome.error.isOk(), outcome.error.message().c_str());
            traces.push_back(openTrace(path));
            QVERIFY(traces.back() != nullptr);
        }
        QVERIFY(at::equal(at::rand({1}), expected));
        QVERIFY(same(before, stateOf(*loaded->model)));
        const auto equal = compareRuns(*traces[0], *traces[1], {}, JobContext());
        const auto other = compareRuns(*traces[0], *traces[2], {}, JobContext());
        QVERIFY(equal.isOk() && other.isOk());
        QVERIFY(equal->divergences.empty());
        QVERIFY(equal->compared > 0);
        QVERIFY(!other->divergences.empty());
    }

    void copiesCanBePrepared()
    {
        const QTemporaryDir folder;
        CaptureRequest request = goldenRequest("112_live_precision_cancelling", "model.pt");
        request.outputPath = folder.filePath("unused.opscope").toStdString();
        const auto loaded = loadModel(request, {});
        QVERIFY2(loaded.isOk(), loaded.status().message().c_str());
        const std::vector<at::Tensor> before = stateOf(*loaded->model);
        const auto toDouble = [](RunnableModel &copy) { return copy.convertFloating(c10::kDouble); };
        const std::string path = folder.filePath("double.opscope").toStdString();
        const CaptureOutcome outcome = isolatedCapture(*loaded->model, request, {},
                                                       {0, path, {false, false, c10::kDouble, {}}, toDouble});
        QVERIFY2(outcome.error.isOk(), outcome.error.message().c_str());
        const auto trace = openTrace(path);
        QVERIFY(trace != nullptr);
        QVERIFY(!trace->computeOps().empty());
        for (const OpId op : trace->computeOps())
            QCOMPARE(trace->tensor(trace->op(op).tensor).dtype, DType::float64);
        QVERIFY(same(before, stateOf(*loaded->model)));
        QCOMPARE(c10::get_default_dtype_as_scalartype(), c10::kFloat);
    }

    // The models of the corpus, trained in place: forward and backward a hundred times over the same state.
    void reruns100DoNotLeak_data()
    {
        QTest::addColumn<QString>("name");
        const QDir models(QString(OPSCOPE_CORPUS_DIR) + "/models");
        for (const QString &name : models.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
            for (const char *const file : {"model.pt2", "model.pt"})
                if (QFile::exists(models.filePath(name) + "/" + file) && name != "custom_op" &&
                    name != "raises")
                    QTest::newRow(qPrintable(name + "/" + file)) << name + "/" + file;
    }
    void reruns100DoNotLeak()
    {
        QFETCH(QString, name);
        const QTemporaryDir folder;
        const CaptureRequest request = corpusRequest(name, folder);
        const auto loaded = loadModel(request, {});
        QVERIFY2(loaded.isOk(), loaded.status().message().c_str());
        constexpr int kSettled = 30; // by then caches and the heap have their size
        constexpr int kRuns = 70;
        constexpr int kRounds = 3; // a leak grows in each; a heap takes a large page now and then
        const auto run = [&](int runs) {
            for (int i = 0; i < runs; ++i) {
                const CaptureOutcome outcome =
                    ModelCapture(request, {}, *loaded->model, loaded->report).run({});
                QVERIFY2(outcome.error.isOk(), outcome.error.message().c_str());
            }
        };
        run(kSettled);
        constexpr std::size_t kLeak = std::size_t(4) << 20;
        std::size_t grown = kLeak;
        for (int round = 0; round < kRounds && grown >= kLeak; ++round) {
            const std::size_t before = ownBytes();
            run(kRuns);
            grown = std::max(ownBytes(), before) - before;
        }
        QVERIFY2(grown < kLeak, qPrintable(QString("%1 bytes more").arg(grown)));
    }

private:
    // As the answers were made: inputs, mode, and a backward pass where an output has a gradient.
    static CaptureRequest corpusRequest(const QString &name, const QTemporaryDir &folder)
    {
        const QString model = QString(OPSCOPE_CORPUS_DIR) + "/models/" + name;
        const std::string base = model.section('/', 0, -2).toStdString();
        const bool script = name.endsWith("/model.pt");
        const Value expected = readJson(base + "/expected.json");
        CaptureRequest request;
        request.modelPath = model.toStdString();
        request.outputPath = folder.filePath("trace.opscope").toStdString();
        request.inputsTree =
            support::readCorpusCase(model.section('/', 0, -2), model.section('/', -1), "expected.json")
                .writeInputs(folder.path())
                .toStdString();
        request.train = script && expected.at("mode").toString() == "train";
        if (expected.at("gradients").at("params").isObject())
            request.backward = BackwardRequest{"sum", {}, {}, 1, {}, {}};
        return request;
    }
};

QTEST_APPLESS_MAIN(TestIsolatedCapture)
#include "tst_isolated_capture.moc"
