// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cli_process.h"
#include "tests/support/corpus_case.h"

#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>

using support::cli;
using support::CliResult;

namespace {

// An op's name as the formats are compared: with the overload for .pt2, without for TorchScript, where copy_
// and fill_ are one.
QString comparedOp(const QString &op, bool torchScript)
{
    if (!torchScript)
        return op;
    const QString base = op.section('.', 0, 1);
    return base == "aten.fill_" ? QStringLiteral("aten.copy_") : base;
}

QString countsText(const QJsonValue &counts)
{
    QStringList parts;
    for (const char *name : {"nan", "pinf", "ninf", "elements"})
        parts.append(QString("%1=%2").arg(name).arg(counts[QString(name)].toInteger()));
    return parts.join(' ');
}

QString lineText(const QJsonValue &source)
{
    return source.isObject() ? source["file"].toString() + ":" + QString::number(source["line"].toInt())
                             : QStringLiteral("-");
}

// One birth as a line. A source the answer does not have is not compared.
QString birthText(const QJsonValue &entry, bool torchScript, bool withSource)
{
    if (!entry.isObject())
        return QStringLiteral("none");
    QString text =
        comparedOp(entry["op"].toString(), torchScript) + " " + entry["kind"].toString() + " in \"" +
        entry["module"].toString() + "\" " + countsText(entry["counts"]) + " at " +
        QString::fromUtf8(QJsonDocument(entry["first_index"].toArray()).toJson(QJsonDocument::Compact));
    return withSource ? text + " " + lineText(entry["source"]) : text;
}

QString sinkText(const QJsonValue &entry, bool withSource)
{
    QString func = entry["func"].toString();
    const QString text = (func == "fill_" ? QStringLiteral("copy_") : func) + " in \"" +
                         entry["module"].toString() + "\" swallowed " + entry["swallowed"].toString();
    return withSource ? text + " " + lineText(entry["source"]) : text;
}

// What was bad before the first op.
QStringList sourceTexts(const QJsonArray &sources)
{
    QStringList out;
    for (const QJsonValue &source : sources)
        out.append(source["what"].toString() + " " + source["name"].toString() + " " +
                   source["kind"].toString() + " " + countsText(source));
    out.sort();
    return out;
}

// The numbers that went in at the first bad element. Arguments that the call leaves out are not compared, nor
// are truth values.
QStringList operandTexts(const QJsonValue &entry, const QJsonValue &wanted)
{
    const QJsonArray values = entry["operands_at_first_index"].toArray();
    const QJsonArray compared = wanted["operands_at_first_index"].toArray();
    QStringList out;
    for (qsizetype i = 0; i < compared.size(); ++i) {
        if (compared[i].isBool() || compared[i].isArray())
            continue;
        const QJsonValue value = i < values.size() ? values[i] : QJsonValue();
        const QString word = value.toString().toLower().replace("infinity", "inf");
        out.append(value.isDouble() ? QString::number(value.toDouble(), 'g', 5)
                   : value.isNull() ? QStringLiteral("unknown")
                                    : word);
    }
    return out;
}

// A node of TorchScript's autograd graph is compared without its trailing digits.
QString comparedNode(QString node, bool torchScript)
{
    while (torchScript && !node.isEmpty() && node.back().isDigit())
        node.chop(1);
    return node == "NormBackward" ? QStringLiteral("LinalgVectorNormBackward") : node;
}

// One birth in the backward pass as a line. Which firing it was depends on the format.
QString fireText(const QJsonValue &entry, bool torchScript)
{
    if (!entry.isObject())
        return QStringLiteral("none");
    QString func = entry["func"].toString();
    func = func == "norm" ? QStringLiteral("linalg_vector_norm") : func;
    QString text = comparedNode(entry["node"].toString(), torchScript) + " of " + func + " in \"" +
                   entry["module"].toString() + "\" " + entry["arriving"].toString() + " -> " +
                   entry["emitted"].toString() + " " + countsText(entry["emitted_counts"]) + " because " +
                   (entry["why"].isString() ? entry["why"].toString() : QStringLiteral("-"));
    if (!torchScript)
        text += QString(" fire %1").arg(entry["fire"].toInt());
    return text + " " + lineText(entry["source"]);
}

QStringList fireTexts(const QJsonArray &entries, bool torchScript)
{
    QStringList out;
    for (const QJsonValue &entry : entries)
        out.append(fireText(entry, torchScript));
    return out;
}

QStringList healedTexts(const QJsonArray &entries, bool torchScript)
{
    QStringList out;
    for (const QJsonValue &entry : entries)
        out.append(comparedNode(entry["node"].toString(), torchScript) + " of " + entry["func"].toString());
    return out;
}

// Names of the leaves whose gradient came with NaN or Inf.
QStringList badLeaves(const QJsonArray &fires)
{
    QStringList out;
    for (const QJsonValue &fire : fires)
        if (fire["variable"].isString() && fire["arriving"].toString() != "none")
            out.append(fire["variable"].toString());
    out.sort();
    return out;
}

template <class Text>
QStringList texts(const QJsonArray &wanted, const QJsonArray &entries, const Text &text)
{
    QStringList out;
    for (qsizetype i = 0; i < entries.size(); ++i)
        out.append(text(entries[i], i >= wanted.size() || wanted[i]["source"].isObject()));
    return out;
}

} // namespace

// Captures every case of the corpus in both formats through the command line and asks for the origin.
class TestNanCases : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // Whether the smallest singular value of a matrix of rank one is 0, or a sum beside the largest float is
    // infinite, depends on the order in which MKL adds: each processor has its own, this one all of them.
    void initTestCase() { QVERIFY(qputenv("MKL_CBWR", "COMPATIBLE")); }

    void forwardAnswers_data()
    {
        QTest::addColumn<QString>("root");
        QTest::addColumn<QString>("name");
        for (const QString root : {OPSCOPE_CORPUS_DIR "/nan_cases", OPSCOPE_NAN_MORE_DIR})
            for (const QString &name : support::corpusModels(root))
                QTest::newRow(qPrintable(name)) << root << name;
    }
    void forwardAnswers()
    {
        QFETCH(QString, root);
        QFETCH(QString, name);
        const support::CorpusCase nanCase = support::readCorpusCase(root + "/" + name.section('/', 0, 0),
                                                                    name.section('/', 1), "answer.json");
        const QJsonValue wanted = nanCase.expected["forward"];
        const bool torchScript = nanCase.isTorchScript();
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        const CliResult captured = cli(nanCase.captureArguments(work.path(), trace));
        const bool raises = nanCase.expected["raises"].isString();
        QVERIFY2(captured.exitCode == (raises ? 4 : 0), captured.messages.constData());

        const CliResult report = cli({"report", "nonfinite_origin", trace, "--json"});
        QVERIFY2(report.document().isObject(), report.messages.constData());
        const QJsonValue result = report.object()["result"];
        const auto birth = [torchScript](const QJsonValue &entry, bool withSource) {
            return birthText(entry, torchScript, withSource);
        };
        QCOMPARE(texts(wanted["births"].toArray(), result["births"].toArray(), birth),
                 texts({}, wanted["births"].toArray(), birth));
        for (const QString &first : {QStringLiteral("first_inf"), QStringLiteral("first_nan")}) {
            const bool withSource = wanted[first]["source"].isObject();
            QCOMPARE(birth(result[first], withSource), birth(wanted[first], withSource));
        }
        QCOMPARE(texts(wanted["sinks"].toArray(), result["sinks"].toArray(), sinkText),
                 texts({}, wanted["sinks"].toArray(), sinkText));
        if (!torchScript) // which has constants of its own
            QCOMPARE(sourceTexts(result["sources"].toArray()),
                     sourceTexts(nanCase.expected["sources"].toArray()));
        for (qsizetype i = 0; i < wanted["births"].toArray().size(); ++i)
            QCOMPARE(operandTexts(result["births"][i], wanted["births"][i]),
                     operandTexts(wanted["births"][i], wanted["births"][i]));
        const auto why = [](const QJsonArray &entries) {
            QStringList tokens;
            for (const QJsonValue &entry : entries)
                tokens.append(entry["why"].toString());
            return tokens;
        };
        QCOMPARE(why(result["births"].toArray()), why(wanted["births"].toArray()));
        QCOMPARE(result["nan_birth"]["why"].toString(), wanted["nan_birth"]["why"].toString());
    }

    void backwardAnswers_data() { forwardAnswers_data(); }
    void backwardAnswers()
    {
        QFETCH(QString, root);
        QFETCH(QString, name);
        const support::CorpusCase nanCase = support::readCorpusCase(root + "/" + name.section('/', 0, 0),
                                                                    name.section('/', 1), "answer.json");
        const QJsonValue wanted = nanCase.expected["backward"];
        const bool torchScript = nanCase.isTorchScript();
        const bool runs = wanted["verdict"].toString() != "not_run";
        const QTemporaryDir work;
        const QString trace = work.filePath("run.opscope");
        QStringList arguments = nanCase.captureArguments(work.path(), trace);
        if (runs) {
            arguments << "--backward"
                      << "sum";
            const double scale = nanCase.expected["loss"]["scale"].toDouble(1.0);
            if (scale != 1.0)
                arguments << "--loss-scale" << QString::number(scale, 'g', 17);
            for (const QJsonValue &input : nanCase.expected["inputs"]["requires_grad"].toArray())
                arguments << "--input-grad" << input.toString();
        }
        const CliResult captured = cli(arguments);
        const bool raises = nanCase.expected["raises"].isString();
        QVERIFY2(captured.exitCode == (raises ? 4 : 0), captured.messages.constData());

        const CliResult report = cli({"report", "nonfinite_origin", trace, "--json"});
        const QJsonValue backward = report.object().value("result")["backward"];
        QVERIFY2(backward.isObject(), report.messages.constData());
        QCOMPARE(backward["verdict"].toString(), wanted["verdict"].toString());
        QCOMPARE(fireTexts(backward["births"].toArray(), torchScript),
                 fireTexts(wanted["births"].toArray(), torchScript));
        QCOMPARE(healedTexts(backward["healed"].toArray(), torchScript),
                 healedTexts(wanted["healed"].toArray(), torchScript));
        for (const QString &first :
             {QStringLiteral("first_inf"), QStringLiteral("first_nan"), QStringLiteral("nan_birth")})
            QCOMPARE(fireText(backward[first], torchScript), fireText(wanted[first], torchScript));
        if (runs)
            QCOMPARE(badLeaves(backward["fires"].toArray()), badLeaves(nanCase.expected["fires"].toArray()));
    }
};

QTEST_GUILESS_MAIN(TestNanCases)
#include "tst_nan_cases.moc"
