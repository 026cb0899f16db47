// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/frame_origin.h"
#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/pt2_archive.h"
#include "core/capture_torch/pt2_executor.h"
#include "core/capture_torch/pt2_metadata.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/Context.h>
#include <ATen/ops/view_as_real.h>

#include <QDir>
#include <QElapsedTimer>
#include <QTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace core;
using namespace core::pt2;

namespace {

const std::string kCorpus = OPSCOPE_CORPUS_DIR;

Value readJson(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    auto parsed = parseJson(text.str(), path);
    return parsed.isOk() ? *std::move(parsed) : Value();
}

double number(const Value &value)
{
    if (value.isBool())
        return value.toBool() ? 1.0 : 0.0;
    if (value.toString() == "nan")
        return std::nan("");
    if (value.toString() == "inf")
        return INFINITY;
    return value.toString() == "-inf" ? -INFINITY : value.toDouble();
}

// Relative tolerance by precision: 1e-5, four units in the last place for the 16-bit types.
double relativeTolerance(c10::ScalarType type)
{
    if (type == c10::ScalarType::BFloat16)
        return 4.0 / 256.0;
    return type == c10::ScalarType::Half ? 4.0 / 2048.0 : 1e-5;
}

bool isClose(double got, double expected, double relative)
{
    if (std::isnan(got) || std::isnan(expected))
        return std::isnan(got) && std::isnan(expected);
    return got == expected || std::fabs(got - expected) <= 1e-6 + relative * std::fabs(expected);
}

std::vector<double> elements(const at::Tensor &tensor)
{
    const at::NoGradGuard guard;
    at::Tensor real = tensor.detach();
    if (real.is_complex())
        real = at::view_as_real(real.resolve_conj());
    const at::Tensor flat = real.to(at::kDouble).contiguous().view({-1});
    const double *data = flat.const_data_ptr<double>();
    return {data, data + flat.numel()};
}

// What is wrong with OUTPUT against EXPECTED of expected.json; empty when all is well.
std::string difference(const c10::IValue &output, const Value &expected)
{
    if (expected.find("shape") == nullptr)
        return output.isTensor() ? "a tensor where a value is expected" : "";
    if (!output.isTensor())
        return "no tensor";
    const at::Tensor &tensor = output.toTensor();
    std::vector<std::int64_t> shape;
    for (const Value &size : expected.at("shape").toList())
        shape.push_back(size.toInt());
    if (tensor.sizes().vec() != shape)
        return "shape";
    if (dtypeName(fromScalarType(tensor.scalar_type())) != expected.at("dtype").toString())
        return "dtype " + std::string(dtypeName(fromScalarType(tensor.scalar_type())));
    const double tolerance = relativeTolerance(tensor.scalar_type());
    const auto values = elements(tensor);
    const auto &first = expected.at("first").toList();
    for (std::size_t i = 0; i < first.size() && i < values.size(); ++i)
        if (!isClose(values[i], number(first[i]), tolerance))
            return "element " + std::to_string(i) + ": " + std::to_string(values[i]) + ", expected " +
                   std::to_string(number(first[i]));
    double sum = 0;
    std::int64_t bad = 0;
    for (const double value : values)
        std::isfinite(value) ? void(sum += value) : void(++bad);
    if (bad != expected.at("nonfinite").toInt())
        return "nonfinite " + std::to_string(bad);
    const double scale = std::fabs(expected.at("abs_sum_finite").toDouble()) * tolerance + 1e-5;
    return std::fabs(sum - number(expected.at("sum_finite"))) <= scale ? "" : "sum " + std::to_string(sum);
}

// The file numbers nested graphs in another way than the loaded program does.
std::string withoutNumber(const std::string &name)
{
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

struct SeenNode
{
    NodeInfo info;
    std::optional<std::uint32_t> moduleCall;
};

// Keeps what the executor tells, and checks the order of its calls.
class Recorder : public RunObserver
{
public:
    std::vector<SeenNode> nodes;
    std::vector<ModuleCallInfo> calls;
    std::vector<std::string> modules;
    std::vector<std::string> tensors;
    std::vector<std::string> outputPaths;
    std::vector<RegionInfo> regions;
    std::vector<RunNumber> numbers;
    int depth = 0;
    int internal = 0;
    bool isBalanced = true;

    void moduleDeclared(const ModuleInfo &module) override { modules.push_back(module.path); }
    void namedTensor(TensorRole, const std::vector<std::string> &names, const at::Tensor &) override
    {
        tensors.push_back(names.front());
    }
    void moduleCallStarted(const ModuleCallInfo &call) override
    {
        isBalanced = isBalanced && call.id == calls.size() && (!call.parent || *call.parent < call.id);
        calls.push_back(call);
    }
    void moduleCallEnded(const ModuleCallInfo &, const std::vector<c10::IValue> &) override {}
    void nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall) override
    {
        nodes.push_back({node, moduleCall});
        ++depth;
    }
    void nodeEnds(const NodeInfo &) override { --depth; }
    void numberComputed(const NodeInfo &, const RunNumber &value, const std::vector<std::uint32_t> &) override
    {
        numbers.push_back(value);
    }
    void regionEntered(const RegionInfo &region) override { regions.push_back(region); }
    void regionLeft(const RegionInfo &) override {}
    void internalOpsBegin(const NodeInfo *) override { ++internal; }
    void internalOpsEnd() override { --internal; }
    void graphOutput(const std::string &path, const c10::IValue &) override { outputPaths.push_back(path); }
};

struct Loaded
{
    std::shared_ptr<const Archive> archive;
    std::shared_ptr<const Program> program;
    State state;
    LoadReport report;
};

// The outcome class of bad/MANIFEST.json: the first error's token, or ok.
Status load(const std::string &path, Loaded &loaded)
{
    auto archive = Archive::open(path, loaded.report);
    if (!archive)
        return archive.error();
    loaded.archive = *archive;
    auto program = buildProgram(loaded.archive->document(), loaded.report);
    if (!program)
        return program.error();
    loaded.program = *program;
    auto state = loadState(*loaded.archive, loaded.report);
    if (!state)
        return state.error();
    loaded.state = *std::move(state);
    return Status::ok();
}

Result<std::vector<c10::IValue>> runCase(Loaded &loaded, const InputArguments &arguments, Recorder &recorder,
                                         Status &modelStatus)
{
    if (Status status = loaded.state.settle(*loaded.program); !status)
        return status;
    const auto samples = loadSampleInputs(*loaded.archive, loaded.report);
    if (!samples)
        return samples.error();
    InputBuilder builder(0);
    auto inputs = buildInputs(*loaded.program, arguments, *samples, builder);
    if (!inputs)
        return inputs.error();
    std::vector<c10::IValue> values;
    for (const RunInput &input : *inputs)
        values.push_back(input.value);
    at::manual_seed(0);
    Executor executor(*loaded.program, loaded.state, &recorder);
    auto result = executor.run(values, {}, {});
    modelStatus = result.status();
    return result;
}

QStringList folders(const QString &parent)
{
    return QDir(parent).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
}

} // namespace

class TestPt2 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void models_data();
    void models();
    void graphOps_data();
    void graphOps();
    void versions_data();
    void versions();
    void programs_data();
    void programs();
    void oldParametersRequireGradients();
    void regionsByTheirClass();
    void loopsAreRegions();
    void numbersAreTold();
    void vmapIsRefusedByName();
    void nestedKeywords();
    void badFiles_data();
    void badFiles();
    void truncated();
    void raisesNamesTheLine();
    void customOpIsRefusedByName();
    void cudaConstantIsMapped();
    void sharedModulesAreCountedCalls();
    void tiedNamesAreOneTensor();
    void dynamicSizes();
    void inputErrors_data();
    void inputErrors();
    void cancelled();
};

void TestPt2::models_data()
{
    QTest::addColumn<QString>("folder");
    for (const char *parent : {"models", "nan_cases"})
        for (const QString &name : folders(QString::fromStdString(kCorpus) + '/' + parent)) {
            const QString folder = QString::fromStdString(kCorpus) + '/' + parent + '/' + name;
            if (QFile::exists(folder + "/model.pt2") && name != "raises" && name != "custom_op" &&
                name != "f01_multinomial_nan")
                QTest::newRow(qPrintable(name)) << folder;
        }
}

void TestPt2::models()
{
    QFETCH(QString, folder);
    const std::string dir = folder.toStdString();
    const bool isModel = QFile::exists(folder + "/expected.json");
    const std::string answerFile = dir + (isModel ? "/expected.json" : "/answer.json");
    const Value answer = readJson(answerFile);
    const Value::List expected = (isModel ? answer : answer.at("seen")).at("outputs").toList();
    QVERIFY(!expected.empty());

    Loaded loaded;
    const Status status = load(dir + "/model.pt2", loaded);
    QVERIFY2(status.isOk(), status.message().c_str());
    const auto arguments = readInputTree(answerFile);
    QVERIFY2(arguments.isOk(), arguments.status().message().c_str());
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, *arguments, recorder, modelStatus);
    QVERIFY2(outputs.isOk(), outputs.status().message().c_str());
    QCOMPARE(outputs->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string found = difference((*outputs)[i], expected[i]);
        QVERIFY2(found.empty(), ("output " + std::to_string(i) + ": " + found).c_str());
        if (isModel)
            QCOMPARE(recorder.outputPaths[i], expected[i].at("path").toString());
    }
    QCOMPARE(recorder.depth, 0);
    QCOMPARE(recorder.internal, 0);
    QVERIFY(recorder.isBalanced);
}

void TestPt2::graphOps_data()
{
    models_data();
}

// The executed nodes are the exported graph's, with its names, modules and the user's source lines.
void TestPt2::graphOps()
{
    QFETCH(QString, folder);
    const std::string dir = folder.toStdString();
    const bool isModel = QFile::exists(folder + "/expected.json");
    const std::string answerFile = dir + (isModel ? "/expected.json" : "/answer.json");
    const Value answer = readJson(answerFile);
    const Value::List expected = answer.at(isModel ? "graph_ops" : "ops").toList();
    QVERIFY(!expected.empty() || folder.endsWith("identity"));

    Loaded loaded;
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    Recorder recorder;
    Status modelStatus;
    QVERIFY(runCase(loaded, *readInputTree(answerFile), recorder, modelStatus).isOk());
    QCOMPARE(recorder.nodes.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const SeenNode &seen = recorder.nodes[i];
        const Value &op = expected[i];
        QCOMPARE(seen.info.target, op.at("op").toString());
        QCOMPARE(seen.info.name, op.at("name").toString());
        QCOMPARE(withoutNumber(seen.info.subgraph), withoutNumber(op.at("subgraph").toString()));
        // The exporter's own nodes carry a placeholder instead of a module.
        const std::string &module = op.at("module").toString();
        QCOMPARE(seen.moduleCall ? recorder.calls[*seen.moduleCall].path : std::string(),
                 module.starts_with("_empty_nn_module_stack") ? std::string() : module);
        if (const Value &source = op.at("source"); source.isObject()) {
            const RunFrame *frame = userFrame(seen.info.frames);
            QVERIFY2(frame != nullptr, seen.info.name.c_str());
            QCOMPARE(frame->file, source.at("file").toString());
            QCOMPARE(std::int64_t(frame->line), source.at("line").toInt());
            QCOMPARE(frame->function, source.at("func").toString());
            QCOMPARE(frame->source, source.at("text").toString());
        }
    }
}

void TestPt2::versions_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("answer");
    const QDir dir(QString::fromStdString(kCorpus) + "/versions");
    for (const QString &name : dir.entryList({"*.pt2"}))
        QTest::newRow(qPrintable(name))
            << dir.filePath(name)
            << dir.filePath(name.left(name.indexOf(".pt2")).remove(".dynamic") + ".expected.json");
}

void TestPt2::versions()
{
    QFETCH(QString, file);
    QFETCH(QString, answer);
    Loaded loaded;
    const Status status = load(file.toStdString(), loaded);
    QVERIFY2(status.isOk(), status.message().c_str());
    InputArguments arguments;
    for (const char *name : {"x.npy", "mask.npy"})
        arguments.positional.push_back(parseInputOption(kCorpus + "/versions/" + name)->node);
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, arguments, recorder, modelStatus);
    QVERIFY2(outputs.isOk(), outputs.status().message().c_str());
    const Value::List expected = readJson(answer.toStdString()).at("outputs").toList();
    QCOMPARE(outputs->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string found = difference((*outputs)[i], expected[i]);
        QVERIFY2(found.empty(), found.c_str());
    }
}

// Control flow, regions, symbolic sizes, mutation: values of Python, and the buffers after the run.
void TestPt2::programs_data()
{
    QTest::addColumn<QString>("folder");
    for (const QString &name : folders(OPSCOPE_PT2_PROGRAMS_DIR))
        if (name != "vmap" && name != "kwargs")
            QTest::newRow(qPrintable(name)) << OPSCOPE_PT2_PROGRAMS_DIR "/" + name;
}

void TestPt2::programs()
{
    QFETCH(QString, folder);
    const std::string dir = folder.toStdString();
    const Value answer = readJson(dir + "/expected.json");
    Loaded loaded;
    const Status status = load(dir + "/model.pt2", loaded);
    QVERIFY2(status.isOk(), status.message().c_str());
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, *readInputTree(dir + "/expected.json"), recorder, modelStatus);
    QVERIFY2(outputs.isOk(), outputs.status().message().c_str());
    const Value::List expected = answer.at("outputs").toList();
    QCOMPARE(outputs->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string found = difference((*outputs)[i], expected[i]);
        QVERIFY2(found.empty(), ("output " + std::to_string(i) + ": " + found).c_str());
        if (const Value *value = expected[i].find("value"); value != nullptr && value->isInt())
            QCOMPARE((*outputs)[i].toInt(), value->toInt());
    }
    for (const auto &[name, buffer] : answer.at("buffers_after").toObject()) {
        QVERIFY(loaded.state.find(name) != nullptr);
        const std::string found = difference(*loaded.state.find(name), buffer);
        QVERIFY2(found.empty(), (name + ": " + found).c_str());
    }
    QCOMPARE(recorder.depth, 0);
    QCOMPARE(recorder.internal, 0);
}

// Programs of torch 2.3 call every tensor frozen; their parameters say for themselves what they are.
void TestPt2::oldParametersRequireGradients()
{
    Loaded loaded;
    QVERIFY(load(OPSCOPE_PT2_PROGRAMS_DIR "/torch_2_3/model.pt2", loaded).isOk());
    for (const char *name : {"a.weight", "a.bias", "b.bias"})
        QVERIFY2(loaded.state.find(name)->requires_grad(), name);
    for (const char *name : {"b.weight", "seen"})
        QVERIFY2(!loaded.state.find(name)->requires_grad(), name);
}

// torch 2.4 wrote the operator of a region by the class behind it.
void TestPt2::regionsByTheirClass()
{
    const std::string dir = OPSCOPE_PT2_PROGRAMS_DIR "/no_grad";
    Loaded loaded;
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    Document old = *loaded.archive->document();
    const std::string name = "wrap_with_set_grad_enabled";
    const std::string now = "torch.ops.higher_order." + name;
    std::string text = toJson(old.root);
    QVERIFY(text.find(now) != std::string::npos);
    for (std::size_t at = 0; (at = text.find(now)) != std::string::npos;)
        text.replace(at, now.size(), "torch._higher_order_ops.wrap." + name);
    old.root = *parseJson(text, "the program");
    const auto program = buildProgram(std::make_shared<const Document>(std::move(old)), loaded.report);
    QVERIFY(program.isOk());
    loaded.program = *program;
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, *readInputTree(dir + "/expected.json"), recorder, modelStatus);
    QVERIFY2(outputs.isOk(), outputs.status().message().c_str());
    QVERIFY(!recorder.regions.empty());
    QCOMPARE(recorder.regions.front().kind, name);
    const Value answer = readJson(dir + "/expected.json");
    QCOMPARE(outputs->size(), answer.at("outputs").toList().size());
    for (std::size_t i = 0; i < outputs->size(); ++i)
        QCOMPARE(difference(outputs->at(i), answer.at("outputs").toList()[i]), std::string());
}

void TestPt2::loopsAreRegions()
{
    Loaded loaded;
    const std::string dir = OPSCOPE_PT2_PROGRAMS_DIR "/while_loop";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    Recorder recorder;
    Status modelStatus;
    QVERIFY(runCase(loaded, *readInputTree(dir + "/expected.json"), recorder, modelStatus).isOk());
    // Four turns of condition and body, and the condition that ends the loop.
    QCOMPARE(recorder.regions.size(), std::size_t(9));
    QCOMPARE(recorder.regions[7].kind, std::string("while_loop"));
    QCOMPARE(recorder.regions[7].part, std::string("while_loop_body_graph_0"));
    QCOMPARE(recorder.regions[7].iteration, 3U);
    QCOMPARE(recorder.regions[8].part, std::string("while_loop_cond_graph_0"));
    int linears = 0;
    for (const SeenNode &node : recorder.nodes)
        linears += node.info.target == "aten.linear.default" ? 1 : 0;
    QCOMPARE(linears, 4);
}

void TestPt2::numbersAreTold()
{
    Loaded loaded;
    const std::string dir = OPSCOPE_PT2_PROGRAMS_DIR "/sizes";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    Recorder recorder;
    Status modelStatus;
    QVERIFY(runCase(loaded, *readInputTree(dir + "/expected.json"), recorder, modelStatus).isOk());
    QVERIFY(!recorder.numbers.empty());
    QCOMPARE(std::get<std::int64_t>(recorder.numbers[0]), std::int64_t(42)); // b * n of a 7 x 6 input
    for (const SeenNode &node : recorder.nodes)
        if (node.info.target == "_operator.mul" && node.info.name == "mul")
            QCOMPARE(node.info.numberSources.size(), std::size_t(2));
}

void TestPt2::vmapIsRefusedByName()
{
    Loaded loaded;
    QVERIFY(load(OPSCOPE_PT2_PROGRAMS_DIR "/vmap/model.pt2", loaded).isOk());
    const Status status = loaded.program->runnable();
    QCOMPARE(status.code(), ErrorCode::unsupported);
    const QString message = QString::fromStdString(status.message());
    for (const char *name : {"_vmap_increment_nesting", "_add_batch_dim", "_remove_batch_dim"})
        QVERIFY2(message.contains(name), qPrintable(message));
}

// Tuples in dicts, keywords in another order than the program's, and leaves named one by one.
void TestPt2::nestedKeywords()
{
    const auto tree =
        parseJson("{\"args\": [{\"tuple\": [{\"spec\": \"f32[2]=1\"}, {\"dict\": {\"deep\": "
                  "{\"spec\": \"f32[2]=3\"}}}]}], \"kwargs\": {\"scale\": {\"dict\": {\"a\": {\"spec\": "
                  "\"f32[2]=7\"}, \"b\": {\"spec\": \"f32[2]=5\"}}}}}",
                  "tree");
    QVERIFY2(tree.isOk(), tree.status().message().c_str());
    Loaded loaded;
    QVERIFY(load(OPSCOPE_PT2_PROGRAMS_DIR "/kwargs/model.pt2", loaded).isOk());
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, *parseInputTree(*tree, "."), recorder, modelStatus);
    QVERIFY2(outputs.isOk(), outputs.status().message().c_str());
    QCOMPARE(elements((*outputs)[0].toTensor()), (std::vector<double>{22, 22})); // 1 * 7 + 3 * 5

    InputArguments leaf;
    leaf.named.push_back(*parseInputOption("scale.b=f32[2]=0"));
    Loaded again;
    QVERIFY(load(OPSCOPE_PT2_PROGRAMS_DIR "/kwargs/model.pt2", again).isOk());
    const auto partly = runCase(again, leaf, recorder, modelStatus); // the rest from the sample inputs
    QVERIFY2(partly.isOk(), partly.status().message().c_str());
    QCOMPARE(elements((*partly)[0].toTensor()), (std::vector<double>{7, 7}));
}

void TestPt2::badFiles_data()
{
    QTest::addColumn<QString>("name");
    const Value manifest = readJson(kCorpus + "/bad/MANIFEST.json");
    for (const auto &[name, entry] : manifest.at("files").toObject())
        if (name.ends_with(".pt2"))
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestPt2::badFiles()
{
    QFETCH(QString, name);
    const Value entry = readJson(kCorpus + "/bad/MANIFEST.json").at("files").at(name.toStdString());
    std::vector<std::string> accepted{entry.at("outcome").toString()};
    for (const Value &other : entry.at("also_accept").toList())
        accepted.push_back(other.toString());

    QElapsedTimer timer;
    timer.start();
    Loaded loaded;
    const Status status = load(kCorpus + "/bad/" + name.toStdString(), loaded);
    QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    bool matches = false;
    std::string found = status.isOk() ? "opens" : "rejected:" + status.detail();
    for (const std::string &outcome : accepted) {
        if (!status.isOk())
            matches = matches || outcome == found;
        else if (outcome == "opens")
            matches = matches || loaded.report.isClean();
        else if (outcome.starts_with("opens_with_warning:"))
            matches = matches || loaded.report.has(outcome.substr(outcome.find(':') + 1));
    }
    for (const auto &note : loaded.report.notes())
        found += " +" + note.token;
    QVERIFY2(matches, (found + " (" + status.message() + "), expected " + accepted.front()).c_str());
    QVERIFY(!std::filesystem::exists("EXECUTED"));
}

// Every truncation of a small archive is an error or a program that refuses to run, never a crash.
void TestPt2::truncated()
{
    std::ifstream file(kCorpus + "/models/identity/model.pt2", std::ios::binary);
    std::stringstream whole;
    whole << file.rdbuf();
    const std::string bytes = whole.str();
    QVERIFY(bytes.size() > 1000);
    const std::string path = "truncated.pt2";
    int refused = 0;
    int tried = 0;
    for (std::size_t size = 0; size < bytes.size(); size += 61, ++tried) {
        std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
        Loaded loaded;
        refused += load(path, loaded).isOk() ? 0 : 1;
    }
    QCOMPARE(refused, tried);
    std::filesystem::remove(path);
}

void TestPt2::raisesNamesTheLine()
{
    Loaded loaded;
    const std::string dir = kCorpus + "/nan_cases/f01_multinomial_nan";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, *readInputTree(dir + "/answer.json"), recorder, modelStatus);
    QVERIFY(!outputs.isOk());
    QCOMPARE(modelStatus.code(), ErrorCode::modelFailed);
    QCOMPARE(modelStatus.message(),
             std::string(
                 "aten.multinomial.default (multinomial) at nan_cases/f01_multinomial_nan.py:14 in forward: "
                 "probability tensor contains either `inf`, `nan` or element < 0"));
    QCOMPARE(recorder.nodes.size(), readJson(dir + "/answer.json").at("ops").toList().size() + 1);
}

void TestPt2::customOpIsRefusedByName()
{
    Loaded loaded;
    const std::string dir = kCorpus + "/models/custom_op";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    const Status status = loaded.program->runnable();
    QCOMPARE(status.code(), ErrorCode::unsupported);
    QCOMPARE(status.detail(), std::string("missing_op"));
    QVERIFY(QString::fromStdString(status.message()).contains("acme_vision.fused_bias_act.default"));
    Recorder recorder;
    Status modelStatus;
    QVERIFY(!runCase(loaded, *readInputTree(dir + "/expected.json"), recorder, modelStatus).isOk());
    QVERIFY(recorder.nodes.empty());
}

void TestPt2::cudaConstantIsMapped()
{
    Loaded loaded;
    QVERIFY(load(kCorpus + "/models/cuda_constant/model.pt2", loaded).isOk());
    bool found = false;
    for (const MappedDevice &device : loaded.program->mappedDevices)
        found = found || device.device.starts_with("cuda");
    QVERIFY(found);
}

void TestPt2::sharedModulesAreCountedCalls()
{
    Loaded loaded;
    const std::string dir = kCorpus + "/models/shared_modules";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    Recorder recorder;
    Status modelStatus;
    QVERIFY(runCase(loaded, *readInputTree(dir + "/expected.json"), recorder, modelStatus).isOk());
    std::vector<std::string> calls;
    for (const ModuleCallInfo &call : recorder.calls)
        calls.push_back(call.path + ':' + std::to_string(call.number));
    const std::vector<std::string> expected{":1",    "first:1", "act:1", "alias:1",
                                            "act:2", "first:2", "act:3", "last:1"};
    QCOMPARE(calls, expected);
}

void TestPt2::tiedNamesAreOneTensor()
{
    Loaded loaded;
    QVERIFY(load(kCorpus + "/versions/torch-2.15.0.pt2", loaded).isOk());
    QVERIFY(loaded.state.settle(*loaded.program).isOk());
    const std::vector<std::string> names{"a.weight", "b.weight"};
    QCOMPARE(loaded.state.namesOf("a.weight"), names);
    QVERIFY(loaded.state.find("a.weight")->requires_grad());
    QVERIFY(!loaded.state.find("shift")->requires_grad());
}

void TestPt2::dynamicSizes()
{
    Loaded loaded;
    const std::string dir = kCorpus + "/models/dynamic_batch";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    bool isDynamic = false;
    for (const ProgramInput &input : loaded.program->inputs)
        for (const DocumentSize &size : input.tensor.sizes)
            isDynamic = isDynamic || size.isDynamic();
    QVERIFY(isDynamic);
}

void TestPt2::inputErrors_data()
{
    QTest::addColumn<QString>("input");
    QTest::addColumn<QString>("message");
    QTest::newRow("shape") << "x=f32[2,4,9]"
                           << "input x: expected float32[2,4,8], got float32[2,4,9]";
    QTest::newRow("dtype") << "x=f64[2,4,8]"
                           << "input x: expected float32[2,4,8], got float64[2,4,8]";
    QTest::newRow("rank") << "x=f32[4,8]"
                          << "input x: expected float32[2,4,8], got float32[4,8]";
    QTest::newRow("value") << "x=3"
                           << "input x: expected float32[2,4,8], got 3";
    QTest::newRow("name") << "y=f32[2,4,8]"
                          << "input y: the model has no such input, only x, mask";
    QTest::newRow("file") << "x=nowhere.npy"
                          << "input x: nowhere.npy";
}

void TestPt2::inputErrors()
{
    QFETCH(QString, input);
    QFETCH(QString, message);
    Loaded loaded;
    QVERIFY(load(kCorpus + "/models/attention/model.pt2", loaded).isOk());
    InputArguments arguments;
    arguments.named.push_back(*parseInputOption(input.toStdString()));
    Recorder recorder;
    Status modelStatus;
    const auto outputs = runCase(loaded, arguments, recorder, modelStatus);
    QVERIFY(!outputs.isOk());
    const QString got = QString::fromStdString(outputs.status().message());
    QVERIFY2(got.startsWith(message), qPrintable(got));
}

void TestPt2::cancelled()
{
    Loaded loaded;
    const std::string dir = kCorpus + "/models/attention";
    QVERIFY(load(dir + "/model.pt2", loaded).isOk());
    QVERIFY(loaded.state.settle(*loaded.program).isOk());
    InputBuilder builder(0);
    const auto inputs =
        buildInputs(*loaded.program, *readInputTree(dir + "/expected.json"), std::nullopt, builder);
    QVERIFY(inputs.isOk());
    std::vector<c10::IValue> values;
    for (const RunInput &input : *inputs)
        values.push_back(input.value);
    std::stop_source source;
    source.request_stop();
    Executor executor(*loaded.program, loaded.state, nullptr);
    const auto outputs = executor.run(values, {}, JobContext(source.get_token()));
    QVERIFY(!outputs.isOk());
    QCOMPARE(outputs.error().code(), ErrorCode::cancelled);
    QVERIFY(!executor.failure().has_value());
}

QTEST_APPLESS_MAIN(TestPt2)
#include "tst_pt2.moc"
