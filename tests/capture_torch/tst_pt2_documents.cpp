// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/frame_origin.h"
#include "core/capture_torch/pt2_describe.h"
#include "core/capture_torch/pt2_json.h"
#include "core/capture_torch/pt2_metadata.h"
#include "core/capture_torch/pt2_numbers.h"
#include "core/capture_torch/treespec.h"

#include <QTest>

#include <cmath>
#include <stdexcept>

using namespace core;
using namespace core::pt2;

namespace {

const std::string kCorpus = OPSCOPE_CORPUS_DIR;

RunNumber compute(const char *target, std::vector<RunNumber> numbers)
{
    return findNumberFunction(target)(numbers);
}

bool fails(const char *target, std::vector<RunNumber> numbers)
{
    try {
        compute(target, std::move(numbers));
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}

RunNumber whole(std::int64_t value)
{
    return RunNumber(std::in_place_type<std::int64_t>, value);
}

} // namespace

// What is read of a torch.export file without LibTorch: texts, numbers, trees, the description.
class TestPt2Documents : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tracebacks();
    void moduleStacks();
    void userFrames();
    void pythonNumbers();
    void numbersThatFail();
    void bareTokens();
    void expressions();
    void treesOfClasses();
    void treesThatAreWrong();
    void describesInputs();
    void describesDynamicSizes();
    void describesRefusals();
    void describesMode();
};

void TestPt2Documents::tracebacks()
{
    const auto frames = parseStackTrace("File \"a.py\", line 19, in forward\n    h = f(x)\n        ^^^^\n"
                                        "  File \"torch/nn/modules/linear.py\", line 134, in forward\n"
                                        "    return F.linear(x)");
    QCOMPARE(frames.size(), std::size_t(2));
    QCOMPARE(frames[0].file, std::string("a.py"));
    QCOMPARE(frames[0].line, 19U);
    QCOMPARE(frames[0].function, std::string("forward"));
    QCOMPARE(frames[0].source, std::string("h = f(x)"));
    QCOMPARE(frames[1].line, 134U);
    QVERIFY(parseStackTrace("NoneType: None\n").empty());
    // A frame whose source was not at hand.
    const auto bare =
        parseStackTrace("File \"<eval_with_key>.29\", line 13, in forward\nFile \"b.py\", line 2, in g\n y");
    QCOMPARE(bare.size(), std::size_t(2));
    QVERIFY(bare[0].source.empty());
    QCOMPARE(bare[1].source, std::string("y"));
}

void TestPt2Documents::moduleStacks()
{
    const auto levels =
        parseModuleStack("L__self__,,m.Net;L__self__i@1,i,m.Inner@0;L__self__i.l@1,i.l,torch.nn.Linear");
    QCOMPARE(levels.size(), std::size_t(3));
    QCOMPARE(levels[0].path, std::string());
    QCOMPARE(levels[1].callKey, std::string("L__self__i@1"));
    QCOMPARE(levels[1].type, std::string("m.Inner"));
    QCOMPARE(levels[2].path, std::string("i.l"));
    const auto old = parseModuleStack("L__self___a:(L['self'].layers['0'].a,torch.nn.modules.linear.Linear)");
    QCOMPARE(old.size(), std::size_t(1));
    QCOMPARE(old[0].path, std::string("layers.0.a"));
    QCOMPARE(old[0].type, std::string("torch.nn.modules.linear.Linear"));
    const std::string none = "_empty_nn_module_stack_from_metadata_hook";
    QVERIFY(parseModuleStack(none + "," + none + "," + none).empty());
}

void TestPt2Documents::userFrames()
{
    RunFrame user{"model.py", 3, "forward", {}};
    RunFrame package{"/usr/lib/python3/dist-packages/transformers/x.py", 4, "forward", {}};
    RunFrame library{"/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", 5, "forward", {}};
    RunFrame generated{"<eval_with_key>.1", 6, "forward", {}};
    const std::vector<RunFrame> all{user, package, library, generated};
    QCOMPARE(userFrame(all)->file, user.file);
    const std::vector<RunFrame> noUser{package, library, generated};
    QCOMPARE(userFrame(noUser)->line, 4U);
    const std::vector<RunFrame> noneLeft{library, generated};
    QVERIFY(userFrame(noneLeft) == nullptr);
    QCOMPARE(userPlace(all), std::string("model.py:3 in forward"));
}

void TestPt2Documents::pythonNumbers()
{
    QVERIFY(compute("_operator.floordiv", {whole(-7), whole(2)}) == whole(-4));
    QVERIFY(compute("_operator.mod", {whole(-7), whole(3)}) == whole(2));
    QVERIFY(compute("_operator.truediv", {whole(7), whole(2)}) == RunNumber(3.5));
    QVERIFY(compute("_operator.pow", {whole(3), whole(4)}) == whole(81));
    QVERIFY(compute("_operator.pow", {whole(2), whole(-1)}) == RunNumber(0.5));
    QVERIFY(compute("torch.sym_max", {whole(3), RunNumber(4.5)}) == RunNumber(4.5));
    QVERIFY(compute("math.trunc", {RunNumber(-2.5)}) == whole(-2));
    QVERIFY(compute("torch.sym_ite", {RunNumber(false), whole(1), whole(2)}) == whole(2));
    QVERIFY(compute("_operator.ge", {whole(9007199254740993), whole(9007199254740992)}) == RunNumber(true));
    QVERIFY(compute("_operator.and_", {RunNumber(true), RunNumber(false)}) == RunNumber(false));
    QVERIFY(compute("_operator.lshift", {whole(1), whole(62)}) == whole(std::int64_t(1) << 62U));
    QVERIFY(compute("_operator.lshift", {whole(-1), whole(63)}) == whole(INT64_MIN));
    QVERIFY(compute("_operator.lshift", {whole(0), whole(1000)}) == whole(0));
    QVERIFY(compute("_operator.rshift", {whole(-5), whole(1000)}) == whole(-1));
    QVERIFY(compute("builtins.round", {whole(7), whole(2)}) == whole(7));
    QVERIFY(findNumberFunction("torch.ops.aten.add.Tensor") == nullptr);
    QVERIFY(findNumberFunction("os.system") == nullptr);
}

void TestPt2Documents::numbersThatFail()
{
    QVERIFY(fails("_operator.floordiv", {whole(1), whole(0)}));
    QVERIFY(fails("_operator.mul", {whole(INT64_MAX), whole(2)}));
    QVERIFY(fails("_operator.lshift", {whole(1), whole(63)}));
    QVERIFY(fails("_operator.lshift", {whole(-1), whole(64)}));
    QVERIFY(fails("_operator.lshift", {whole(3), whole(200)}));
    QVERIFY(fails("_operator.add", {whole(1)}));
    QVERIFY(fails("torch.sym_int", {RunNumber(std::nan(""))}));
}

void TestPt2Documents::bareTokens()
{
    LoadReport report;
    const auto document =
        parseDocument("{\"schema_version\": {\"major\": 7, \"minor\": 3}, \"graph_module\": {\"graph\": "
                      "{\"nodes\": [{\"as_float\": -Infinity, \"text\": \"NaN, Infinity\"}, "
                      "{\"as_float\": NaN}]}}}",
                      "text", report);
    QVERIFY2(document.isOk(), document.status().message().c_str());
    QVERIFY(report.has("nan_token"));
    const Value::List &nodes = document->graph().at("nodes").toList();
    QCOMPARE(toFloat(nodes[0].at("as_float")), -INFINITY);
    QCOMPARE(nodes[0].at("text").toString(), std::string("NaN, Infinity"));
    QVERIFY(std::isnan(toFloat(nodes[1].at("as_float"))));
    LoadReport clean;
    QVERIFY(parseDocument("{\"graph_module\": {\"graph\": {\"nodes\": []}}, \"a\": \"NaN\"}", "text", clean)
                .isOk());
    QVERIFY(clean.isClean());
}

void TestPt2Documents::expressions()
{
    QCOMPARE(readableExpression("Symbol('s77', positive=True, integer=True)"), std::string("s77"));
    QCOMPARE(readableExpression("s0"), std::string("s0"));
    const std::string product = "Mul(Integer(2), Symbol('s0', positive=True, integer=True))";
    QCOMPARE(readableExpression(product), product);
}

void TestPt2Documents::treesOfClasses()
{
    const Value named =
        Value::object({{"m.Pair", Value::object({{"field_names", Value::list({"left", "right"})}})}});
    const std::string leaf = "{\"type\": null, \"context\": null, \"children_spec\": []}";
    const auto tree = parseTreeSpec(
        "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [" + leaf +
            ", {\"type\": \"collections.namedtuple\", \"context\": \"\\\"m.Pair\\\"\", \"children_spec\": [" +
            leaf + ", " + leaf +
            "]}, {\"type\": \"x.Output\", \"context\": \"[[\\\"logits\\\"], [\\\"loss\\\"]]\", "
            "\"children_spec\": [" +
            leaf + "]}]}]",
        named);
    QVERIFY2(tree.isOk(), tree.status().message().c_str());
    QCOMPARE(tree->leafCount(), std::size_t(4));
    const std::vector<std::string> paths{"0", "1.left", "1.right", "2.logits"};
    QCOMPARE(tree->leafPaths(), paths);
    QVERIFY(!tree->isCall());
}

void TestPt2Documents::treesThatAreWrong()
{
    for (const char *text : {"", "[]", "[1]", "[1, 2]", "[1, {\"type\": null}]", "{}"})
        QVERIFY(!parseTreeSpec(text, Value()).isOk());
}

void TestPt2Documents::describesInputs()
{
    LoadReport report;
    const auto description = describePt2(kCorpus + "/models/dict_io/model.pt2", report);
    QVERIFY2(description.isOk(), description.status().message().c_str());
    QCOMPARE(description->inputs.size(), std::size_t(2));
    QCOMPARE(description->inputs[0].path, std::string("batch.image"));
    QCOMPARE(description->inputs[0].expected, std::string("float32[2,3]"));
    QCOMPARE(description->inputs[0].specification, std::string("f32[2,3]=randn"));
    const std::vector<std::string> outputs{"hidden", "score"};
    QCOMPARE(description->outputs, outputs);
    QCOMPARE(description->torchVersion.substr(0, 4), std::string("2.15"));
    QCOMPARE(description->schemaVersion, std::string("8.20"));
    QCOMPARE(description->dialect, std::string("TRAINING"));
    QCOMPARE(description->generation, std::string("2.9 and later"));
    QVERIFY(description->hasSampleInputs);
    QVERIFY(description->refusal.empty());
    QVERIFY(!description->ops.empty());
    QCOMPARE(toValue(*description).at("inputs").toList().size(), std::size_t(2));

    const auto tied = describePt2(kCorpus + "/versions/torch-2.15.0.pt2", report);
    QVERIFY(tied.isOk());
    QCOMPARE(tied->parameters.tensors, std::uint64_t(2)); // a.weight is b.weight
    QCOMPARE(tied->parameters.elements, std::uint64_t(20));
    QCOMPARE(tied->parameters.bytes, std::uint64_t(80));
    const auto old = describePt2(kCorpus + "/versions/torch-2.1.2.pt2", report);
    QVERIFY2(old.isOk(), old.status().message().c_str());
    QCOMPARE(old->inputs.size(), std::size_t(2));
    QCOMPARE(old->generation, std::string("2.1 to 2.7"));
}

void TestPt2Documents::describesDynamicSizes()
{
    LoadReport report;
    const auto description = describePt2(kCorpus + "/models/dynamic_batch/model.pt2", report);
    QVERIFY(description.isOk());
    const Value &size = description->inputs[0].shape.toList().at(0);
    QVERIFY2(size.isString() && size.toString().starts_with("s"),
             toJson(description->inputs[0].shape).c_str());
    QVERIFY(description->inputs[0].expected.starts_with("float32[" + size.toString()));
}

void TestPt2Documents::describesRefusals()
{
    LoadReport report;
    const auto description = describePt2(kCorpus + "/models/custom_op/model.pt2", report);
    QVERIFY(description.isOk());
    bool found = false;
    for (const auto &op : description->ops)
        found = found || (op.target == "acme_vision.fused_bias_act.default" && op.refusal == "missing_op");
    QVERIFY(found);
    QVERIFY(QString::fromStdString(description->refusal).contains("acme_vision.fused_bias_act.default"));
    const auto mapped = describePt2(kCorpus + "/models/cuda_constant/model.pt2", report);
    QVERIFY(mapped.isOk());
    QVERIFY(!mapped->mappedDevices.empty());
    QVERIFY(mapped->mappedDevices[0].starts_with("cuda"));
}

void TestPt2Documents::describesMode()
{
    LoadReport report;
    QCOMPARE(describePt2(kCorpus + "/models/batchnorm_train/model.pt2", report)->mode, std::string("train"));
    QCOMPARE(describePt2(kCorpus + "/models/dropout_train/model.pt2", report)->mode, std::string("train"));
    QCOMPARE(describePt2(kCorpus + "/models/resblock/model.pt2", report)->mode, std::string("eval"));
    QCOMPARE(describePt2(kCorpus + "/models/identity/model.pt2", report)->mode, std::string());
}

QTEST_APPLESS_MAIN(TestPt2Documents)
#include "tst_pt2_documents.moc"
