// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/input_spec.h"

#include <QFile>
#include <QTemporaryDir>
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
    void wrongTreesAreSentences_data();
    void wrongTreesAreSentences();
    void optionsOfAnImageAreInOrder();
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
    QVERIFY2(
        QString::fromStdString(parsed.error().message()).startsWith("inputs: args[1].dict.a.list[0].spec: "),
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

void TestInputSpec::wrongTreesAreSentences_data()
{
    QTest::addColumn<QByteArray>("tree");
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QByteArray>("remedy");
    const auto row = [](const char *name, const char *tree, const char *message, const char *remedy = "") {
        QTest::newRow(name) << QByteArray(tree) << QByteArray(message) << QByteArray(remedy);
    };
    row("dict left out", "{'args':[{'image':{'tensor':'a.npy'}}]}",
        "args[0].image: an object is given, the name of a file is taken, as in {'image': 'cat.png'}",
        "a dict argument with the key image is written {'dict': {'image': ...}}");
    row("keys of a dict", "{'kwargs':{'batch':{'pixels':{'tensor':'a.npy'},'mask':{'value':1}}}}",
        "kwargs.batch: an object with only 'pixels', 'mask' is given, one with tensor, image, audio, text, "
        "spec, "
        "value, dict, list or tuple is taken",
        "a dict argument is written {'dict': {'pixels': ...}}");
    row("misspelt", "{'args':[{'tensr':'a.npy'}]}",
        "args[0]: an object with only 'tensr' is given, one with ", "did you mean 'tensor'? ");
    row("two kinds", "{'args':[{'tensor':'a.npy','value':3}]}",
        "args[0]: has both 'tensor' and 'value', a node is one of them");
    row("empty", "{'args':[{}]}", "args[0]: an empty object is given, one with ", "{'dict': {}}");
    row("number", "{'args':[1,2]}", "args[0]: the number 1 is given, an object with ", "write {'value': 1}");
    row("text", "{'args':['a.npy']}", "args[0]: the text 'a.npy' is given, an object with ",
        "write {'tensor': 'x.npy'} for a file");
    row("nothing", "{'args':[null]}", "args[0]: null is given, an object with ", "write {'value': null}");
    row("true", "{'args':[true]}", "args[0]: true is given, an object with ", "write {'value': true}");
    row("list", "{'args':[[{'value':1}]]}", "args[0]: a list is given, an object with ", "{'list': [...]}");
    row("list in dict", "{'args':[{'dict':{'a':{'list':{'value':1}}}}]}",
        "args[0].dict.a.list: an object is given, a list of nodes is taken, as in {'list': ");
    row("dict of a list", "{'args':[{'dict':[1]}]}",
        "args[0].dict: a list is given, an object of named nodes is taken");
    row("value of a list", "{'args':[{'value':[1]}]}",
        "args[0].value: a list is given, a number, a string, ");
    row("spec of a number", "{'args':[{'spec':3}]}",
        "args[0].spec: the number 3 is given, a specification is taken");
    row("no ending", "{'args':[{'tensor':'a.txt'}]}", "args[0].tensor: 'a.txt' does not end in .npy");
    row("entry", "{'args':[{'tensor':'a.npz','entry':3}]}",
        "args[0].entry: the number 3 is given, the name of ");
    row("option", "{'args':[{'image':'a.png','resise':256}]}", "args[0]: 'resise' is no option of 'image'",
        "did you mean 'resize'? the options are resize, crop, ");
    row("option of another", "{'args':[{'audio':'a.wav','crop':3}]}",
        "args[0]: 'crop' is no option of 'audio'");
    row("option value", "{'args':[{'image':'a.png','crop':{'a':1}}]}",
        "args[0].crop: an object is given, a number, a text or a list of numbers is taken");
    row("options", "{'args':[{'image':'a.png','options':3}]}",
        "args[0].options: the number 3 is given, a text such as ");
    row("args", "{'args':{'x':1}}", "args: an object is given, a list of the arguments in order is taken");
    row("kwargs", "{'kwargs':[1]}", "kwargs: a list is given, an object of named arguments is taken");
    row("neither", "{'arguments':[]}",
        "an object with only 'arguments' is given, an object with 'args' (a list) or ");
    row("no object", "[1]",
        "a list is given, an object with 'args' (a list) or 'kwargs' (an object) is taken");
}

void TestInputSpec::wrongTreesAreSentences()
{
    QFETCH(QByteArray, tree);
    QFETCH(QByteArray, message);
    QFETCH(QByteArray, remedy);
    QTemporaryDir folder;
    const QString file = folder.filePath("inputs.json");
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(tree.replace('\'', '"'));
    out.close();
    const auto read = readInputTree(file.toStdString());
    QVERIFY(!read.isOk());
    QCOMPARE(read.error().code(), ErrorCode::invalidArgument);
    const QByteArray said = QByteArray::fromStdString(read.error().message());
    QVERIFY2(said.startsWith(file.toUtf8() + ": " + message.replace('\'', '"')), said.constData());
    const QByteArray todo = QByteArray::fromStdString(read.error().remedy());
    QVERIFY2(todo.contains(remedy.replace('\'', '"')), todo.constData());
}

void TestInputSpec::optionsOfAnImageAreInOrder()
{
    const auto tree =
        parseJson("{\"args\":[{\"mean\":[0,0,1],\"norm\":\"half\",\"image\":\"a.png\",\"crop\":8}]}", "t");
    QVERIFY(tree.isOk());
    const auto parsed = parseInputTree(*tree, "/d");
    QVERIFY2(parsed.isOk(), parsed.status().message().c_str());
    const InputFile file = std::get<InputFile>(parsed->positional[0].leaf);
    QCOMPARE(file.entry, std::string("crop=8&norm=half&mean=0,0,1"));
    QCOMPARE(file.path, std::filesystem::path("/d/a.png"));
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
