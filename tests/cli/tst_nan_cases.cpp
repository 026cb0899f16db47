// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cli_process.h"
#include "tests/support/corpus_case.h"

#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>

using support::CliResult;

namespace {

CliResult cli(const QStringList &arguments)
{
    return support::runCli(OPSCOPE_BIN_DIR "/opscope-cli", arguments);
}

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
    void forwardAnswers_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString &name : support::corpusModels(OPSCOPE_CORPUS_DIR "/nan_cases"))
            QTest::newRow(qPrintable(name)) << name;
    }
    void forwardAnswers()
    {
        QFETCH(QString, name);
        const support::CorpusCase nanCase = support::readCorpusCase(
            OPSCOPE_CORPUS_DIR "/nan_cases/" + name.section('/', 0, 0), name.section('/', 1), "answer.json");
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
    }
};

QTEST_GUILESS_MAIN(TestNanCases)
#include "tst_nan_cases.moc"
