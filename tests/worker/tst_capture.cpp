// SPDX-License-Identifier: GPL-3.0-or-later
// Drives the built capture_worker over the models with known answers and compares the traces with them.
#include "core/capture/capture_client.h"
#include "core/io/native_reader.h"
#include "core/trace/tensor_reader.h"
#include "tests/support/corpus_case.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace core;

namespace {

std::string text(const QString &value)
{
    return value.toStdString();
}

Value readJson(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const Result<Value> value = parseJson(file.readAll().toStdString(), text(path));
    return value ? *value : Value();
}

// A number of the answers: "nan", "inf", "-inf" are strings there.
double number(const Value &value)
{
    if (value.isNumber())
        return value.toDouble();
    const std::string &word = value.toString();
    return word == "inf" ? INFINITY : word == "-inf" ? -INFINITY : NAN;
}

bool near(double got, double want, double relative, double absolute)
{
    if (std::isnan(want) || std::isinf(want))
        return std::isnan(want) ? std::isnan(got) : got == want;
    return std::fabs(got - want) <= absolute + relative * std::fabs(want);
}

struct Tolerance
{
    double relative;
    double absolute;
};
Tolerance toleranceOf(DType dtype)
{
    if (dtype == DType::float16)
        return {4 * 0.0009765625, 1e-4};
    if (dtype == DType::bfloat16)
        return {4 * 0.0078125, 1e-3};
    return {1e-5, 1e-6};
}

struct Case
{
    QString folder;
    QString format; // "pt", "pt2"
    QString answerFile;
    Value answer;
};

std::vector<Case> cases(const QString &group, const QString &answerFile)
{
    std::vector<Case> out;
    const QDir root(QString(OPSCOPE_CORPUS_DIR) + "/" + group);
    for (const QString &name : root.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
        for (const char *format : {"pt2", "pt"}) {
            const QString folder = root.filePath(name);
            if (QFile::exists(folder + "/model." + format))
                out.push_back({folder, format, answerFile, readJson(folder + "/" + answerFile)});
        }
    return out;
}

CaptureRequest requestFor(const Case &item, const QTemporaryDir &folder)
{
    CaptureRequest request;
    request.modelPath = text(item.folder + "/model." + item.format);
    request.outputPath = text(folder.filePath("trace.opscope"));
    request.inputsTree = text(support::readCorpusCase(item.folder, "model." + item.format, item.answerFile)
                                  .writeInputs(folder.path()));
    request.seed = 0;
    request.train = item.format == "pt" && item.answer.at("mode").toString() == "train";
    return request;
}

struct Captured
{
    CaptureOutcome outcome;
    std::shared_ptr<const Trace> trace;
};

Result<Captured> capture(const CaptureRequest &request)
{
    CaptureClient client(std::string(OPSCOPE_BIN_DIR) + "/capture_worker");
    Result<CaptureOutcome> outcome = client.run(request, JobContext(), {});
    if (!outcome)
        return outcome.error().prefixed(client.errorText());
    Captured captured;
    captured.outcome = *std::move(outcome);
    if (captured.outcome.hasTrace()) {
        JobContext job;
        Result<std::shared_ptr<const Trace>> trace = openNative(request.outputPath, job);
        if (!trace)
            return trace.error();
        captured.trace = *trace;
    }
    return captured;
}

std::string shapeText(std::span<const std::int64_t> shape)
{
    std::string out;
    for (const std::int64_t size : shape)
        out += std::to_string(size) + ',';
    return out;
}
std::string shapeText(const Value &shape)
{
    std::string out;
    for (const Value &size : shape.toList())
        out += std::to_string(size.toInt()) + ',';
    return out;
}

std::vector<OpId> rowsOf(const Trace &trace, CallKind kind)
{
    std::vector<OpId> rows;
    for (std::size_t i = 0; i < trace.ops().size(); ++i)
        if (trace.ops()[i].kind == kind)
            rows.emplace_back(i);
    return rows;
}

// Empty when the outputs are those of the answer, else what differs.
std::string outputsDiffer(const Trace &trace, const Value &answer, bool comparePaths)
{
    const std::vector<OpId> rows = rowsOf(trace, CallKind::output);
    const Value::List &expected = answer.at("outputs").toList();
    if (rows.size() != expected.size())
        return std::to_string(rows.size()) + " outputs, expected " + std::to_string(expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Value &want = expected[i];
        const OpRow &row = trace.op(rows[i]);
        const std::string path(trace.string(trace.callOf(rows[i]).address));
        if (comparePaths && path != want.at("path").toString())
            return "output path " + path + ", expected " + want.at("path").toString();
        if (!want.at("shape").isList())
            continue;
        if (!row.tensor.isValid())
            return "output " + path + " has no tensor";
        if (shapeText(trace.shape(row.tensor)) != shapeText(want.at("shape")))
            return "output " + path + " has shape " + shapeText(trace.shape(row.tensor));
        const DType dtype = trace.tensor(row.tensor).dtype;
        if (dtypeName(dtype) != want.at("dtype").toString())
            return "output " + path + " has dtype " + std::string(dtypeName(dtype));
        const Result<TensorReader> reader = TensorReader::open(trace, row.tensor);
        if (!reader)
            return reader.error().message();
        std::vector<std::byte> bytes(reader->elementCount() * reader->itemBytes());
        if (Status read = reader->read(0, bytes); !read)
            return read.message();
        const Tolerance tolerance = toleranceOf(dtype);
        const Value::List &first = want.at("first").toList();
        for (std::size_t k = 0; k < first.size() && !isComplex(dtype); ++k) {
            const double got = elementAsDouble(dtype, std::span<const std::byte>(bytes), k);
            if (!near(got, first[k].isBool() ? first[k].toBool() : number(first[k]), tolerance.relative,
                      tolerance.absolute))
                return "output " + path + "[" + std::to_string(k) + "] is " + formatDouble(got) +
                       ", expected " + toJson(first[k]);
        }
    }
    return {};
}

// Every tensor that goes into an op was made by a call, or is a parameter, buffer, constant or input.
std::string untraceable(const Trace &trace)
{
    for (std::size_t i = 0; i < trace.calls().size(); ++i)
        for (const ArgumentRow &argument : trace.arguments(CallId(i)))
            for (const TensorId id : trace.tensorIds(argument.tensors)) {
                if (!id.isValid())
                    continue;
                const TensorRow &tensor = trace.tensor(id);
                const bool named = tensor.role != TensorRole::output && tensor.role != TensorRole::gradient;
                if (!named && !tensor.call.isValid())
                    return std::string(trace.string(trace.calls()[i].op)) + " takes " +
                           std::string(trace.string(argument.name)) + " from nowhere";
            }
    return {};
}

// The compute calls of a trace.
std::vector<CallId> computeCalls(const Trace &trace)
{
    std::vector<CallId> calls;
    for (std::size_t i = 0; i < trace.calls().size(); ++i)
        if (trace.calls()[i].kind == CallKind::compute)
            calls.emplace_back(i);
    return calls;
}

std::string statsDiffer(const Trace &trace, TensorId id, const Value &want)
{
    const TensorRow &row = trace.tensor(id);
    if (shapeText(trace.shape(id)) != shapeText(want.at("shape")))
        return "shape " + shapeText(trace.shape(id)) + " expected " + shapeText(want.at("shape"));
    if (dtypeName(row.dtype) != want.at("dtype").toString())
        return "dtype " + std::string(dtypeName(row.dtype));
    const TensorStats *stats = trace.stats(id);
    if (stats == nullptr || want.find("nan") == nullptr)
        return {};
    if (static_cast<std::int64_t>(stats->nan) != want.at("nan").toInt() ||
        static_cast<std::int64_t>(stats->posInf) != want.at("pinf").toInt() ||
        static_cast<std::int64_t>(stats->negInf) != want.at("ninf").toInt())
        return "counts of bad values differ";
    const Tolerance tolerance = toleranceOf(row.dtype);
    for (const auto &[key, value] :
         {std::pair("min", stats->min), {"max", stats->max}, {"mean", stats->mean}})
        if (want.at(key).isNumber() &&
            !near(value, want.at(key).toDouble(), tolerance.relative * 4, tolerance.absolute * 4))
            return std::string(key) + " " + formatDouble(value) + " expected " + toJson(want.at(key));
    return {};
}

// The exported graph run node by node against the calls of a trace.
std::string graphDiffers(const Trace &trace, const Value &answer)
{
    const std::vector<CallId> calls = computeCalls(trace);
    std::size_t at = 0;
    for (const Value &want : answer.at("graph_ops").toList()) {
        const std::string &op = want.at("op").toString();
        if (op.starts_with("higher_order."))
            continue;
        if (at == calls.size())
            return op + " is not in the trace";
        const CallRow &call = trace.call(calls[at]);
        const std::string where = op + " (call " + std::to_string(at) + "): ";
        if (trace.string(call.op) != op)
            return where + "the trace has " + std::string(trace.string(call.op));
        std::size_t slot = 0;
        for (const Value &out : want.at("out").toList()) {
            if (slot >= call.rows.count)
                break;
            const OpRow &row = trace.ops()[call.rows.begin + slot++];
            if (row.tensor.isValid() && !call.uninitialised)
                if (const std::string differs = statsDiffer(trace, row.tensor, out); !differs.empty())
                    return where + differs;
        }
        const OpId first(call.rows.begin);
        const bool inModule = want.at("module").isString() &&
                              want.at("module").toString() != "_empty_nn_module_stack_from_metadata_hook";
        if (inModule && trace.moduleAddress(first) != want.at("module").toString())
            return where + "module " + std::string(trace.moduleAddress(first));
        const Value &source = want.at("source");
        const FrameId frame = call.stack.isValid() ? trace.sourceFrame(call.stack) : FrameId();
        if (source.isObject() &&
            (!frame.isValid() || trace.string(trace.frame(frame).file) != source.at("file").toString() ||
             trace.frame(frame).line.oneBased() != source.at("line").toInt()))
            return where + "source line differs";
        ++at;
    }
    return at == calls.size()
               ? std::string()
               : std::to_string(calls.size() - at) + " calls more than the exported graph, first " +
                     std::string(trace.string(trace.call(calls[at]).op));
}

double normOf(const Trace &trace, TensorId id)
{
    const Result<TensorReader> reader = TensorReader::open(trace, id);
    if (!reader)
        return NAN;
    std::vector<std::byte> bytes(reader->elementCount() * reader->itemBytes());
    if (!reader->read(0, bytes))
        return NAN;
    double sum = 0.0;
    for (std::size_t i = 0; i < reader->elementCount(); ++i) {
        const double real = elementAsDouble(reader->dtype(), bytes.data(), i);
        const double imaginary = elementImaginary(reader->dtype(), bytes.data(), i);
        sum += real * real + imaginary * imaginary;
    }
    return std::sqrt(sum);
}

} // namespace

class TestCapture : public QObject
{
    Q_OBJECT

public:
    // One function runs a worker for each of dozens of models; on a busy machine that takes long.
    static void initMain() { qputenv("QTEST_FUNCTION_TIMEOUT", "3600000"); }

private Q_SLOTS:
    void models_data();
    void models();
    void nanCases_data();
    void nanCases();
    void killedAnywhere();
    void cancelled();
    void replays_data();
    void replays();
    void gradients_data();
    void gradients();
};

void TestCapture::models_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("format");
    for (const Case &item : cases("models", "expected.json"))
        QTest::addRow("%s.%s", qPrintable(QDir(item.folder).dirName()), qPrintable(item.format))
            << item.folder << item.format;
}

void TestCapture::models()
{
    QFETCH(QString, folder);
    QFETCH(QString, format);
    const Case item{folder, format, "expected.json", readJson(folder + "/expected.json")};
    QTemporaryDir temporary;
    const Result<Captured> captured = capture(requestFor(item, temporary));
    QVERIFY2(captured, captured ? "" : captured.error().message().c_str());
    const CaptureOutcome &outcome = captured->outcome;
    if (item.answer.find("raises") != nullptr) {
        QCOMPARE(outcome.status, TraceStatus::failed);
        QCOMPARE(outcome.error.code(), ErrorCode::modelFailed);
        const Value &where = item.answer.at("raises").at("where");
        const std::string line = where.at("file").toString() + ':' + std::to_string(where.at("line").toInt());
        QVERIFY(!outcome.stack.empty());
        QVERIFY2(outcome.stack.back().starts_with(line), outcome.stack.back().c_str());
        QCOMPARE(static_cast<std::int64_t>(computeCalls(*captured->trace).size()),
                 item.answer.at("raises").at("calls_before").toInt() + 1);
        return;
    }
    if (!outcome.hasTrace()) {
        // Only what needs something that no LibTorch has may be refused.
        QCOMPARE(outcome.error.code(), ErrorCode::unsupported);
        QVERIFY2(folder.contains("custom_op"), outcome.error.message().c_str());
        return;
    }
    QVERIFY2(outcome.status == TraceStatus::finished, outcome.error.message().c_str());
    const Trace &trace = *captured->trace;
    const bool traced = item.format == "pt" && item.answer.find("trace_inputs") != nullptr;
    const std::string outputs = outputsDiffer(trace, item.answer, !traced);
    QVERIFY2(outputs.empty(), outputs.c_str());
    const std::string lost = untraceable(trace);
    QVERIFY2(lost.empty(), lost.c_str());
    if (item.format == "pt2") {
        const std::string graph = graphDiffers(trace, item.answer);
        QVERIFY2(graph.empty(), graph.c_str());
    }
}

void TestCapture::nanCases_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("format");
    for (const Case &item : cases("nan_cases", "answer.json"))
        QTest::addRow("%s.%s", qPrintable(QDir(item.folder).dirName()), qPrintable(item.format))
            << item.folder << item.format;
}

// Every birth of the answer is an output with those counts, at that line, in that module.
void TestCapture::nanCases()
{
    QFETCH(QString, folder);
    QFETCH(QString, format);
    const Case item{folder, format, "answer.json", readJson(folder + "/answer.json")};
    QTemporaryDir temporary;
    const Result<Captured> captured = capture(requestFor(item, temporary));
    QVERIFY2(captured, captured ? "" : captured.error().message().c_str());
    QVERIFY2(captured->outcome.hasTrace(), captured->outcome.error.message().c_str());
    const Trace &trace = *captured->trace;
    const std::string lost = untraceable(trace);
    QVERIFY2(lost.empty(), lost.c_str());
    for (const Value &birth : item.answer.at("forward").at("births").toList()) {
        const std::string func = birth.at("func").toString();
        const Value &counts = birth.at("counts");
        bool found = false;
        std::string seen;
        for (std::size_t i = 0; i < trace.ops().size() && !found; ++i) {
            const OpRow &row = trace.ops()[i];
            const TensorStats *stats = row.tensor.isValid() ? trace.stats(row.tensor) : nullptr;
            if (stats == nullptr || stats->nonFinite() == 0 || row.kind != CallKind::compute)
                continue;
            const CallRow &call = trace.call(row.call);
            const FrameId frame = call.stack.isValid() ? trace.sourceFrame(call.stack) : FrameId();
            const std::int64_t line = frame.isValid() ? trace.frame(frame).line.oneBased() : 0;
            seen += std::string(trace.string(call.op)) + " line " + std::to_string(line) + "; ";
            found = static_cast<std::int64_t>(stats->nan) == counts.at("nan").toInt() &&
                    static_cast<std::int64_t>(stats->posInf) == counts.at("pinf").toInt() &&
                    static_cast<std::int64_t>(stats->negInf) == counts.at("ninf").toInt() &&
                    (!birth.at("source").isObject() || line == birth.at("source").at("line").toInt());
        }
        QVERIFY2(found, (func + " is not there; seen: " + seen).c_str());
    }
}

// A worker that dies leaves every op before, and the name of the one that was running.
void TestCapture::killedAnywhere()
{
    const Case item{QString(OPSCOPE_CORPUS_DIR) + "/models/tiny_gpt", "pt2", "expected.json",
                    readJson(QString(OPSCOPE_CORPUS_DIR) + "/models/tiny_gpt/expected.json")};
    QTemporaryDir temporary;
    CaptureRequest request = requestFor(item, temporary);
    const Result<Captured> whole = capture(request);
    QVERIFY2(whole, whole ? "" : whole.error().message().c_str());
    const std::vector<CallId> calls = computeCalls(*whole->trace);
    QVERIFY(calls.size() > 20);
    std::mt19937 random(7);
    for (int round = 0; round < 10; ++round) {
        const CallId at = calls[std::uniform_int_distribution<std::size_t>(1, calls.size() - 1)(random)];
        request.options = Value::object({{"die_at_call", at.value()}});
        const Result<Captured> killed = capture(request);
        QVERIFY2(killed, killed ? "" : killed.error().message().c_str());
        QCOMPARE(killed->outcome.status, TraceStatus::crashed);
        QCOMPARE(killed->outcome.signal, std::string("SIGKILL"));
        const Trace &trace = *killed->trace;
        const std::string_view op = whole->trace->string(whole->trace->call(at).op);
        QCOMPARE(killed->outcome.op, std::string(op));
        QVERIFY(!killed->outcome.stack.empty());
        QVERIFY(killed->outcome.stack.back().find(".py:") != std::string::npos);
        QCOMPARE(trace.info().status, TraceStatus::crashed);
        QCOMPARE(trace.info().failure.op, std::string(op));
        QVERIFY(trace.calls().size() > at.index());
        for (std::size_t i = 0; i < at.index(); ++i) {
            QCOMPARE(trace.string(trace.calls()[i].op), whole->trace->string(whole->trace->calls()[i].op));
            QCOMPARE(trace.calls()[i].rows.count, whole->trace->calls()[i].rows.count);
            QVERIFY(trace.calls()[i].finished);
        }
        QVERIFY(!trace.calls()[at.index()].finished);
    }
}

void TestCapture::cancelled()
{
    const Case item{QString(OPSCOPE_CORPUS_DIR) + "/models/tiny_gpt", "pt2", "expected.json",
                    readJson(QString(OPSCOPE_CORPUS_DIR) + "/models/tiny_gpt/expected.json")};
    QTemporaryDir temporary;
    std::stop_source stop;
    CaptureClient client(std::string(OPSCOPE_BIN_DIR) + "/capture_worker");
    const Result<CaptureOutcome> outcome = client.run(
        requestFor(item, temporary), JobContext(stop.get_token()), [&](const CaptureProgress &progress) {
            if (progress.stage == "loading")
                stop.request_stop();
        });
    QVERIFY2(outcome, outcome ? "" : outcome.error().message().c_str());
    QCOMPARE(outcome->error.code(), ErrorCode::cancelled);
}

void TestCapture::replays_data()
{
    models_data();
}

// Each op computed again from its recorded inputs gives its recorded output.
void TestCapture::replays()
{
    QFETCH(QString, folder);
    QFETCH(QString, format);
    const Case item{folder, format, "expected.json", readJson(folder + "/expected.json")};
    QTemporaryDir temporary;
    CaptureRequest request = requestFor(item, temporary);
    const Result<Captured> captured = capture(request);
    QVERIFY2(captured, captured ? "" : captured.error().message().c_str());
    if (!captured->outcome.hasTrace()) {
        QCOMPARE(captured->outcome.error.code(), ErrorCode::unsupported);
        return;
    }
    request.task = "replay";
    request.options = Value::object({{"trace", request.outputPath}});
    request.outputPath.clear();
    CaptureClient client(std::string(OPSCOPE_BIN_DIR) + "/capture_worker");
    const Result<CaptureOutcome> replay = client.run(request, JobContext(), {});
    QVERIFY2(replay, replay ? "" : replay.error().message().c_str());
    QVERIFY2(replay->error.isOk(), replay->error.message().c_str());
    const std::string report = toJson(replay->summary);
    qInfo("%s", report.c_str());
    QVERIFY2(replay->summary.at("mismatches").toList().empty(), report.c_str());
    QVERIFY2(replay->summary.at("skipped").find("no_payload") == nullptr &&
                 replay->summary.at("skipped").find("op_failed") == nullptr &&
                 (replay->summary.at("skipped").find("argument_value") == nullptr ||
                  folder.contains("quant_dynamic")) && // packed weights are objects
                 replay->summary.at("skipped").find("arguments_differ") == nullptr,
             report.c_str());
}

void TestCapture::gradients_data()
{
    models_data();
    const QString more = QString(OPSCOPE_CORPUS_DIR) + "/../live_models/";
    for (const char *name : {"branches", "branch_inside", "map_unused", "loop_used"})
        QTest::newRow(name) << more + name << "pt2";
}

// One backward pass gives every parameter the gradient that Python gave it.
void TestCapture::gradients()
{
    QFETCH(QString, folder);
    QFETCH(QString, format);
    const Case item{folder, format, "expected.json", readJson(folder + "/expected.json")};
    const Value &expected = item.answer.at("gradients").at("params");
    QTemporaryDir temporary;
    CaptureRequest request = requestFor(item, temporary);
    request.backward.emplace();
    request.backward->rule = "sum";
    const Result<Captured> captured = capture(request);
    QVERIFY2(captured, captured ? "" : captured.error().message().c_str());
    if (!expected.isObject()) {
        // Nothing to differentiate, or the model does not run: a sentence says so.
        QVERIFY(!captured->outcome.error.isOk() || captured->trace->backwards().size() == 1);
        return;
    }
    QVERIFY2(captured->outcome.status == TraceStatus::finished, captured->outcome.error.message().c_str());
    const Trace &trace = *captured->trace;
    QCOMPARE(trace.backwards().size(), std::size_t(1));
    std::size_t compared = 0;
    for (const ParamRow &param : trace.params()) {
        std::string name(trace.string(param.address));
        if (format == "pt" && item.answer.find("trace_inputs") != nullptr && name.starts_with("model."))
            name.erase(0, 6);
        const Value *want = expected.find(name);
        if (want == nullptr || !want->isNumber())
            continue;
        const GradientRow *row = trace.gradient(param.tensor, BackwardId(0));
        if (row == nullptr && want->toDouble() == 0.0 && format == "pt")
            continue; // of a branch that was not taken: TorchScript gives it none, control flow of exports
                      // zeros
        QVERIFY2(row != nullptr && row->gradient.isValid(), name.c_str());
        const double norm = normOf(trace, row->gradient);
        const std::string message = name + ": norm " + formatDouble(norm) + ", expected " + toJson(*want);
        QVERIFY2(near(norm, want->toDouble(), 1e-4, 1e-5), message.c_str());
        ++compared;
    }
    QVERIFY(compared > 0 || expected.toObject().empty());
}

QTEST_GUILESS_MAIN(TestCapture)
#include "tst_capture.moc"
