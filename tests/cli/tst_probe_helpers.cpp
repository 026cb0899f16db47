// SPDX-License-Identifier: GPL-3.0-or-later
// Guessed inputs, counted FLOPs and compilations through `opscope-cli run`, against the goldens; inputs from
// images and sounds, limits, and what is said when a backward pass fails.
#include "core/trace/op_names.h"
#include "tests/support/cli_process.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

using support::cli;
using support::CliResult;

namespace {

QString model(const QString &name)
{
    return QStringLiteral(OPSCOPE_PROBE_MODELS_DIR "/") + name;
}

void addRows(const QString &pattern)
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("file");
    const QDir goldens(OPSCOPE_GOLDENS_DIR);
    for (const QString &name : goldens.entryList({pattern}, QDir::Dirs, QDir::Name))
        for (const char *const file : {"model.pt2", "model.pt"})
            if (QFile::exists(goldens.filePath(name) + "/" + file))
                QTest::newRow(qPrintable(name + "/" + file)) << goldens.filePath(name) << QString(file);
}

QJsonObject answers(const QString &folder)
{
    return support::readJson(folder + "/live_expected.json")["results"].toObject();
}

// "linear_1_4" -> "linear", in Python's words; "parameter:weight" and class names stay.
QString constraintFunction(const QString &label)
{
    static const QRegularExpression numbers("_\\d+_\\d+$");
    QString name = label;
    name.remove(numbers);
    return QString::fromStdString(std::string(core::pythonFunctionName(name.toStdString())));
}

// The first values of the first output.
QList<double> firstValues(const QString &trace)
{
    QList<double> values;
    const CliResult shown = cli({"outputs", trace, "--json"});
    for (const QJsonValue &value : shown.object().value("outputs")[0]["first"].toArray())
        values.append(value.toDouble());
    return values;
}

QJsonValue manifestRequest(const QString &trace)
{
    return cli({"info", trace, "--json"}).object()["request"];
}

} // namespace

class TestProbeHelpers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void shapes_data() { addRows("*_live_shape_*"); }
    void shapes()
    {
        QFETCH(QString, folder);
        QFETCH(QString, file);
        const QJsonObject results = answers(folder);
        const QJsonValue wanted = results["guess_input_shape(model)"]["result"];
        QStringList words = {"run", "guess_input_shape", folder + "/" + file, "--json"};
        const QJsonObject options = results["arguments"].toObject();
        for (auto option = options.begin(); option != options.end(); ++option)
            words << "--" + QString(option.key()).replace('_', '-') << option.value().toVariant().toString();
        const CliResult run = cli(words);
        QVERIFY2(run.document().isObject(), run.messages.constData());
        const QJsonValue result = run.object()["result"];
        for (const char *const field : {"found", "shape", "dtype", "reason"})
            QCOMPARE(result[QString(field)], wanted[QString(field)]);
        QCOMPARE(result["value_range"][0], wanted["value_range"][0]);
        QCOMPARE(result["value_range"][2], wanted["value_range"][2]);
        if (file != "model.pt")
            return;
        QCOMPARE(result["strategy"], wanted["strategy"]);
        QCOMPARE(result["flexible_dims"], wanted["flexible_dims"]);
        QCOMPARE(result["constraining_module"].toString(), wanted["constraining_module"].toString());
        QCOMPARE(constraintFunction(result["constraining_op"].toString()),
                 constraintFunction(wanted["constraining_op"].toString()));
    }

    // A layer for sequences does not hide the op of the run that limits the input.
    void theOpThatLimitsASequenceIsNamed_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("module");
        QTest::newRow("recurrent") << "../live_models/last_state.pt"
                                   << "head:1";
        QTest::newRow("transformer") << "../live_models/sequence_first.pt"
                                     << "self_attn:1";
    }
    void theOpThatLimitsASequenceIsNamed()
    {
        QFETCH(QString, file);
        QFETCH(QString, module);
        const CliResult run = cli({"run", "guess_input_shape", model(file), "--json"});
        const QJsonValue result = run.object().value("result");
        QCOMPARE(result["strategy"].toString(), QStringLiteral("introspection"));
        QCOMPARE(result["constraining_module"].toString(), module);
        QVERIFY2(result["constraining_op"].toString().startsWith("linear_1_"), run.out.constData());
    }

    void shapeOptionsAreChecked()
    {
        const CliResult run =
            cli({"run", "guess_input_shape", model("imagenet.pt"), "--batch-size", "0", "--json"});
        QCOMPARE(run.exitCode, 2);
        QCOMPARE(run.object().value("error")["type"].toString(), QStringLiteral("ShapeInferenceError"));
        const CliResult sides =
            cli({"run", "guess_input_shape", model("imagenet.pt"), "--square", "false", "--json"});
        QCOMPARE(sides.object().value("result")["reason"].toString(),
                 QStringLiteral("exact_size_unreachable"));
        const CliResult raised =
            cli({"run", "guess_input_shape", model("echo.pt"), "--on-failure", "raise", "--json"});
        QCOMPARE(raised.object().value("error")["type"].toString(), QStringLiteral("ShapeInferenceError"));
        const CliResult unknown = cli({"run", "guess_input_shape", model("echo.pt"), "--json"});
        QCOMPARE(unknown.object().value("result")["reason"].toString(), QStringLiteral("unknown_entry"));
    }

    // Every argument error of this helper is of one type, before anything runs.
    void shapeArgumentErrors_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *option, const char *value, const char *says) {
            QTest::newRow(qPrintable(QString(option) + " " + value))
                << QStringList{option, value} << QString(says);
        };
        row("--batch-size", "x", "batch_size");
        row("--channels", "0", "channels is 0");
        row("--seq-len", "-1", "seq_len is -1");
        row("--min-size", "0", "min_size is 0");
        row("--max-size", "0", "max_size is 0");
        row("--max-probes", "0", "max_probes is 0");
        row("--spatial-rank", "0", "spatial_rank is 0");
        row("--spatial-rank", "two", "spatial_rank is");
        row("--square", "maybe", "square");
        row("--preferred-sizes", "[0]", "preferred_sizes holds 0");
        row("--preferred-sizes", "8", "preferred_sizes");
        row("--input-dtype", "float31", "input_dtype is");
        row("--on-failure", "ignore", "on_failure is");
        row("--device", "cuda:0", "models are run on the CPU here");
        row("--device", "gpu", "models are run on the CPU here");
    }
    void shapeArgumentErrors()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, says);
        const CliResult run =
            cli(QStringList{"run", "guess_input_shape", model("imagenet.pt"), "--json"} + words);
        const QJsonValue error = run.object()["error"];
        QCOMPARE(error["type"].toString(), QStringLiteral("ShapeInferenceError"));
        QVERIFY2(error["message"].toString().contains(says), run.out.constData());
        QCOMPARE(run.exitCode, 2);
    }

    void shapeOptionsAreFollowed()
    {
        const auto guess = [](const QStringList &words) {
            return cli(QStringList{"run", "guess_input_shape", model("imagenet.pt"), "--json"} + words)
                .object()
                .value("result")
                .toObject();
        };
        QCOMPARE(guess({"--device", "cpu", "--batch-size", "3"}).value("shape"),
                 QJsonValue(QJsonArray{3, 3, 224, 224}));
        QCOMPARE(guess({"--preferred-sizes", "[48]"}).value("shape"), QJsonValue(QJsonArray{1, 3, 48, 48}));
        QCOMPARE(guess({"--input-specs", "[]"}).value("reason").toString(),
                 QStringLiteral("multi_input_unsupported"));
    }

    void severalInputsAreGuessed_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QStringList>("specs");
        QTest::newRow("image") << "imagenet.pt" << QStringList{"f32[1,3,224,224]=rand"};
        QTest::newRow("frozen") << "frozen_imagenet.pt" << QStringList{"f32[1,3,224,224]=rand"};
        QTest::newRow("samples and rate") << "voice.pt" << QStringList{"f32[1,512]=rand", "16000"};
        QTest::newRow("two tensors") << "two_inputs.pt" << QStringList{"f32[1,5]=rand", "f32[1,7]=rand"};
        QTest::newRow("tokens and mask")
            << "tokens.pt" << QStringList{"i64[1,12]=randint(0,50)", "i64[1,12]=ones"};
        QTest::newRow("norm of features") << "norm1d.pt" << QStringList{"f32[1,4]=rand"};
        QTest::newRow("norm of channels") << "norm2d.pt" << QStringList{"f32[1,3,32,32]=rand"};
        QTest::newRow("norm of the last dimensions") << "layer_norm.pt" << QStringList{"f32[1,4,6]=rand"};
        QTest::newRow("transposed convolution") << "generator.pt" << QStringList{"f32[1,6,1,1]=rand"};
        QTest::newRow("state") << "remembering.pt" << QStringList{"f32[1,16,5]=rand", "f32[2,1,7]=rand"};
        QTest::newRow("dict") << "batch.pt" << QStringList{"i64[1,12]=randint(0,50)"};
        QTest::newRow("list") << "several.pt" << QStringList{"f32[1,6]=rand"};
        QTest::newRow("dict and list of two")
            << "dict_and_list.pt" << QStringList{"f32[1,6]=rand", "f32[1,6]=rand"};
        QTest::newRow("list of sizes") << "sized.pt" << QStringList{"f32[1,3,224,224]=rand", "[224, 224]"};
        QTest::newRow("image and table")
            << "image_and_table.pt" << QStringList{"f32[1,3,224,224]=rand", "f32[1,7]=rand"};
        QTest::newRow("image and rest")
            << "image_and_rest.pt" << QStringList{"f32[1,3,224,224]=rand", "f32[1,9]=rand"};
        QTest::newRow("diffusion") << "denoiser.pt"
                                   << QStringList{"f32[1,4,64,64]=rand", "f32[1]=ones", "f32[1,16,24]=rand"};
        QTest::newRow("tokens without a sequence") << "step.pt" << QStringList{"i64[1]=randint(0,50)"};
    }
    void severalInputsAreGuessed()
    {
        QFETCH(QString, file);
        QFETCH(QStringList, specs);
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli({"capture", model(file), "-o", trace});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        QVERIFY(captured.messages.contains("was guessed"));
        QStringList origins;
        for (const QJsonValue &input : manifestRequest(trace)["effective_inputs"].toArray())
            origins.append(input["origin"].toString());
        QStringList wanted;
        for (const QString &spec : specs)
            wanted.append("guessed: " + spec);
        QCOMPARE(origins, wanted);
    }

    // What does not fit is not made: how much it would be is told instead.
    void inputsBeyondTheMemoryAreRefused()
    {
        const CliResult guess =
            cli({"run", "guess_input_shape", model("imagenet.pt"), "--batch-size", "999999999", "--json"});
        QVERIFY2(guess.document().isObject(), guess.messages.constData());
        const QJsonObject result = guess.object()["result"].toObject();
        QCOMPARE(result["found"].toBool(), false);
        QVERIFY2(result["message"].toString().contains("f32[999999999,3,224,224] takes 547.6 TiB"),
                 qPrintable(result["message"].toString()));
        const CliResult limited = cli({"run", "guess_input_shape", model("imagenet.pt"), "--batch-size",
                                       "2000", "--memory-limit", "1G", "--json"});
        QVERIFY2(limited.object()["result"].toObject()["message"].toString().contains("are there"),
                 limited.messages.constData());
        const QTemporaryDir work;
        const CliResult given = cli({"capture", model("imagenet.pt"), "--input",
                                     "f32[4999999,3,224,224]=ones", "-o", work.filePath("run.opscope")});
        QCOMPARE(given.exitCode, 2);
        QVERIFY2(given.messages.contains("takes 2.7 TiB"), given.messages.constData());
    }

    // A norm of a batch refuses one value a channel while it trains: the batch that is guessed has two.
    void trainedModelsGetABatch()
    {
        const QTemporaryDir work;
        const CliResult captured =
            cli({"capture", model("norm1d.pt"), "--train", "-o", work.filePath("run.opscope")});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
    }

    void flops_data() { addRows("*_live_flops_*"); }
    void flops()
    {
        QFETCH(QString, folder);
        QFETCH(QString, file);
        const QJsonValue wanted = answers(folder).value("flops_vs_dispatch(model, inputs)")["result"];
        QStringList words = {"run", "flops_vs_dispatch", folder + "/" + file, "--json"};
        for (int i = 0; QFile::exists(QString("%1/input_%2.npy").arg(folder).arg(i)); ++i)
            words << "--input" << QString("%1/input_%2.npy").arg(folder).arg(i);
        if (file == "model.pt" &&
            support::readJson(folder + "/meta.json")["archive_mode"].toString() == "train")
            words << "--train";
        const CliResult run = cli(words);
        QVERIFY2(run.document().isObject(), run.messages.constData());
        const QJsonObject answer = run.object();
        if (!wanted.isObject()) { // must succeed or refuse by its witness: our runs are seeded
            const QString code = answer["error"]["code"].toString();
            QVERIFY2(answer["result"].isObject() || code == "flops_crosscheck_witness_failed",
                     qPrintable(code));
            return;
        }
        const QJsonValue result = answer["result"];
        for (const char *const field : {"torchlens_total", "native_total"}) {
            const double expected = wanted[QString(field)].toDouble();
            const double found = result[QString(field)].toDouble();
            QVERIFY2(std::abs(found - expected) <= 0.01 * expected,
                     qPrintable(QString("%1 is %2, not %3").arg(field).arg(found).arg(expected)));
        }
        QCOMPARE(result["delta"].toDouble(),
                 result["native_total"].toDouble() - result["torchlens_total"].toDouble());
        QCOMPARE(result["torchlens_unknown_ops"].toArray().size(),
                 wanted["torchlens_unknown_ops"].toArray().size());
        QCOMPARE(result["torchlens_counted_ops"], wanted["torchlens_counted_ops"]);
        QCOMPARE(result["witness"], wanted["witness"]);
    }

    void compilesAreCountedOrRefused()
    {
        const CliResult counted =
            cli({"run", "count_compiles", model("imagenet.pt"), "--runs", "4", "--json"});
        QVERIFY2(counted.exitCode == 0, counted.messages.constData());
        const QJsonValue result = counted.object()["result"];
        QVERIFY(result["frames_compiled"].isNull());
        QCOMPARE(result["runs"].toInt(), 4);
        QVERIFY(result["script_compilations"].toInt() >= 1);
        QVERIFY(result["steady_after_run"].toInt() < 4);
        const CliResult refused = cli({"run", "count_compiles", model("frozen.pt2"), "--json"});
        QCOMPARE(refused.exitCode, 2);
        QCOMPARE(refused.object().value("error")["code"].toString(),
                 QStringLiteral("compile_counts_unavailable"));
        // Each format is spoken of by its own name.
        QVERIFY(refused.messages.contains("an exported program is run as it is"));
        for (const QString &file : {QStringLiteral("imagenet.pt"), QStringLiteral("frozen.pt2")}) {
            const CliResult breaks = cli({"run", "graph_breaks", model(file), "--json"});
            QCOMPARE(breaks.exitCode, 2);
            const QJsonValue error = breaks.object()["error"];
            QCOMPARE(error["type"].toString(), QStringLiteral("GraphBreaksUnavailableError"));
            QCOMPARE(error["code"].toString(), QStringLiteral("graph_breaks_unavailable"));
            const bool isScript = file.endsWith(".pt");
            QCOMPARE(error["message"].toString().contains("a TorchScript file"), isScript);
            QCOMPARE(error["message"].toString().contains(".pt2"), !isScript);
        }
    }

    void failedBackwardPassesAreExplained_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QStringList>("words");
        const QStringList inPlace = {"SigmoidBackward0 of aten.sigmoid", "aten.add_.",
                                     "changed in place afterwards", "make_probe_models.py:21",
                                     "make_probe_models.py:22"};
        QTest::newRow("in place, script") << "inplace.pt" << inPlace;
        QTest::newRow("in place, export") << "inplace.pt2" << inPlace;
        // What exp took was changed too, first; exp keeps what it gave.
        const QStringList second = {"ExpBackward0 of aten.exp", "aten.mul_.", "make_probe_models.py:201",
                                    "make_probe_models.py:204"};
        QTest::newRow("second change, script") << "inplace_twice.pt" << second;
        QTest::newRow("second change, export") << "inplace_twice.pt2" << second;
        const QStringList cut = {"the path ends at aten.argmax", "make_probe_models.py:32",
                                 "has no derivative"};
        QTest::newRow("no derivative, script") << "argmax.pt" << cut;
        QTest::newRow("no derivative, export") << "argmax.pt2" << cut;
        const QString atTheEnd = "the program replaces at the end of its forward pass";
        QTest::newRow("statistics put back") << "normed.pt2"
                                             << QStringList{"BatchNormLegitBackward0", atTheEnd,
                                                            "PyTorch cannot", "without run_decompositions()"};
        QTest::newRow("state put back") << "counted.pt2" << QStringList{"MulBackward0 of aten.mul", atTheEnd};
        QTest::newRow("frozen") << "frozen.pt2" << QStringList{"all 2 parameters are frozen"};
        QTest::newRow("frozen, script")
            << "../live_models/frozen.pt" << QStringList{"all 2 parameters are frozen"};
    }
    void failedBackwardPassesAreExplained()
    {
        QFETCH(QString, file);
        QFETCH(QStringList, words);
        const QTemporaryDir work;
        QStringList asked = {"capture", model(file), "--backward", "sum", "-o", work.filePath("run.opscope")};
        if (file.endsWith(".pt")) // the others bring theirs
            asked << "--input"
                  << "f32[2,3]=randn";
        const CliResult captured = cli(asked);
        QCOMPARE(captured.exitCode, 4);
        for (const QString &word : words)
            QVERIFY2(captured.messages.contains(word.toUtf8()), captured.messages.constData());
    }

    // Constants that the executor reads when it compiles a graph are no ops: they were rows of the first run
    // and absent from the second.
    void compiledConstantsAreNoOps()
    {
        const CliResult ran =
            cli({"run", "check_determinism", model("scaled.pt"), "--input", "f32[2,3]=randn", "--json"});
        QVERIFY2(ran.exitCode == 0, ran.out.constData());
        QCOMPARE(ran.object()["status"].toString(), QStringLiteral("repeatable_under_test"));
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QCOMPARE(cli({"capture", model("scaled.pt"), "--input", "f32[2,3]=randn", "-o", trace}).exitCode, 0);
        QStringList functions;
        for (const QJsonValue &op : cli({"ops", trace, "--json"}).object()["ops"].toArray())
            if (op["kind"].toString() == "compute")
                functions.append(op["func"].toString());
        QCOMPARE(functions, (QStringList{"linear", "mul", "add", "neg", "linear", "mul", "add", "add"}));
    }

    // Its own words, without the traceback that LibTorch puts before them.
    void numbersAreReadOnceTheyAreFilled()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QCOMPARE(cli({"capture", model("marks.pt"), "--input", "f32[4,3]=randn", "--input", "i64[2]=arange",
                      "-o", trace})
                     .exitCode,
                 0);
        QStringList states; // of the tensors of no dimension: made, then filled
        for (const QByteArray &line : cli({"dump", trace}).out.split('\n')) {
            const QJsonObject record = QJsonDocument::fromJson(line).object();
            if (record["t"].toString() == "tensor" && record["shape"].toArray().isEmpty())
                states.append(record["payload"].toObject()["state"].toString());
        }
        QCOMPARE(states, (QStringList{"uninitialised", "saved"}));
    }
    void whatAModelRaisesIsTold()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const auto message = [&](const char *file) {
            const CliResult captured =
                cli({"capture", model(file), "--input", "f32[2,3]", "-o", trace, "--json"});
            return captured.object()["error"].toObject()["message"].toString();
        };
        QCOMPARE(message("choosy.pt"), QStringLiteral("ValueError: choosy: no RuntimeError: but\ntwo lines"));
        QCOMPARE(message("unfinished.pt"), QStringLiteral("NotImplementedError: later"));
    }

    void filesThatLibTorchDoesNotReadBackAreExplained()
    {
        const CliResult captured =
            cli({"capture", model("optimized.pt"), "--input", "f32[1,3,8,8]", "-o", "none"});
        QCOMPARE(captured.exitCode, 3);
        QVERIFY2(captured.messages.contains("optimize_for_inference makes such files"),
                 captured.messages.constData());
    }

    // Also of tensors inside lists and dicts, by the way there.
    void inputsInsideContainersHaveGradients()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QFile tree(work.filePath("inputs.json"));
        QVERIFY(tree.open(QIODevice::WriteOnly));
        tree.write("{\"args\": [{\"list\": [{\"spec\": \"f32[1,6]=ones\"}, "
                   "{\"spec\": \"f32[1,6]=ones\"}]}]}");
        tree.close();
        const QStringList capture = {"capture", model("several.pt"), "--inputs", tree.fileName(), "-o",
                                     trace,     "--backward",        "sum",      "--input-grad"};
        const CliResult captured = cli(capture + QStringList{"parts.1"});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        QStringList labels;
        for (const QJsonValue &row :
             cli({"report", "grad_health", trace, "--json"}).object()["rows"].toArray())
            labels.append(row["op"].toString());
        QVERIFY2(labels.contains("input_2:1") && !labels.contains("input_1:1"), qPrintable(labels.join(' ')));
        const CliResult none = cli(capture + QStringList{"parts"});
        QCOMPARE(none.exitCode, 2);
        QVERIFY2(none.messages.contains("its tensor inputs are parts.0, parts.1"), none.messages.constData());
    }

    // Named tuples and dataclasses that a model was exported with are read without their classes.
    void recordsAreSampleInputs()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli({"capture", model("records.pt2"), "-o", trace});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        QVERIFY2(captured.messages.isEmpty(), captured.messages.constData());
        QCOMPARE(firstValues(trace), (QList<double>{0.0, 1.0, 2.0, 3.0, 4.0}));
    }

    void targetsAreChecked_data()
    {
        QTest::addColumn<QString>("loss");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("words");
        QTest::newRow("indices") << "cross_entropy:i64[2]=1" << 0 << QString();
        QTest::newRow("indices of another type") << "cross_entropy:i32[2]=1" << 0 << QString();
        QTest::newRow("ignored index") << "cross_entropy:i64[2]=-100" << 0 << QString();
        QTest::newRow("probabilities") << "cross_entropy:f64[2,2]=0.5" << 0 << QString();
        QTest::newRow("squares") << "mse:f32[2]=0.5" << 0 << QString();
        QTest::newRow("class out of range")
            << "cross_entropy:i64[2]=2" << 2 << "holds 2 at element 0: class indices are 0 to 1";
        QTest::newRow("too few rows") << "cross_entropy:i64[3]=0" << 2
                                      << "is int64[3] and the output is float32[2,2]: cross_entropy needs";
        QTest::newRow("other probabilities") << "cross_entropy:f32[2,3]=0.5" << 2
                                             << "is float32[2,3] and the output is float32[2,2]: "
                                                "cross_entropy needs class indices int64[2], or "
                                                "probabilities of the shape [2,2]";
        QTest::newRow("indices that are no whole numbers")
            << "cross_entropy:f32[2]=0" << 2 << "is float32[2] and the output is float32[2,2]";
        QTest::newRow("squares of another shape")
            << "mse:f32[2,3]=0.5" << 2
            << "is float32[2,3] and the output is float32[2,2]: mse needs a target of the shape [2,2]";
        QTest::newRow("no file") << "mse:there_is_none.npy" << 3 << "there_is_none.npy";
    }
    void targetsAreChecked()
    {
        QFETCH(QString, loss);
        QFETCH(int, exitCode);
        QFETCH(QString, words);
        const QTemporaryDir work;
        const CliResult captured = cli({"capture", model("imagenet.pt"), "--input", "f32[2,3,8,8]=randn",
                                        "--backward", loss, "-o", work.filePath("run.opscope")});
        QVERIFY2(captured.exitCode == exitCode, captured.messages.constData());
        QVERIFY2(captured.messages.contains(words.toUtf8()), captured.messages.constData());
    }

    void imagesAreInputs()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli({"capture", model("echo.pt"), "--input",
                                        model("gradient.png") + "?resize=0&crop=2x4&norm=none", "-o", trace});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        // 40 x 20 pixels, the middle 4 x 2 of them: columns 18 to 21, rows 9 and 10.
        QList<double> wanted;
        for (int row = 9; row < 11; ++row)
            for (int column = 18; column < 22; ++column)
                wanted.append((255 * column / 39) / 255.0);
        const QList<double> values = firstValues(trace);
        QVERIFY(values.size() >= 8);
        for (int i = 0; i < 8; ++i)
            QVERIFY2(std::abs(values[i] - wanted[i]) < 1e-6, qPrintable(QString::number(values[i])));
        const QJsonValue prepared = manifestRequest(trace)["prepared_inputs"][0];
        QCOMPARE(prepared["shape"], QJsonValue(QJsonArray{1, 3, 2, 4}));
        QVERIFY(prepared["how"].toString().startsWith("resize=0&crop=2x4&mean=0.0,0.0,0.0&std=1.0,1.0,1.0"));
        const CliResult large = cli({"capture", model("echo.pt"), "--input",
                                     model("gradient.png") + "?resize=0&crop=64", "-o", trace});
        QCOMPARE(large.exitCode, 2);
        QVERIFY(large.messages.contains("less than the crop"));
    }

    void soundsAreInputs()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured =
            cli({"capture", model("echo.pt"), "--input", "x=" + model("steps.wav"), "-o", trace});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        QCOMPARE(firstValues(trace), (QList<double>{0, 0.25, 0.5, 0.75, 0, -0.25, -0.5, -0.75}));
        const CliResult mono = cli({"capture", model("echo.pt"), "--input",
                                    model("steps.wav") + "?channels=1&rate=16000&length=4", "-o", trace});
        QVERIFY2(mono.exitCode == 0, mono.messages.constData());
        QCOMPARE(firstValues(trace), (QList<double>{0, 0, 0, 0}));
    }

    void modalitiesComeByName()
    {
        const QTemporaryDir work;
        QFile tree(work.filePath("inputs.json"));
        QVERIFY(tree.open(QIODevice::WriteOnly));
        tree.write(
            QStringLiteral("{\"kwargs\": {\"x\": {\"audio\": \"%1\", \"channels\": 1, \"length\": 600}, "
                           "\"sr\": {\"value\": 8000}}}")
                .arg(model("steps.wav"))
                .toUtf8());
        tree.close();
        const QString trace = work.filePath("run.opscope");
        const CliResult captured =
            cli({"capture", model("voice.pt"), "--inputs", tree.fileName(), "-o", trace});
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        QVERIFY(manifestRequest(trace)["effective_inputs"][0]["origin"].toString().contains("8000 Hz"));
    }

    void textIsRefusedWithAWayOut()
    {
        const CliResult run =
            cli({"capture", model("tokens.pt"), "--input", "input_ids=text:hello", "-o", "none"});
        QCOMPARE(run.exitCode, 4);
        QVERIFY2(run.messages.contains("tokenizer.json"), run.messages.constData());
        QVERIFY(run.messages.contains("np.save"));
    }

    void runsAreLimitedAndTimed()
    {
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const QStringList steps = {"capture", model("steps.pt"), "--input", "f32[1,64]=randn", "-o",
                                   trace,     "--input"};
        const CliResult timed = cli(steps + QStringList{"3", "--repeat", "3", "--warmup", "1", "--threads",
                                                        "2", "--seed", "7", "--json"});
        QVERIFY2(timed.exitCode == 0, timed.messages.constData());
        QCOMPARE(timed.object().value("summary")["timing"]["runs"].toArray().size(), 3);
        QVERIFY(timed.object().value("summary")["timing"]["median"].toDouble() > 0.0);
        const QJsonValue request = manifestRequest(trace);
        QCOMPARE(request["repeat"].toInt(), 3);
        QCOMPARE(request["warmup"].toInt(), 1);
        QCOMPARE(request["threads"].toInt(), 2);
        QCOMPARE(request["effective_seed"].toString(), QStringLiteral("7"));
        const CliResult slow = cli(steps + QStringList{"100000000", "--time-limit", "2", "--save", "none"});
        QCOMPARE(slow.exitCode, 4);
        QVERIFY2(slow.messages.contains("longer than 2"), slow.messages.constData());
        const CliResult large = cli({"capture", model("echo.pt"), "--input", "f32[400000000]=ones",
                                     "--memory-limit", "600M", "-o", trace});
        QCOMPARE(large.exitCode, 4);
        QVERIFY2(large.messages.contains("the memory limit of 600.0 MiB was reached: 1.5 GiB more"),
                 large.messages.constData());
        // Before the model runs, and in its middle, where the trace says it too.
        for (const auto &[limit, words] : {std::pair("1M", "1.0 MiB"), std::pair("1K", "1.0 KiB")}) {
            const CliResult tiny = cli(steps + QStringList{"3", "--memory-limit", limit});
            QCOMPARE(tiny.exitCode, 4);
            QVERIFY2(tiny.messages.contains(QByteArray("the memory limit of ") + words + " was reached"),
                     tiny.messages.constData());
        }
        const CliResult later = cli({"capture", model("steps.pt"), "--input", "f32[8000,64]=randn", "--input",
                                     "3000", "--memory-limit", "400M", "-o", trace});
        QCOMPARE(later.exitCode, 4);
        QVERIFY2(later.messages.contains("the memory limit of 400.0 MiB was reached"),
                 later.messages.constData());
        const CliResult shown = cli({"info", trace, "--json"});
        QVERIFY2(shown.out.contains("the memory limit of 400.0 MiB was reached"), shown.out.constData());
        QVERIFY2(shown.out.contains("\"cause\": \"out_of_memory\""), shown.out.constData());
    }
};

QTEST_GUILESS_MAIN(TestProbeHelpers)
#include "tst_probe_helpers.moc"
