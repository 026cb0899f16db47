// SPDX-License-Identifier: GPL-3.0-or-later
// Models that are unlike those of the corpus, made by make_odd_models.py: unusual inputs and outputs, classes
// and interfaces of TorchScript, dtypes, control flow. Each folder says what Python answered or why it is
// refused.
#include "tests/support/cli_process.h"
#include "tests/support/corpus_case.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <limits>

using support::agrees;
using support::cli;
using support::CliResult;
using support::CorpusCase;

namespace {

CorpusCase oddCase(const QString &name)
{
    return support::readCorpusCase(OPSCOPE_ODD_MODELS_DIR "/" + name.section('/', 0, 0), name.section('/', 1),
                                   "expected.json");
}

double number(const QJsonValue &value)
{
    if (value.isBool())
        return value.toBool() ? 1.0 : 0.0;
    if (!value.isString())
        return value.toDouble(-12345.5);
    const QString text = value.toString();
    return text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                         : (text.startsWith('-') ? -1 : 1) * std::numeric_limits<double>::infinity();
}

// What differs between a recorded output and the one of Python; empty: nothing.
QString difference(const QJsonObject &output, const QJsonObject &wanted)
{
    if (wanted.contains("path") && output["path"] != wanted["path"])
        return "path is " + output["path"].toString();
    if (!wanted["dtype"].isString())
        return output["value"] == wanted["value"] ? QString() : QString("the value differs");
    if (output["dtype"] != wanted["dtype"] || output["shape"] != wanted["shape"])
        return "it is " + output["dtype"].toString();
    const QJsonArray first = output["first"].toArray();
    const QJsonArray wantedFirst = wanted["first"].toArray();
    if (first.size() != wantedFirst.size())
        return QString("%1 first values, not %2").arg(first.size()).arg(wantedFirst.size());
    for (qsizetype i = 0; i < first.size(); ++i)
        if (!agrees(number(first[i]), number(wantedFirst[i]), wanted["dtype"].toString()))
            return QString("value %1 is %2, not %3").arg(i).arg(number(first[i])).arg(number(wantedFirst[i]));
    return {};
}

} // namespace

class TestOddModels : public QObject
{
    Q_OBJECT

public:
    static void initMain() { qputenv("QTEST_FUNCTION_TIMEOUT", "1800000"); }

private Q_SLOTS:
    void answers_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString &name : support::corpusModels(OPSCOPE_ODD_MODELS_DIR))
            QTest::newRow(qPrintable(name)) << name;
    }
    void answers()
    {
        QFETCH(QString, name);
        const CorpusCase model = oddCase(name);
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli(model.captureArguments(work.path(), trace) << "--check-plain"
                                                                                  << "--json");
        QVERIFY2(captured.document().isObject(), captured.messages.constData());
        QVERIFY2(captured.exitCode == model.expected["exit"].toInt(), captured.out.constData());
        if (captured.exitCode != 0) {
            const QString message = captured.object()["error"].toObject()["message"].toString();
            QVERIFY2(message.contains(model.expected["message"].toString()), qPrintable(message));
            return;
        }
        const QJsonObject plain = captured.object()["summary"].toObject()["plain"].toObject();
        QVERIFY2(plain.contains("equal") && plain["equal"] == plain["outputs"], captured.out.constData());
        compareOutputs(model, trace);
        compareOps(model, trace);
        const CliResult verified = cli({"verify", "--replay", model.modelPath(), trace, "--json"});
        QVERIFY2(verified.exitCode == 0, verified.out.constData());
    }

private:
    static void compareOutputs(const CorpusCase &model, const QString &trace)
    {
        const CliResult shown = cli({"outputs", trace, "--json"});
        QVERIFY2(shown.exitCode == 0, shown.messages.constData());
        const QJsonArray outputs = shown.object()["outputs"].toArray();
        const QJsonArray wanted = model.expected["outputs"].toArray();
        QCOMPARE(outputs.size(), wanted.size());
        for (qsizetype i = 0; i < outputs.size(); ++i)
            QCOMPARE(difference(outputs[i].toObject(), wanted[i].toObject()), QString());
    }

    // "expected" may list some ops: func, module and the functions of the call stack, outermost first.
    static void compareOps(const CorpusCase &model, const QString &trace)
    {
        const CliResult shown = cli({"ops", trace, "--json"});
        QVERIFY2(shown.exitCode == 0, shown.messages.constData());
        QJsonArray computed;
        for (const QJsonValue &op : shown.object()["ops"].toArray())
            if (op["kind"].toString() == "compute")
                computed.append(op);
        for (const QJsonValue &wanted : model.expected["ops"].toArray()) {
            bool found = false;
            for (const QJsonValue &op : computed)
                found =
                    found || (op["func"] == wanted["func"] && op["module_call"] == wanted["module_call"] &&
                              op["source"]["func"] == wanted["in"] &&
                              op["source"]["text"].toString().contains(wanted["text"].toString()));
            QVERIFY2(found, qPrintable(QJsonDocument(wanted.toObject()).toJson() +
                                       QJsonDocument(computed).toJson()));
        }
    }
};

QTEST_GUILESS_MAIN(TestOddModels)
#include "tst_odd_models.moc"
