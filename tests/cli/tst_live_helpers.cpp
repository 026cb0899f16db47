// SPDX-License-Identifier: GPL-3.0-or-later
// The helpers that run a model, through `opscope-cli run`, against what the reference page's package said of
// the same modules in both formats.
#include "core/trace/op_names.h"
#include "tests/support/cli_process.h"
#include "tests/support/golden_call.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

using support::CliResult;

namespace {

CliResult cli(const QStringList &arguments)
{
    return support::runCli(OPSCOPE_BIN_DIR "/opscope-cli", arguments);
}

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
        QTest::newRow("missing") << QStringList{"run", "find_nan", "/nonexistent.pt2"} << 3
                                 << "/nonexistent.pt2";
        QTest::newRow("inputs") << QStringList{"run", "find_nan", model} << 2
                                << "no input is given and none could be guessed";
    }
    void badRequestsAreSentences()
    {
        QFETCH(QStringList, words);
        QFETCH(int, exitCode);
        QFETCH(QString, says);
        const CliResult run = cli(words);
        QVERIFY2(run.messages.contains(says.toUtf8()), run.messages.constData());
        QCOMPARE(run.exitCode, exitCode);
    }
};

QTEST_GUILESS_MAIN(TestLiveHelpers)
#include "tst_live_helpers.moc"
