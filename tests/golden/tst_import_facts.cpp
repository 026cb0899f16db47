// SPDX-License-Identifier: GPL-3.0-or-later
// Every bundle of the goldens, imported, against the facts recorded beside it, op by op.
#include "core/analysis/tensor_stats.h"
#include "core/io/trace_registry.h"
#include "core/trace/tensor_reader.h"
#include "tests/support/golden_call.h"

#include <QDir>
#include <QTest>

#include <cmath>
#include <set>

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

Value labels(const Trace &trace, std::span<const OpId> ops)
{
    Value list = Value::list();
    for (const OpId op : ops)
        list.append(trace.publicLabel(op));
    return list;
}

Value integers(std::span<const std::int64_t> numbers)
{
    Value list = Value::list();
    for (const std::int64_t number : numbers)
        list.append(number);
    return list;
}

Value known(std::int64_t number)
{
    return number == kUnknown ? Value() : Value(number);
}

Value textOrNull(std::string_view text)
{
    return text.empty() ? Value() : Value(text);
}

Value sourceFrames(const Trace &trace, OpId id)
{
    Value list = Value::list();
    for (const FrameId frame : trace.frames(trace.callOf(id).stack)) {
        std::string file(trace.string(trace.frame(frame).file));
        list.append(file.substr(file.rfind('/') + 1) + ":" +
                    std::to_string(trace.frame(frame).line.oneBased()));
    }
    return list;
}

// Shapes of the parameters that a call uses.
Value paramShapes(const Trace &trace, OpId id)
{
    Value list = Value::list();
    for (const ArgumentRow &argument : trace.arguments(trace.op(id).call))
        for (const TensorId tensor : trace.tensorIds(argument.tensors))
            if (tensor.isValid() && trace.tensor(tensor).role == TensorRole::parameter)
                list.append(integers(trace.shape(tensor)));
    return list;
}

// What the trace says of one op, under the names of facts.json.
Value opFacts(const Trace &trace, OpId id)
{
    const OpRow &row = trace.op(id);
    const CallRow &call = trace.callOf(id);
    Value facts;
    facts.set("label", trace.label(id));
    facts.set("layer_label", trace.string(row.layerLabel));
    facts.set("type", trace.string(row.type));
    facts.set("func_name", trace.string(call.func));
    facts.set("step_index", std::int64_t(row.step));
    facts.set("pass_index", std::int64_t(row.pass));
    facts.set("num_passes", std::int64_t(row.passCount));
    facts.set("is_input", row.kind == CallKind::input);
    facts.set("is_output", row.kind == CallKind::output);
    facts.set("is_buffer", row.kind == CallKind::buffer);
    facts.set("is_inplace", call.inPlace);
    facts.set("shape", integers(trace.shape(row.tensor)));
    facts.set("dtype", "torch." + std::string(dtypeName(trace.tensor(row.tensor).dtype)));
    facts.set("parents", labels(trace, trace.parents(id)));
    facts.set("children", labels(trace, trace.children(id)));
    facts.set("modules", Value::list());
    for (const ModuleCallId module : trace.moduleChain(id))
        facts.asObject().back().second.append(trace.string(trace.moduleCall(module).label));
    facts.set("module", textOrNull(trace.moduleCallLabel(id)));
    facts.set("atomic_module_address", textOrNull(trace.string(row.atomicModule)));
    facts.set("output_of_module_calls", Value::list());
    for (const ModuleCallId module : trace.moduleCallIds(row.outputOf))
        facts.asObject().back().second.append(trace.string(trace.moduleCall(module).label));
    facts.set("activation_memory", known(row.bytes));
    facts.set("flops_forward", known(row.flopsForward));
    facts.set("flops_backward", known(row.flopsBackward));
    facts.set("macs_forward", known(row.macsForward));
    facts.set("param_shapes", paramShapes(trace, id));
    facts.set("source_frames", sourceFrames(trace, id));
    return facts;
}

bool isClose(const Value &expected, double actual)
{
    if (!expected.isNumber())
        return expected.toString() == formatDouble(actual);
    const double wanted = expected.toDouble();
    return std::fabs(actual - wanted) <= 1e-6 * std::max(1.0, std::fabs(wanted));
}

// Empty when the saved payload has the statistics of EXPECTED, else what differs.
std::string payloadDifference(const Trace &trace, TensorId id, const Value &expected)
{
    const auto reader = TensorReader::open(trace, id);
    if (!reader)
        return reader.error().message();
    std::vector<std::byte> bytes(reader->elementCount() * reader->itemBytes());
    if (Status status = reader->read(0, bytes); !status)
        return status.message();
    const TensorStats stats = computeStats(reader->dtype(), bytes.data(), reader->elementCount());
    const auto count = [&](std::string_view key, std::uint64_t found) {
        const Value &wanted = expected.at(key);
        return !wanted.isInt() || wanted.toInt() == static_cast<std::int64_t>(found)
                   ? std::string()
                   : std::string(key) + " is " + std::to_string(found) + ", wanted " + toJson(wanted) + "; ";
    };
    std::string difference = count("n_nan", stats.nan) + count("n_posinf", stats.posInf) +
                             count("n_neginf", stats.negInf) + count("n_zero", stats.zero);
    if (expected.at("min").isNumber() && !isComplex(reader->dtype()))
        if (!isClose(expected.at("min"), stats.min) || !isClose(expected.at("max"), stats.max))
            difference += "range is " + formatDouble(stats.min) + " to " + formatDouble(stats.max);
    return difference;
}

// Labels of the nodes that each pass fired, in order: {"1": [...]}.
Value fireOrder(const Trace &trace)
{
    Value order = Value::object();
    for (std::size_t i = 0; i < trace.backwards().size(); ++i) {
        Value list = Value::list();
        for (const GradFireRow &fire : trace.gradFires())
            if (fire.backward == BackwardId(i))
                list.append(trace.string(trace.gradNode(fire.node).label));
        order.set(std::to_string(trace.backwards()[i].index), std::move(list));
    }
    return order;
}

Value nodeFacts(const Trace &trace, GradNodeId id)
{
    const GradNodeRow &row = trace.gradNode(id);
    Value facts;
    facts.set("label", trace.string(row.label));
    facts.set("class_name", trace.string(row.className));
    facts.set("op_label", textOrNull(trace.string(row.opLabel)));
    Value calls = Value::list();
    for (const GradFireRow &fire : trace.gradFires())
        if (fire.node == id) {
            Value call;
            call.set("pass", std::int64_t(trace.backwards()[fire.backward.index()].index));
            call.set("is_saved", fire.payloadsRecorded);
            calls.append(std::move(call));
        }
    facts.set("calls", std::move(calls));
    return facts;
}

// The op's own gradient; of a bundle written without gradients that of one of its backward passes.
bool hasGradient(const Trace &trace, TensorId tensor)
{
    if (trace.gradient(tensor, BackwardId()) != nullptr)
        return true;
    for (std::size_t i = 0; i < trace.backwards().size(); ++i)
        if (const GradientRow *row = trace.gradient(tensor, BackwardId(i));
            row != nullptr && row->gradient.isValid())
            return trace.tensor(row->gradient).payload.state == PayloadState::notSaved;
    return false;
}

} // namespace

class TestImportFacts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opsAreAsRecorded_data()
    {
        QTest::addColumn<QString>("bundle");
        QTest::addColumn<QString>("facts");
        QTest::addColumn<QString>("key");
        for (const auto &folder : tests::goldenFolders(OPSCOPE_GOLDENS_DIR, {"trace.tlspec", "a.tlspec"}))
            for (const auto &[bundle, key] :
                 {std::pair("trace", "loaded"), std::pair("a", "a"), std::pair("b", "b")}) {
                const std::filesystem::path path = folder / (std::string(bundle) + ".tlspec");
                if (std::filesystem::exists(path))
                    QTest::addRow("%s/%s", folder.filename().c_str(), bundle)
                        << QString::fromStdString(path.string())
                        << QString::fromStdString((folder / "facts.json").string()) << QString(key);
            }
    }

    void opsAreAsRecorded()
    {
        QFETCH(QString, bundle);
        QFETCH(QString, facts);
        QFETCH(QString, key);
        const Value expected = readJson(facts).at(key.toStdString());
        QVERIFY(expected.isObject());
        const auto opened = openTrace(bundle.toStdString(), JobContext());
        QVERIFY2(opened.isOk(), opened.isOk() ? "" : opened.error().message().c_str());
        const Trace &trace = **opened;
        QVERIFY(trace.loadReport().isClean() || trace.loadReport().has("unsupported_payloads"));
        const Value::List &ops = expected.at("ops").toList();
        QCOMPARE(trace.ops().size(), ops.size());
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const Value actual = opFacts(trace, OpId(i));
            for (const auto &[name, value] : actual.toObject())
                if (!(value == ops[i].at(name)))
                    QFAIL(qPrintable(QString("op %1: %2 is %3, wanted %4")
                                         .arg(ops[i].at("label").toString().c_str(), name.c_str(),
                                              toJson(value).c_str(), toJson(ops[i].at(name)).c_str())));
            const TensorRow &tensor = trace.tensor(trace.op(OpId(i)).tensor);
            const Value &out = ops[i].at("out");
            QCOMPARE(tensor.payload.state == PayloadState::saved, out.at("shape").isList());
            if (out.at("shape").isList())
                QCOMPARE(payloadDifference(trace, trace.op(OpId(i)).tensor, out), std::string());
        }
        compareBackward(trace, expected.at("backward"));
    }

    void everyReleaseOpens_data()
    {
        QTest::addColumn<QString>("bundle");
        const QDir versions(OPSCOPE_CORPUS_DIR "/tlspec_versions");
        for (const QString &release : versions.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
            for (const char *name : {"backward_birth_sqrt", "masked_attention", "shared_module_thrice"})
                QTest::addRow("%s/%s", qPrintable(release), name) << versions.filePath(release + "/" + name);
    }

    void everyReleaseOpens()
    {
        QFETCH(QString, bundle);
        const Value expected = readJson(bundle + ".expected.json");
        QVERIFY(expected.isObject());
        const auto opened = openTrace((bundle + ".tlspec").toStdString(), JobContext());
        QVERIFY2(opened.isOk(), opened.isOk() ? "" : opened.error().message().c_str());
        const Trace &trace = **opened;
        QVERIFY(trace.loadReport().isClean());
        QCOMPARE(trace.info().formatVersion, std::to_string(expected.at("tlspec_version").toInt()));
        QCOMPARE(trace.info().producer, "torchlens " + expected.at("torchlens").toString());
        const Value::List &wanted = expected.at("labels").toList();
        QCOMPARE(trace.ops().size(), wanted.size());
        std::int64_t compute = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            QCOMPARE(std::string(trace.label(OpId(i))), wanted[i].toString());
            compute += trace.op(OpId(i)).kind == CallKind::compute ? 1 : 0;
            QVERIFY(TensorReader::open(trace, trace.op(OpId(i)).tensor).isOk());
        }
        QCOMPARE(compute, expected.at("num_ops").toInt());
        QCOMPARE(static_cast<std::int64_t>(trace.backwards().size()),
                 expected.at("num_backward_passes").toInt());
        const Value &bad = expected.at("bisect_nan");
        if (bad.at("found").toBool())
            QCOMPARE(
                *trace.sourceLine(trace.findLabel(bad.at("label").toString())),
                bad.at("source_line").toString().substr(bad.at("source_line").toString().rfind('/') + 1));
    }

private:
    void compareBackward(const Trace &trace, const Value &expected)
    {
        if (expected.isNull()) {
            QVERIFY(trace.backwards().empty());
            return;
        }
        QCOMPARE(static_cast<std::int64_t>(trace.backwards().size()), expected.at("passes").toInt());
        QCOMPARE(toJson(fireOrder(trace)), toJson(expected.at("measured_fire_order")));
        const Value::List &nodes = expected.at("grad_fns").toList();
        QCOMPARE(trace.gradNodes().size(), nodes.size());
        std::map<std::string, std::set<std::string>> children;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Value actual = nodeFacts(trace, GradNodeId(i));
            for (const std::string_view name : {"label", "class_name", "op_label"})
                QCOMPARE(toJson(actual.at(name)), toJson(nodes[i].at(name)));
            const Value::List &calls = nodes[i].at("calls").toList();
            QCOMPARE(actual.at("calls").toList().size(), calls.size());
            for (std::size_t k = 0; k < calls.size(); ++k)
                for (const auto &[name, value] : actual.at("calls").toList()[k].toObject())
                    QCOMPARE(toJson(value), toJson(calls[k].at(name)));
            std::set<std::string> next;
            for (const GradEdgeRow &edge : trace.nextEdges(GradNodeId(i)))
                next.emplace(trace.string(trace.gradNode(edge.node).label));
            std::set<std::string> wanted;
            for (const Value &child : nodes[i].at("children").toList())
                wanted.insert(child.toString());
            QCOMPARE(next, wanted);
        }
        std::vector<std::string> saved;
        for (std::size_t i = 0; i < trace.ops().size(); ++i)
            if (hasGradient(trace, trace.op(OpId(i)).tensor))
                saved.emplace_back(trace.label(OpId(i)));
        std::vector<std::string> wanted;
        for (const Value &label : expected.at("saved_grad_ops").toList())
            wanted.push_back(label.toString());
        QCOMPARE(saved, wanted);
    }
};

QTEST_APPLESS_MAIN(TestImportFacts)
#include "tst_import_facts.moc"
