// SPDX-License-Identifier: GPL-3.0-or-later
// The helpers that run a model, through `opscope-cli run`, against what the reference page's package said of
// the same modules in both formats.
#include "core/trace/op_names.h"
#include "tests/support/cli_process.h"
#include "tests/support/corpus_case.h"
#include "tests/support/golden_call.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

using support::cli;
using support::CliResult;

namespace {

struct LiveCase
{
    QString folder;
    QString model; // "model.pt2", "model.pt"
    QJsonObject results;
    QJsonObject meta;

    bool isTorchScript() const { return model == "model.pt"; }

    // `run NAME MODEL` with the inputs and the mode the answers were made with.
    QStringList arguments(const QString &name) const
    {
        QStringList words = {"run", name, folder + "/" + model, "--json"};
        for (int i = 0; QFile::exists(QString("%1/input_%2.npy").arg(folder).arg(i)); ++i)
            words << "--input" << QString("%1/input_%2.npy").arg(folder).arg(i);
        if (isTorchScript() && meta["archive_mode"].toString() == "train")
            words << "--train";
        return words;
    }
};

LiveCase readCase(const QString &row)
{
    LiveCase live;
    live.folder = QString(OPSCOPE_GOLDENS_DIR) + "/" + row.section('/', 0, 0);
    live.model = row.section('/', 1);
    live.results = support::readJson(live.folder + "/live_expected.json")["results"].toObject();
    live.meta = support::readJson(live.folder + "/meta.json").toObject();
    return live;
}

void addRows(const QString &pattern)
{
    QTest::addColumn<QString>("row");
    const QDir goldens(OPSCOPE_GOLDENS_DIR);
    for (const QString &name : goldens.entryList({pattern}, QDir::Dirs, QDir::Name))
        for (const char *const model : {"model.pt2", "model.pt"})
            if (QFile::exists(goldens.filePath(name) + "/" + model))
                QTest::newRow(qPrintable(name + "/" + model)) << name + "/" + model;
}

// A function's name without what tells Python's operators from ATen's ones.
QString comparedName(const QString &name)
{
    QString text = QString::fromStdString(std::string(core::pythonFunctionName(name.toStdString())));
    text.remove('_');
    return text == "truedivide" ? QStringLiteral("truediv") : text;
}

// The recorded line where it is one of the model's own file; lines of torch's containers and of the call
// itself have no counterpart.
QString comparedLine(const QJsonValue &line)
{
    const QString text = line.toString().section('/', -1);
    return text.startsWith("scenario_") ? text : QString();
}

// An exported program records the frames of `forward` methods only: a line inside a function that a forward
// calls is not in the file.
bool lineIsRecorded(const LiveCase &live)
{
    return live.isTorchScript() || !live.folder.endsWith("_in_helper");
}

// Options of a golden call as words of a command line.
QStringList optionWords(const core::Value &options)
{
    QStringList words;
    for (const auto &[name, value] : options.toObject())
        if (name != "trace_kwargs")
            words << "--" + QString::fromStdString(name) << QString::fromStdString(core::toJson(value));
    return words;
}

QString functions(const QJsonArray &rows)
{
    QStringList names;
    for (const QJsonValue &row : rows)
        names << comparedName(row["func_name"].toString()) + (row["stochastic"].toBool() ? "*" : "") + " " +
                     row["native_dtype"].toString();
    return names.join(", ");
}

} // namespace

class TestLiveHelpers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findNan_data() { addRows("*_live_find_nan_*"); }
    void findNan()
    {
        QFETCH(QString, row);
        const LiveCase live = readCase(row);
        const QJsonValue wanted = live.results["find_nan(model, inputs)"]["result"];
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult run = cli(live.arguments("find_nan") << "-o" << trace);
        QVERIFY2(run.document().isObject(), run.messages.constData());
        const QJsonValue result = run.object()["result"];
        for (const char *const field :
             {"found", "kind", "dtype", "shape", "scope", "bad_tensors", "label_status"})
            QCOMPARE(result[QString(field)], wanted[QString(field)]);
        QCOMPARE(comparedName(result["func_name"].toString()), comparedName(wanted["func_name"].toString()));
        QCOMPARE(result["module_address"].toString(), wanted["module_address"].toString());
        QCOMPARE(result["label"].isNull(), wanted["label"].isNull());
        if (!comparedLine(wanted["source_line"]).isEmpty() && lineIsRecorded(live))
            QCOMPARE(comparedLine(result["source_line"]), comparedLine(wanted["source_line"]));
        QCOMPARE(run.exitCode, wanted["found"].toBool() ? 1 : 0);
        const QJsonObject info = cli({"info", trace, "--json"}).object();
        QCOMPARE(info["status"].toString(),
                 wanted["found"].toBool() ? QString("stopped_at_nonfinite") : QString("finished"));
        QCOMPARE(cli({"verify", trace}).exitCode, 0);
    }

    // What is known to be finite without a look must still trip where it grows too large.
    void growthTrips_data()
    {
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("label"); // empty: nothing is found
        QTest::newRow("small") << "1"
                               << "";
        QTest::newRow("narrowed") << "1e30"
                                  << "to_1_";
        QTest::newRow("sum in place") << "3e37"
                                      << "add_2_";
        QTest::newRow("sum") << "5e37"
                             << "add_1_";
        QTest::newRow("normalised") << "1e38"
                                    << "batchnorm_1_";
    }
    void growthTrips()
    {
        QFETCH(QString, value);
        QFETCH(QString, label);
        for (const char *const file : {"/growing.pt", "/growing.pt2"}) {
            const CliResult run = cli(QStringList{"run", "find_nan", QString(OPSCOPE_PROBE_MODELS_DIR) + file,
                                                  "--input", "f32[1,2,4,4]=" + value, "--json"});
            QCOMPARE(run.exitCode, label.isEmpty() ? 0 : 1);
            QCOMPARE(run.object()["result"].toObject()["found"].toBool(), !label.isEmpty());
            const QString found = run.object()["result"].toObject()["label"].toString();
            QVERIFY2(label.isEmpty() ? found.isEmpty() : found.startsWith(label), qPrintable(found));
        }
    }

    void boundsAreKnownOnlyWhereTheyHold_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QStringList>("inputs");
        QTest::addColumn<QString>("label");
        QTest::newRow("negative variance")
            << "negative_variance.pt" << QStringList{"bf16[1,2,2,2]=ones"} << "batchnorm_1_";
        QTest::newRow("window in the padding")
            << "dilated_pool.pt" << QStringList{"f32[1,1,1,1]=ones"} << "maxpool2d_1_";
        QTest::newRow("whole numbers beside halves")
            << "mixed.pt" << QStringList{"f16[2]=ones", "i64[2]=100000"} << "cat_1_";
    }
    void boundsAreKnownOnlyWhereTheyHold()
    {
        QFETCH(QString, file);
        QFETCH(QStringList, inputs);
        QFETCH(QString, label);
        QStringList words = {"run", "find_nan", QString(OPSCOPE_PROBE_MODELS_DIR "/") + file, "--json"};
        for (const QString &input : inputs)
            words << "--input" << input;
        const CliResult run = cli(words);
        const QString found = run.object()["result"].toObject()["label"].toString();
        QVERIFY2(found.startsWith(label), qPrintable(found));
    }

    void nonfiniteOrigin_data() { addRows("*_live_find_nan_*"); }
    void nonfiniteOrigin()
    {
        QFETCH(QString, row);
        const LiveCase live = readCase(row);
        const QJsonValue wanted = live.results["nonfinite_origin(model, inputs)"]["result"];
        const CliResult run = cli(live.arguments("nonfinite_origin"));
        QVERIFY2(run.document().isObject(), run.messages.constData());
        const QJsonValue result = run.object()["result"];
        for (const char *const field : {"found", "phase", "kind", "tensor_role", "coverage_basis", "checked",
                                        "unchecked", "unexamined", "nonfinite_labels", "uncertainty_zone"})
            QCOMPARE(result[QString(field)], wanted[QString(field)]);
        QCOMPARE(result["module_address"].toString(), wanted["module_address"].toString());
        if (!comparedLine(wanted["source_line"]).isEmpty() && lineIsRecorded(live))
            QCOMPARE(comparedLine(result["source_line"]), comparedLine(wanted["source_line"]));
        QVERIFY(run.object()["trace"].isNull());
    }

    void precision_data() { addRows("*_live_precision_*"); }
    void precision()
    {
        QFETCH(QString, row);
        const LiveCase live = readCase(row);
        QVERIFY(!live.results.isEmpty());
        for (auto it = live.results.begin(); it != live.results.end(); ++it) {
            const QJsonValue answer = it.value();
            const tests::GoldenCall call = tests::parseGoldenCall(it.key().toStdString());
            const QJsonValue wanted = answer["result"];
            const CliResult run = cli(live.arguments("bisect_precision") + optionWords(call.options));
            QVERIFY2(run.document().isObject(), run.messages.constData());
            const QJsonValue result = run.object()["result"];
            QCOMPARE(result["found"], wanted["found"]);
            QCOMPARE(comparedName(result["func_name"].toString()),
                     comparedName(wanted["func_name"].toString()));
            QCOMPARE(comparedLine(result["source_line"]), comparedLine(wanted["source_line"]));
            QCOMPARE(functions(result["rows"].toArray()), functions(wanted["rows"].toArray()));
            QCOMPARE(result["skipped"].toArray().size(), wanted["skipped"].toArray().size());
            QCOMPARE(run.exitCode, wanted["found"].toBool() ? 1 : 0);
        }
    }

    void determinism_data() { addRows("*_live_determinism_*"); }
    void determinism()
    {
        QFETCH(QString, row);
        const LiveCase live = readCase(row);
        QVERIFY(!live.results.isEmpty());
        for (auto it = live.results.begin(); it != live.results.end(); ++it) {
            const QJsonValue answer = it.value();
            const tests::GoldenCall call = tests::parseGoldenCall(it.key().toStdString());
            const CliResult run = cli(live.arguments("check_determinism") + optionWords(call.options));
            QVERIFY2(run.document().isObject(), run.messages.constData());
            if (answer["code"].isString()) {
                const QJsonValue error = run.object()["error"];
                QCOMPARE(error["code"], answer["code"]);
                QCOMPARE(run.exitCode, 2);
                continue;
            }
            const QJsonValue wanted = answer["result"];
            const QJsonValue result = run.object()["result"];
            for (const char *const field :
                 {"verdict", "runs", "seed", "policy", "rtol", "atol", "isolation", "run_policy",
                  "first_divergence", "divergent_ops", "nonfinite_ops", "unchecked_payloads",
                  "seed_sensitivity_verdict"})
                QCOMPARE(result[QString(field)], wanted[QString(field)]);
            QCOMPARE(result["rng_consuming_ops"].toArray().size(),
                     wanted["rng_consuming_ops"].toArray().size());
            QCOMPARE(run.exitCode, 0);
        }
    }

    // An op without a kernel for the reference dtype, or whose bits would mean something else in it.
    void opsThatNeedTheirOwnDtypeAreSkipped_data()
    {
        QTest::addColumn<QStringList>("model");
        QTest::addColumn<QString>("func");
        QTest::addColumn<QString>("why");
        QTest::addColumn<QString>("compared");
        const QString models = QString(OPSCOPE_PROBE_MODELS_DIR) + "/../live_models/";
        const QString fused = "fused_moving_avg_obs_fake_quant";
        const QString noKernel =
            "it does not run in float64 (expected scalar type Float but found Double): it ran in float32";
        QTest::newRow("export") << QStringList{models + "observed.pt2"} << fused << noKernel
                                << "linear, none";
        QTest::newRow("script") << QStringList{models + "observed.pt", "--train", "--input", "f32[2,4]=randn"}
                                << fused << noKernel << "linear, none";
        QTest::newRow("bits") << QStringList{models + "bits.pt2"} << "view"
                              << "it reads bits, which mean something else in float64: it ran in float32"
                              << "mul, mul, mul, rsub, mul, none";
    }
    void opsThatNeedTheirOwnDtypeAreSkipped()
    {
        QFETCH(QStringList, model);
        QFETCH(QString, func);
        QFETCH(QString, why);
        QFETCH(QString, compared);
        const CliResult run = cli(QStringList{"run", "bisect_precision"} + model + QStringList{"--json"});
        QVERIFY2(run.document().isObject(), run.messages.constData());
        const QJsonValue result = run.object()["result"];
        QCOMPARE(result["found"].toBool(true), false);
        const QString type = QString(func).remove('_');
        QStringList reasons;
        for (const QJsonValue &skip : result["skipped"].toArray())
            if (skip[0].toString().startsWith(type) && skip[1].toString() != "non-floating")
                reasons << skip[1].toString();
        QVERIFY2(!reasons.isEmpty() && reasons.count(why) == reasons.size(), run.out.constData());
        QStringList rows;
        for (const QJsonValue &row : result["rows"].toArray())
            rows << row["func_name"].toString();
        QCOMPARE(rows.join(", "), compared);
        QCOMPARE(run.exitCode, 0);
    }

    // Where no op drew a number, those that could have by their name: dropout in evaluation mode.
    void opsThatCouldDrawAreNamed()
    {
        const auto ask = [](const QStringList &model) {
            return cli(QStringList{"run", "check_determinism", "--json"} + model)
                .object()
                .value("result")
                .toObject();
        };
        const QJsonObject still = ask({OPSCOPE_CORPUS_DIR "/models/encoder_layer/model.pt"});
        QCOMPARE(still["rng_attribution_basis"].toString(), QStringLiteral("stochastic_func_names"));
        QVERIFY(!still["rng_consuming_ops"].toArray().isEmpty());
        for (const QJsonValue &label : still["rng_consuming_ops"].toArray())
            QVERIFY2(label.toString().startsWith("dropout"), qPrintable(label.toString()));
        const QJsonObject drawn = ask({OPSCOPE_CORPUS_DIR "/models/dropout_train/model.pt", "--train"});
        QCOMPARE(drawn["rng_attribution_basis"].toString(), QStringLiteral("pre_op_rng_snapshots"));
        QVERIFY(!drawn["rng_consuming_ops"].toArray().isEmpty());
    }

    void listsHelpers()
    {
        const CliResult list = cli({"run", "list", "--json"});
        QStringList names;
        for (const QJsonValue &helper : list.object()["helpers"].toArray())
            names << helper["name"].toString();
        for (const char *const name :
             {"find_nan", "nonfinite_origin", "bisect_precision", "check_determinism"})
            QVERIFY2(names.contains(name), name);
    }

    // Names and defaults as on the reference page; what is ours is told apart.
    void optionsAreThoseOfThePage()
    {
        const QJsonObject page =
            QJsonDocument::fromJson(
                "{\"find_nan\": {\"skip_by_design\": false}, \"nonfinite_origin\": {\"skip_by_design\": "
                "false},"
                "\"bisect_precision\": {\"reference_dtype\": \"float64\", \"rtol\": null, \"atol\": null},"
                "\"check_determinism\": {\"runs\": 2, \"rtol\": null, \"atol\": null, \"seed_sensitivity\": "
                "false},"
                "\"guess_input_shape\": {\"batch_size\": 1, \"input_dtype\": null, \"channels\": null,"
                "\"spatial_rank\": \"auto\", \"seq_len\": null, \"square\": true, \"min_size\": 1, "
                "\"max_size\": 512,"
                "\"preferred_sizes\": [224, 256, 384, 299, 128, 96, 64, 32, 28], \"max_probes\": 64, "
                "\"device\": null,"
                "\"on_failure\": \"return\", \"input_specs\": null},"
                "\"flops_vs_dispatch\": {}, \"count_compiles\": {\"runs\": 4}, \"graph_breaks\": {}}")
                .object();
        QJsonObject listed;
        for (const QJsonValue &helper : cli({"run", "list", "--json"}).object()["helpers"].toArray()) {
            QJsonObject options;
            for (const QJsonValue &option : helper["options"].toArray())
                options[option["name"].toString()] = option["default"];
            listed[helper["name"].toString()] = options;
        }
        QCOMPARE(listed, page);
        const CliResult help = cli({"run", "guess_input_shape", "--help"});
        QCOMPARE(help.exitCode, 0);
        QVERIFY2(help.out.contains("--max-probes (default 64)"), help.out.constData());
    }

    // What a mask fills in is looked past; what becomes of it is not.
    void masksCanBeSkipped_data()
    {
        QTest::addColumn<QString>("model");
        for (const char *const model : {"model.pt2", "model.pt"})
            QTest::newRow(model) << model;
    }
    void masksCanBeSkipped()
    {
        QFETCH(QString, model);
        const QTemporaryDir work;
        const auto run = [&](const QString &folder, const QString &answer, const QString &skip) {
            const support::CorpusCase corpus =
                support::readCorpusCase(OPSCOPE_CORPUS_DIR + folder, model, answer);
            QStringList words = corpus.captureArguments(work.path(), work.filePath("run.opscope"));
            words[0] = "find_nan";
            return cli(QStringList{"run"} + words + QStringList{"--skip-by-design", skip, "--json"});
        };
        const CliResult stopped = run("/nan_cases/n09_masked_row", "answer.json", "false");
        QCOMPARE(stopped.object().value("result")["func_name"].toString(), QStringLiteral("masked_fill"));
        QCOMPARE(stopped.object().value("result")["by_design"].toBool(), true);
        QCOMPARE(stopped.exitCode, 0);
        const CliResult past = run("/nan_cases/n09_masked_row", "answer.json", "true");
        QVERIFY2(past.document().isObject(), past.messages.constData());
        QCOMPARE(past.object().value("result")["func_name"].toString(), QStringLiteral("softmax"));
        QCOMPARE(past.object().value("result")["kind"].toString(), QStringLiteral("nan"));
        QCOMPARE(past.exitCode, 1);
        // Every row of this mask keeps a value: the -Inf is absorbed and the run goes to its end.
        const CliResult sound = run("/models/attention", "expected.json", "true");
        QVERIFY2(sound.document().isObject(), sound.messages.constData());
        QCOMPARE(sound.object().value("result")["found"].toBool(), false);
        QVERIFY2(sound.object().value("result")["message"].toString().contains("-Inf by design in 1 mask"),
                 sound.out.constData());
        QCOMPARE(sound.object().value("run")["status"].toString(), QStringLiteral("finished"));
        QCOMPARE(sound.exitCode, 0);
    }

    // The page: a model that no copy can be made of gives no verdict, and says why.
    // The statistics of the last ops are those of a whole capture, also where a later op wrote over a result
    // or over what it was made of.
    void overwrittenResultsAreMeasured_data()
    {
        QTest::addColumn<QString>("model");
        QTest::newRow("export") << "overwritten.pt2";
        QTest::newRow("script") << "overwritten.pt";
    }
    void overwrittenResultsAreMeasured()
    {
        QFETCH(QString, model);
        const QTemporaryDir work;
        const QString stopped = work.filePath("stopped.opscope");
        const QString whole = work.filePath("whole.opscope");
        const QStringList inputs = {OPSCOPE_PROBE_MODELS_DIR "/" + model, "--input", "f32[4,6]=randn",
                                    "--seed", "7"};
        QCOMPARE(cli(QStringList{"run", "find_nan"} + inputs + QStringList{"-o", stopped}).exitCode, 1);
        QCOMPARE(cli(QStringList{"capture"} + inputs + QStringList{"-o", whole}).exitCode, 0);
        const QJsonArray ops = cli({"ops", stopped, "--json"}).object()["ops"].toArray();
        const QJsonArray wanted = cli({"ops", whole, "--json"}).object()["ops"].toArray();
        QVERIFY(ops.size() > 20 && ops.size() < wanted.size());
        for (qsizetype i = 0; i < ops.size(); ++i) {
            QCOMPARE(ops[i]["label"], wanted[i]["label"]);
            QVERIFY2(ops[i]["stats"].isObject(), qPrintable(ops[i]["label"].toString()));
            QVERIFY2(ops[i]["stats"] == wanted[i]["stats"], qPrintable(ops[i]["label"].toString()));
        }
    }

    void uncopyableModelIsInconclusive()
    {
        const CliResult run = cli({"run", "check_determinism", OPSCOPE_PROBE_MODELS_DIR "/uncopyable.pt",
                                   "--input", "f32[2,3]=randn", "--seed-sensitivity", "true", "--json"});
        QVERIFY2(run.document().isObject(), run.messages.constData());
        const QJsonValue result = run.object()["result"];
        QCOMPARE(result["verdict"].toString(), QStringLiteral("inconclusive"));
        QCOMPARE(result["seed_sensitivity_verdict"].toString(), QStringLiteral("inconclusive"));
        QCOMPARE(result["runs"].toInt(), 0);
        QVERIFY2(result["message"].toString().contains("cannot be copied"), run.out.constData());
        QVERIFY2(!result["remedies"].toArray().isEmpty(), run.out.constData());
    }

    // The next capture dialog shows what the trace says.
    void tracesOfRerunsSayWhatWasAsked()
    {
        for (const char *helper : {"check_determinism", "bisect_precision"}) {
            const QTemporaryDir work;
            const QString trace = work.filePath("run.opscope");
            const CliResult run =
                cli({"run", helper, QString(OPSCOPE_CORPUS_DIR) + "/models/mlp/model.pt2", "-o", trace});
            QVERIFY2(run.exitCode <= 1, run.messages.constData());
            const CliResult told = cli({"info", trace, "--json"});
            const QJsonObject request = told.object()["request"].toObject();
            QCOMPARE(request["save"].toString(), QString("all,max:67108864"));
            QVERIFY2(request["seed"].isNull(), told.out.constData());
            QVERIFY(!request["options"].toObject().contains("keeps_all"));
        }
    }

    void badRequestsAreSentences_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("says");
        const QString model = QString(OPSCOPE_GOLDENS_DIR) + "/101_live_find_nan_zero_over_zero/model.pt";
        QTest::newRow("helper") << QStringList{"run", "find_nam", model} << 2 << "find_nan";
        QTest::newRow("no model") << QStringList{"run", "find_nan"} << 2 << "takes a model file";
        QTest::newRow("option") << QStringList{"run", "check_determinism", model, "--run", "2"} << 2
                                << "runs";
        QTest::newRow("type") << QStringList{"run", "check_determinism", model, "--runs", "x"} << 2
                              << "an integer";
        QTest::newRow("dtype") << QStringList{"run",  "bisect_precision", model,          "--reference-dtype",
                                              "int8", "--input",          "f32[1,2]=ones"}
                               << 2 << "no floating dtype";
        QTest::newRow("tolerance") << QStringList{"run", "check_determinism", model, "--rtol", "-1"} << 2
                                   << "at least 0";
        QTest::newRow("no bound") << QStringList{"run", "check_determinism", model, "--rtol", "inf"} << 2
                                  << "at least 0";
        QTest::newRow("no number") << QStringList{"run", "bisect_precision", model, "--atol", "NaN"} << 2
                                   << "at least 0";
        QTest::newRow("missing") << QStringList{"run", "find_nan", model + ".none"} << 3 << "model.pt.none";
        QTest::newRow("seed") << QStringList{"run", "find_nan", model, "--seed", "18446744073709551616"} << 2
                              << "it takes at most 9223372036854775807";
        QTest::newRow("name") << QStringList{"run", "find_nan", model, "--input", "y=3"} << 2
                              << "forward has no argument y; it takes x: Tensor";
        for (const char *scale : {"nan", "inf", "0", "-2"})
            QTest::newRow(scale) << QStringList{"capture", model, "--backward", "sum", "--loss-scale", scale}
                                 << 2 << "it is a finite number above 0";
        QTest::newRow("no such output")
            << QStringList{"capture",    QString(OPSCOPE_CORPUS_DIR) + "/models/dict_io/model.pt2",
                           "--backward", "mean:nope",
                           "-o",         "OUT"}
            << 2 << "its tensor outputs are ";
        const QString mlp = QString(OPSCOPE_CORPUS_DIR) + "/models/mlp/model.pt2";
        const QStringList capture = {"capture", mlp, "--backward"};
        QTest::newRow("output without a name") << capture + QStringList{"sum:logits", "-o", "OUT"} << 2
                                               << "its only tensor output has no name: leave :logits out";
        QTest::newRow("near output")
            << QStringList{"capture",    QString(OPSCOPE_CORPUS_DIR) + "/models/multi_output/model.pt2",
                           "--backward", "mean:01",
                           "-o",         "OUT"}
            << 2 << "did you mean ";
        QTest::newRow("missing target") << capture + QStringList{"mse:missing.npy", "-o", "OUT"} << 3
                                        << "target of the loss: missing.npy: No such file";
        QTest::newRow("image target") << capture + QStringList{"mse:cat.png", "-o", "OUT"} << 2
                                      << "an image, a sound or a text is no target";
        QTest::newRow("no target") << capture + QStringList{"cross_entropy:" + mlp, "-o", "OUT"} << 2
                                   << "target of the loss: \"";
        QTest::newRow("inputs") << QStringList{"run", "find_nan", model} << 2
                                << "no input is given and none could be guessed";
    }
    void badRequestsAreSentences()
    {
        QFETCH(QStringList, words);
        QFETCH(int, exitCode);
        QFETCH(QString, says);
        const QTemporaryDir work;
        if (words.last() == "OUT")
            words.last() = work.filePath("run.opscope");
        const CliResult run = cli(words);
        QVERIFY2(run.messages.contains(says.toUtf8()), run.messages.constData());
        QCOMPARE(run.exitCode, exitCode);
    }

    // A live find_nan records a few ops at once: a short model has ended, or raised, before they are.
    void shortModelsAreRecordedToTheirEnd_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *helper, const char *file, const char *values, int exitCode,
                            const char *says) {
            const QString model = QString(OPSCOPE_CORPUS_DIR) + "/../edge_models/" + file + ".pt";
            QTest::newRow(qPrintable(QString(helper) + ' ' + file + ' ' + values))
                << QStringList{"run", helper, model, "--input", QString("f32[2,3]=") + values} << exitCode
                << QString(says);
        };
        for (const char *helper : {"find_nan", "nonfinite_origin"}) {
            row(helper, "healed", "nan", 1, "nan in the input \"x\" before any op made one");
            row(helper, "healed", "ones", 0, "no NaN or Inf in the outputs of 3 ops");
            row(helper, "refusing", "ones", 4, "ValueError: one dimension too many");
            row(helper, "refusing", "nan", 1, "nan in the input \"x\"");
            row(helper, "quantized", "ones", 0, "no NaN or Inf");
            row(helper, "without_values", "ones", 0, "no NaN or Inf");
            row(helper, "sparse", "ones", 0, "no NaN or Inf");
        }
        for (const char *file : {"quantized", "without_values", "sparse"})
            row("flops_vs_dispatch", file, "ones", 0, "our rules ");
    }
    void shortModelsAreRecordedToTheirEnd()
    {
        QFETCH(QStringList, words);
        QFETCH(int, exitCode);
        QFETCH(QString, says);
        const CliResult run = cli(words);
        QVERIFY2((run.out + run.messages).contains(says.toUtf8()), (run.out + run.messages).constData());
        QCOMPARE(run.exitCode, exitCode);
    }
};

QTEST_GUILESS_MAIN(TestLiveHelpers)
#include "tst_live_helpers.moc"
