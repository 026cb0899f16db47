// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cli_process.h"
#include "tests/support/corpus_case.h"

#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <limits>

using support::agrees;
using support::cli;
using support::CliResult;
using support::CorpusCase;

namespace {

CorpusCase modelCase(const QString &name)
{
    return support::readCorpusCase(OPSCOPE_CORPUS_DIR "/models/" + name.section('/', 0, 0),
                                   name.section('/', 1), "expected.json");
}

// The corpus spells non-finite numbers "nan", "inf", "-inf", the command line "NaN", "Infinity", "-Infinity".
double number(const QJsonValue &value)
{
    if (value.isBool())
        return value.toBool() ? 1.0 : 0.0;
    if (!value.isString())
        return value.toDouble();
    const QString text = value.toString().toLower();
    if (text.startsWith("nan"))
        return std::numeric_limits<double>::quiet_NaN();
    return text.startsWith('-') ? -std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::infinity();
}

// What differs between a recorded output and the expected one; empty: nothing.
QString difference(const QJsonValue &output, const QJsonValue &wanted, bool withPath)
{
    const QString dtype = wanted["dtype"].toString();
    if (withPath && output["path"].toString() != wanted["path"].toString())
        return "path is " + output["path"].toString();
    if (!wanted["dtype"].isString())
        return {};
    if (output["dtype"] != wanted["dtype"] || output["shape"] != wanted["shape"])
        return "dtype or shape differs: " + QString::fromUtf8(QJsonDocument(output.toObject()).toJson());
    if (output["nonfinite"].toInteger() != wanted["nonfinite"].toInteger())
        return QString("%1 values are not finite").arg(output["nonfinite"].toInteger());
    const QJsonArray first = output["first"].toArray();
    const QJsonArray wantedFirst = wanted["first"].toArray();
    if (first.size() != wantedFirst.size())
        return QString("%1 first values").arg(first.size());
    for (qsizetype i = 0; i < first.size(); ++i)
        if (!agrees(number(first[i]), number(wantedFirst[i]), dtype))
            return QString("value %1 is %2, not %3")
                .arg(i)
                .arg(number(first[i]), 0, 'g', 17)
                .arg(number(wantedFirst[i]), 0, 'g', 17);
    // The error of a sum is bounded by the sum of the errors of its terms.
    const double slack = 1e-6 + (dtype.contains("16") ? 4 * 0x1p-7 : 1e-5) * number(wanted["abs_sum_finite"]);
    if (std::abs(number(output["sum_finite"]) - number(wanted["sum_finite"])) > slack)
        return QString("the sum is %1").arg(number(output["sum_finite"]), 0, 'g', 17);
    return {};
}

bool runs(const QString &name)
{
    return !name.startsWith("raises/") && !name.startsWith("custom_op/");
}

} // namespace

// Runs every model of the corpus through the command line in both formats.
class TestModels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void outputsAreThoseOfPython_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString &name : support::corpusModels(OPSCOPE_CORPUS_DIR "/models"))
            if (runs(name))
                QTest::newRow(qPrintable(name)) << name;
    }
    void outputsAreThoseOfPython()
    {
        QFETCH(QString, name);
        const CorpusCase model = modelCase(name);
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli(model.captureArguments(work.path(), trace) << "--check-plain"
                                                                                  << "--json");
        QVERIFY2(captured.exitCode == 0, captured.out.constData());
        const QJsonObject plain = captured.object()["summary"].toObject()["plain"].toObject();
        QVERIFY2(plain.contains("equal"), captured.out.constData());
        QCOMPARE(plain["equal"].toInt(), plain["outputs"].toInt());

        const CliResult shown = cli({"outputs", trace, "--json"});
        QVERIFY2(shown.exitCode == 0, shown.messages.constData());
        const QJsonArray outputs = shown.object()["outputs"].toArray();
        const QJsonArray wanted = model.expected["outputs"].toArray();
        QCOMPARE(outputs.size(), wanted.size());
        // A traced model returns a plain tuple, whatever the original returned.
        const bool withPath = !model.isTorchScript() || !model.expected["trace_inputs"].isArray();
        for (qsizetype i = 0; i < outputs.size(); ++i)
            QCOMPARE(difference(outputs[i], wanted[i], withPath), QString());

        checkNothingIsFound(trace);
        checkOps(trace);
    }

    // A watcher that keeps a gradient's memory changes how autograd adds gradients up (tst_tensor_saver.cpp).
    void gradientsAreThoseOfAnUnwatchedRun_data() { outputsAreThoseOfPython_data(); }
    void gradientsAreThoseOfAnUnwatchedRun()
    {
        QFETCH(QString, name);
        const CorpusCase model = modelCase(name);
        const QTemporaryDir work;
        const CliResult captured =
            cli(model.captureArguments(work.path(), work.filePath("run.opscope")) << "--backward"
                                                                                  << "sum"
                                                                                  << "--backward-passes"
                                                                                  << "2"
                                                                                  << "--loss-scale"
                                                                                  << "0.5"
                                                                                  << "--check-plain"
                                                                                  << "--json");
        const QJsonObject document = captured.object();
        const QJsonObject plain = document["summary"].toObject()["plain"].toObject();
        QCOMPARE(plain["equal"].toInt(), plain["outputs"].toInt());
        const QJsonObject gradients = plain["gradients"].toObject();
        if (captured.exitCode == 4) { // as PyTorch's own pass fails
            const QString why = document["error"]["message"].toString();
            QVERIFY2(why.contains(name.startsWith("inplace/") ? "changed in place afterwards"
                                                              : "does not depend on anything that requires"),
                     captured.out.constData());
            QVERIFY(!plain.contains("gradients"));
            return;
        }
        QVERIFY2(captured.exitCode == 0, captured.out.constData());
        QVERIFY2(gradients["gradients"].toInt() > 0, captured.out.constData());
        QCOMPARE(gradients["equal"].toInt(), gradients["gradients"].toInt());
        QVERIFY(gradients["differing"].toArray().isEmpty());
    }

    void gradientsOfChosenInputsAreCompared()
    {
        for (const char *name : {"mlp/model.pt2", "mlp/model.pt"}) {
            const QTemporaryDir work;
            const CliResult captured =
                cli(modelCase(name).captureArguments(work.path(), work.filePath("run.opscope"))
                    << "--backward"
                    << "mean"
                    << "--input-grad"
                    << "x"
                    << "--check-plain");
            QCOMPARE(captured.exitCode, 0);
            // Six parameters and the input.
            QVERIFY2(
                captured.out.contains("gradients equal to those of an unwatched run, bit for bit: 7 of 7\n"),
                captured.out.constData());
        }
    }

    void aModelFileSaysWhatItIs_data() { outputsAreThoseOfPython_data(); }
    void aModelFileSaysWhatItIs()
    {
        QFETCH(QString, name);
        const CorpusCase model = modelCase(name);
        const CliResult info = cli({"info", model.modelPath(), "--json"});
        QVERIFY2(info.exitCode == 0, info.messages.constData());
        const QJsonObject document = info.object();
        QCOMPARE(document["format"].toString(),
                 QString(model.isTorchScript() ? "torchscript" : "torch.export"));
        QVERIFY(!document["inputs"].toArray().isEmpty());
        for (const QJsonValue &input : document["inputs"].toArray())
            QVERIFY2(!input["expected"].toString().isEmpty(), info.out.constData());
        for (const QJsonValue &op : document["ops"].toArray())
            QVERIFY2(op["count"].toInt() > 0 && op["refusal"].isNull(), info.out.constData());
        QVERIFY(document["parameters"].toObject().contains("elements"));
    }

    void infoNamesWhatCannotRun()
    {
        const CliResult info = cli({"info", modelCase("custom_op/model.pt2").modelPath(), "--json"});
        QCOMPARE(info.exitCode, 0);
        QVERIFY2(info.object()["refusal"].toString().contains("fused_bias_act"), info.out.constData());
        const CliResult script = cli({"info", modelCase("custom_op/model.pt").modelPath(), "--json"});
        QCOMPARE(script.exitCode, 4);
        QVERIFY2(script.object()["error"].toObject()["message"].toString().contains("fused_bias_act"),
                 script.out.constData());
    }

    void aModelThatRaisesLeavesATrace()
    {
        const CorpusCase model = modelCase("raises/model.pt");
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli(model.captureArguments(work.path(), trace) << "--json");
        QCOMPARE(captured.exitCode, 4);
        const QJsonObject outcome = captured.object();
        QCOMPARE(outcome["status"].toString(), QString("failed"));
        QVERIFY2(outcome["error"].toObject()["message"].toString().contains("2x6 and 5x3"),
                 captured.out.constData());
        const QJsonValue where = model.expected["raises"].toObject()["where"];
        const QString line = where["file"].toString() + ":" + QString::number(where["line"].toInt());
        QVERIFY2(QString::fromUtf8(captured.out).contains(line), captured.out.constData());

        const CliResult info = cli({"info", trace, "--json"});
        QCOMPARE(info.exitCode, 0);
        QCOMPARE(info.object()["status"].toString(), QString("failed"));
        QVERIFY(info.object()["failure"].toObject()["op"].toString().startsWith("aten.matmul"));
        QVERIFY(info.object()["counts"].toObject()["calls"].toInt() >=
                model.expected["raises"].toObject()["calls_before"].toInt());
    }

    void aMissingOperatorIsNamed_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("pt2") << "custom_op/model.pt2";
        QTest::newRow("torchscript") << "custom_op/model.pt";
    }
    void aMissingOperatorIsNamed()
    {
        QFETCH(QString, name);
        const QTemporaryDir work;
        const CliResult captured =
            cli(modelCase(name).captureArguments(work.path(), work.filePath("run.opscope")) << "--json");
        QCOMPARE(captured.exitCode, 4);
        QVERIFY2(captured.object()["error"].toObject()["message"].toString().contains("fused_bias_act"),
                 captured.out.constData());
    }

private:
    // A sound model has no finding; -Inf of a mask is a note.
    static void checkNothingIsFound(const QString &trace)
    {
        const CliResult report = cli({"report", "nonfinite_origin", trace, "--json"});
        QVERIFY2(report.exitCode == 0, report.out.constData());
        for (const QJsonValue &birth : report.object()["result"].toObject()["births"].toArray())
            QVERIFY2(birth.toObject()["by_design"].toBool(), report.out.constData());
    }

    static void checkOps(const QString &trace)
    {
        const CliResult result = cli({"ops", trace, "--json"});
        QCOMPARE(result.exitCode, 0);
        const QJsonArray ops = result.object()["ops"].toArray();
        QVERIFY(!ops.isEmpty());
        QSet<QString> labels;
        for (const QJsonValue &op : ops)
            labels.insert(op["label"].toString());
        QCOMPARE(labels.size(), ops.size());
        for (const QJsonValue &op : ops) {
            for (const char *key : {"label", "op", "shape", "dtype", "parents", "children", "module",
                                    "flops_forward", "source_line", "kind", "call", "output"})
                QVERIFY2(op.toObject().contains(QLatin1String(key)), key);
            for (const QJsonValue &parent : op["parents"].toArray())
                QVERIFY2(labels.contains(parent.toString()), qPrintable(parent.toString()));
        }
    }
};

QTEST_GUILESS_MAIN(TestModels)
#include "tst_models.moc"
