// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/input_spec.h"

#include <QTest>

using namespace core;

class TestInputSpec : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void specifications_data();
    void specifications();
    void defaultsByDtype();
    void refusals_data();
    void refusals();
    void options();
    void treeOfCorpus();
    void treeErrorsNameThePlace();
    void treeReadsBack();
};

void TestInputSpec::specifications_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("printed");
    QTest::newRow("image") << "f32[1,3,224,224]=randn"
                           << "f32[1,3,224,224]=randn";
    QTest::newRow("blanks") << " float32 [ 1 , 2 ] = ones "
                            << "f32[1,2]=ones";
    QTest::newRow("scalar") << "f64[]=3.5"
                            << "f64[]=3.5";
    QTest::newRow("range") << "i64[8]=randint(0,100)"
                           << "i64[8]=randint(0,100)";
    QTest::newRow("upper limit") << "i64[8]=randint(100)"
                                 << "i64[8]=randint(0,100)";
    QTest::newRow("negative") << "i8[2]=-3"
                              << "i8[2]=-3";
    QTest::newRow("full") << "bf16[4]=full(2)"
                          << "bf16[4]=2";
    QTest::newRow("bool") << "bool[2]=true"
                          << "b8[2]=1";
    QTest::newRow("infinity") << "f32[2]=-inf"
                              << "f32[2]=-Infinity";
    QTest::newRow("empty") << "f16[0,7]=arange"
                           << "f16[0,7]=arange";
    QTest::newRow("beyond doubles") << "i64[1]=9007199254740993"
                                    << "i64[1]=9007199254740993";
    QTest::newRow("identity") << "torch.float64[3,3]=eye"
                              << "f64[3,3]=eye";
}

void TestInputSpec::specifications()
{
    QFETCH(QString, text);
    QFETCH(QString, printed);
    const auto spec = parseTensorSpec(text.toStdString());
    QVERIFY2(spec.isOk(), spec.status().message().c_str());
    QCOMPARE(QString::fromStdString(formatTensorSpec(*spec)), printed);
    const auto again = parseTensorSpec(formatTensorSpec(*spec));
    QVERIFY(again.isOk());
    QVERIFY(*again == *spec);
}

void TestInputSpec::defaultsByDtype()
{
    QVERIFY(parseTensorSpec("f32[2]").value().fill == TensorFill::randn);
    QVERIFY(parseTensorSpec("c64[2]").value().fill == TensorFill::randn);
    QVERIFY(parseTensorSpec("i64[2]").value().fill == TensorFill::zeros);
}

void TestInputSpec::refusals_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("part");
    QTest::newRow("dtype") << "f33[2]=ones"
                           << "\"f33\" is no dtype";
    QTest::newRow("open") << "f32[2"
                          << "no \"]\"";
    QTest::newRow("size") << "f32[2,-1]"
                          << "size \"-1\"";
    QTest::newRow("word") << "f32[2]=random"
                          << "\"random\" is none of";
    QTest::newRow("fractions") << "i64[2]=randn"
                               << "int64 cannot be filled";
    QTest::newRow("fraction") << "i64[2]=1.5"
                              << "1.5 is no whole number";
    QTest::newRow("beyond int64") << "i64[2]=1e30"
                                  << "does not fit int64";
    QTest::newRow("limits") << "i64[2]=randint(5,5)"
                            << "the first below the second";
    QTest::newRow("eye") << "f32[2]=eye"
                         << "eye needs 2 dimensions, the shape has 1";
    QTest::newRow("huge") << "f32[1099511627776,4]"
                          << "more than 1099511627776 elements";
    QTest::newRow("tail") << "f32[2]x"
                          << "\"x\" after the shape";
}

void TestInputSpec::refusals()
{
    QFETCH(QString, text);
    QFETCH(QString, part);
    const auto spec = parseTensorSpec(text.toStdString());
    QVERIFY(!spec.isOk());
    QCOMPARE(spec.error().code(), ErrorCode::invalidArgument);
    QVERIFY2(QString::fromStdString(spec.error().message()).contains(part), spec.error().message().c_str());
}

void TestInputSpec::options()
{
    const auto named = parseInputOption("mask=b8[2,4]=true");
    QVERIFY(named.isOk());
    QCOMPARE(named->name, std::string("mask"));
    QVERIFY(std::get<TensorSpec>(named->node.leaf).dtype == DType::boolean);

    const auto file = parseInputOption("runs/lr=0.1/x.npz:tokens");
    QVERIFY(file.isOk());
    QVERIFY(file->name.empty());
    QCOMPARE(std::get<InputFile>(file->node.leaf).entry, std::string("tokens"));
    QVERIFY(std::get<InputFile>(file->node.leaf).kind == InputFileKind::npz);

    QCOMPARE(std::get<Value>(parseInputOption("n=3")->node.leaf), Value(3));
    QCOMPARE(std::get<Value>(parseInputOption("0.5")->node.leaf), Value(0.5));
    QCOMPARE(std::get<Value>(parseInputOption("flag=false")->node.leaf), Value(false));
    QVERIFY(std::get<Value>(parseInputOption("none")->node.leaf).isNull());

    const auto wrong = parseInputOption("x=picture.tga");
    QVERIFY(!wrong.isOk());
    QVERIFY(QString::fromStdString(wrong.error().message()).startsWith("x: input \"picture.tga\""));
}

void TestInputSpec::treeOfCorpus()
{
    const auto tree = readInputTree(OPSCOPE_CORPUS_DIR "/models/dict_io/expected.json");
    QVERIFY2(tree.isOk(), tree.status().message().c_str());
    QCOMPARE(tree->positional.size(), std::size_t(1));
    const InputNode &dict = tree->positional[0];
    QVERIFY(dict.container == InputNode::Container::dict);
    QCOMPARE(dict.keys, (std::vector<std::string>{"image", "text"}));
    QCOMPARE(std::get<InputFile>(dict.children[1].leaf).path,
             std::filesystem::path(OPSCOPE_CORPUS_DIR "/models/dict_io/batch_text.npy"));
    const auto keywords = readInputTree(OPSCOPE_CORPUS_DIR "/models/hf_bert/expected.json");
    QVERIFY(keywords.isOk());
    QCOMPARE(keywords->named.size(), std::size_t(2));
    QCOMPARE(keywords->named[0].name, std::string("input_ids"));
}

void TestInputSpec::treeErrorsNameThePlace()
{
    const auto tree =
        parseJson("{\"args\":[{\"value\":1},{\"dict\":{\"a\":{\"list\":[{\"spec\":\"f9[1]\"}]}}}]}", "t");
    QVERIFY(tree.isOk());
    const auto parsed = parseInputTree(*tree, ".");
    QVERIFY(!parsed.isOk());
    QVERIFY2(QString::fromStdString(parsed.error().message()).startsWith("inputs: args[1].dict.a.list[0]: "),
             parsed.error().message().c_str());

    std::string deep;
    for (int i = 0; i < 40; ++i)
        deep += "{\"list\":[";
    deep += "{\"value\":1}";
    for (int i = 0; i < 40; ++i)
        deep += "]}";
    JsonLimits limits;
    limits.depth = 200;
    const auto nested = parseJson("{\"args\":[" + deep + "]}", "t", limits);
    QVERIFY(nested.isOk());
    QVERIFY(QString::fromStdString(parseInputTree(*nested, ".").error().message()).contains("nested deeper"));
}

void TestInputSpec::treeReadsBack()
{
    InputArguments arguments;
    for (const char *text : {"f32[2,3]=randn", "/data/x.safetensors:a", "3", "none", "-inf"})
        arguments.positional.push_back(parseInputOption(text)->node);
    InputNode dict;
    dict.container = InputNode::Container::dict;
    dict.keys = {"z", "a"};
    dict.children = {arguments.positional[0], arguments.positional[2]};
    arguments.named.push_back({"batch", dict});
    const auto text = toJson(inputTreeValue(arguments));
    const auto value = parseJson(text, "tree");
    QVERIFY(value.isOk());
    const auto again = parseInputTree(*value, "/elsewhere");
    QVERIFY2(again.isOk(), again.status().message().c_str());
    QVERIFY(*again == arguments);
}

QTEST_APPLESS_MAIN(TestInputSpec)
#include "tst_input_spec.moc"
