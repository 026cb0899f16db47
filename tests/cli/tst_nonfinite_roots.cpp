// SPDX-License-Identifier: GPL-3.0-or-later
// Where NaN and Inf begin outside the results of ops: in state that an op writes besides them, and in the
// loss or the scale that a backward pass starts from; and the names by which inputs are let require
// gradients.
#include "tests/support/cli_process.h"

#include <QTemporaryDir>
#include <QtTest>

using support::cli;
using support::CliResult;

namespace {

QString probe(const QString &file)
{
    return QString(OPSCOPE_PROBE_MODELS_DIR "/") + file;
}

QJsonObject resultOf(const CliResult &run)
{
    return run.object()["result"].toObject();
}

} // namespace

class TestNonfiniteRoots : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_work.isValid());
        QFile nested(m_work.filePath("nested.json"));
        QVERIFY(nested.open(QIODevice::WriteOnly));
        nested.write("{\"args\": [{\"dict\": {\"x\": {\"spec\": \"f32[2]=ones\"}, \"d_y\": {\"spec\": "
                     "\"f32[2]=ones\"}}}, {\"list\": [{\"spec\": \"f32[2]=ones\"}, {\"spec\": "
                     "\"f32[2]=ones\"}]}]}");
    }

    // The op that wrote the statistics is the birth, by its line and with a reason; no result of it is bad.
    void writtenStatisticsNameTheirOp_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("input");
        QTest::addColumn<QString>("op");
        QTest::addColumn<QString>("buffer");
        for (const char *const file : {"running_batch.pt", "running_batch.pt2"})
            QTest::newRow(file) << file << "f32[2,3]=randn"
                                << "aten.batch_norm.default"
                                << "norm.running_var";
        for (const char *const file : {"running_instance.pt", "running_instance.pt2"})
            QTest::newRow(file) << file << "f32[1,3,2]=randn"
                                << "aten.instance_norm.default"
                                << "norm.running_var";
        for (const char *const file : {"updated_stats.pt", "updated_stats.pt2"})
            QTest::newRow(file) << file << "f32[2,3]=randn"
                                << ""
                                << "variance";
    }
    void writtenStatisticsNameTheirOp()
    {
        QFETCH(QString, file);
        QFETCH(QString, input);
        QFETCH(QString, op);
        QFETCH(QString, buffer);
        const QString trace = m_work.filePath("run.opscope");
        QStringList model = {probe(file), "--input", input};
        if (file.endsWith(".pt"))
            model << "--train";
        QCOMPARE(cli(QStringList{"capture"} + model + QStringList{"-o", trace}).exitCode, 0);
        const CliResult origin = cli({"report", "nonfinite_origin", trace, "--json"});
        QCOMPARE(origin.exitCode, 1);
        QCOMPARE(resultOf(origin)["verdict"].toString(), QStringLiteral("origin"));
        QVERIFY(resultOf(origin)["sources"].toArray().isEmpty());
        if (op.isEmpty())
            return; // its second result is bad too, which the rows below do not have
        QJsonObject birth;
        for (const QJsonValue &entry : resultOf(origin)["births"].toArray())
            if (!entry["by_design"].toBool())
                birth = entry.toObject();
        QCOMPARE(birth["op"].toString(), op);
        QCOMPARE(birth["buffer"].toString(), buffer);
        QCOMPARE(birth["why"].toString(), QStringLiteral("overflow_fp32"));
        QCOMPARE(birth["shape"].toArray(), QJsonArray{3});
        const QString line = resultOf(origin)["source_line"].toString();
        QVERIFY2(line.contains("make_probe_models.py:"), qPrintable(line));
        const QString label = resultOf(origin)["origin_label"].toString();
        for (const char *const report : {"find_nan", "bisect_nan"}) {
            const CliResult saved = cli({"report", report, trace, "--json"});
            QCOMPARE(saved.exitCode, 1);
            QCOMPARE(resultOf(saved)["label"].toString(), label);
            QCOMPARE(resultOf(saved)["source_line"].toString(), line);
            QVERIFY(resultOf(saved)["message"].toString().contains("in the buffer \"" + buffer + '"'));
        }
        const CliResult live = cli(QStringList{"run", "find_nan", "--json"} + model);
        QCOMPARE(live.exitCode, 1);
        QCOMPARE(resultOf(live)["label"].toString(), label);
        QCOMPARE(resultOf(live)["source_line"].toString(), line);
        QCOMPARE(resultOf(live)["bad_tensors"].toArray(), QJsonArray{buffer});
        QVERIFY(!resultOf(live)["inputs"].toArray().isEmpty());
        QCOMPARE(resultOf(cli(QStringList{"run", "nonfinite_origin", "--json"} + model))["origin_label"]
                     .toString(),
                 label);
    }

    // What a buffer held when the run began is no op's doing.
    void whatABufferHeldIsARoot()
    {
        const QString trace = m_work.filePath("held.opscope");
        const QStringList model = {probe("running_held.pt2"), "--input", "f32[2,3]=zeros"};
        QCOMPARE(cli(QStringList{"capture"} + model + QStringList{"-o", trace}).exitCode, 0);
        const QJsonObject origin = resultOf(cli({"report", "nonfinite_origin", trace, "--json"}));
        QVERIFY(origin["births"].toArray().isEmpty());
        QCOMPARE(origin["sources"].toArray().size(), 1);
        QCOMPARE(origin["sources"][0]["name"].toString(), QStringLiteral("norm.running_var"));
        const CliResult live = cli(QStringList{"run", "find_nan", "--json"} + model);
        QVERIFY(resultOf(live)["message"].toString().contains(
            "in the buffer \"norm.running_var\" before any op made one"));
    }

    // A scale, a loss or their product beyond the dtype of the loss is found, though no gradient is born bad.
    void theRootOfABackwardPassIsChecked_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("input");
        QTest::addColumn<QStringList>("backward");
        QTest::addColumn<QString>("says"); // empty: nothing is found
        const auto row = [](const char *name, const QStringList &files, const QString &input,
                            const QStringList &backward, const QString &says) {
            for (const QString &file : files)
                QTest::newRow(qPrintable(QString(name) + ' ' + file)) << file << input << backward << says;
        };
        const QStringList halves = {"half_scores.pt", "scores_float16.pt2"};
        const QString target = "mse:f16[2,3]=zeros";
        row("seed", halves, "f16[2,3]=ones", {"output:1", "--loss-scale", "1e30"},
            "the loss scale 1e+30 is beyond float16");
        row("seed of a sum", halves, "f16[2,3]=ones", {"sum", "--loss-scale", "1e30"},
            "the loss scale 1e+30 is beyond float16");
        row("sum", halves, "f16[2,3]=30000", {"sum"}, "the loss (sum) is Inf");
        row("squares", halves, "f16[2,3]=300", {target}, "the loss (mse) is Inf");
        row("product", halves, "f16[2,3]=1000", {"mean", "--loss-scale", "1000"},
            "the loss 1000 times the loss scale 1000 is beyond float16");
        row("fine", halves, "f16[2,3]=ones", {"mean", "--loss-scale", "1024"}, {});
        row("bfloat16", {"scores_bfloat16.pt2"}, "bf16[2,3]=ones", {"mean", "--loss-scale", "1e39"},
            "the loss scale 1e+39 is beyond bfloat16");
        row("fine in bfloat16", {"scores_bfloat16.pt2"}, "bf16[2,3]=ones", {"mean", "--loss-scale", "1e30"},
            {});
        row("float64", {"scores_float64.pt2"}, "f64[2,3]=1e200", {"mean", "--loss-scale", "1e200"},
            "times the loss scale 1e+200 is beyond float64");
        row("fine in float64", {"scores_float64.pt2"}, "f64[2,3]=ones", {"mean", "--loss-scale", "1e200"},
            {});
    }
    void theRootOfABackwardPassIsChecked()
    {
        QFETCH(QString, file);
        QFETCH(QString, input);
        QFETCH(QStringList, backward);
        QFETCH(QString, says);
        const QString trace = m_work.filePath("backward.opscope");
        const CliResult run =
            cli(QStringList{"capture", probe(file), "--input", input, "-o", trace, "--backward"} + backward);
        QVERIFY2(run.exitCode == 0, run.messages.constData());
        const CliResult origin = cli({"report", "nonfinite_origin", trace, "--json"});
        const CliResult bisected = cli({"report", "bisect_nan_backward", trace, "--json"});
        QCOMPARE(origin.exitCode, says.isEmpty() ? 0 : 1);
        QCOMPARE(bisected.exitCode, says.isEmpty() ? 0 : 1);
        QCOMPARE(resultOf(origin).value("backward")["verdict"].toString(),
                 says.isEmpty() ? QString("clean") : QString("root_seed"));
        // The trace tells what its gradients were multiplied with, also where no scale was asked for.
        const QJsonObject health =
            cli({"report", "grad_health", trace, "--json"}).object()["attrs"].toObject();
        const auto scale = backward.indexOf("--loss-scale");
        QCOMPARE(health["scale_provenance"].toString(), QString("recorded"));
        QCOMPARE(health["grad_scale"].toDouble(), scale < 0 ? 1.0 : backward[scale + 1].toDouble());
        if (says.isEmpty())
            return;
        const QString seed = resultOf(origin).value("backward")["root_seed"].toString();
        QVERIFY2(seed.contains(says), qPrintable(seed));
        const CliResult text = cli({"report", "nonfinite_origin", trace});
        QVERIFY2(text.out.contains(says.toUtf8()), text.out.constData());
        QVERIFY(resultOf(bisected)["message"].toString().contains(says));
    }

    // One form for both formats, and what PyTorch calls them in an exported program.
    void inputsInsideContainersHaveOneName_data()
    {
        QTest::addColumn<QString>("file");
        QTest::newRow("script") << "nested.pt";
        QTest::newRow("export") << "nested.pt2";
    }
    void inputsInsideContainersHaveOneName()
    {
        QFETCH(QString, file);
        const QString trace = m_work.filePath("nested.opscope");
        const QStringList capture = {"capture",     probe(file), "--inputs",   m_work.filePath("nested.json"),
                                     "-o",          trace,       "--backward", "sum",
                                     "--input-grad"};
        for (const QString &name : {QStringLiteral("d.x"), QStringLiteral("d_x"), QStringLiteral("several.1"),
                                    QStringLiteral("d.d_y")}) {
            const CliResult run = cli(capture + QStringList{name});
            QVERIFY2(run.exitCode == 0, run.messages.constData());
            const QJsonArray rows =
                cli({"report", "grad_health", trace, "--json"}).object()["rows"].toArray();
            QCOMPARE(rows[0]["op"].toString().startsWith("input_"), false);
            QVERIFY(!rows.isEmpty());
        }
        const CliResult refused = cli(capture + QStringList{"d.xx"});
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.messages.contains("did you mean d.x"), refused.messages.constData());
        QVERIFY2(refused.messages.contains("its tensor inputs are d.x, d.d_y, several.0, several.1"),
                 refused.messages.constData());
    }

private:
    QTemporaryDir m_work;
};

QTEST_GUILESS_MAIN(TestNonfiniteRoots)
#include "tst_nonfinite_roots.moc"
