// SPDX-License-Identifier: GPL-3.0-or-later
// opscope-cli doctor, grad-fn and graph, with and without their worker programs.
#include "tests/support/cli_process.h"
#include "tests/support/file_content.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using support::cli;
using support::CliResult;

namespace {

const QString kProgram = QStringLiteral(OPSCOPE_BIN_DIR "/opscope-cli");

QString model(const QString &name)
{
    return OPSCOPE_CORPUS_DIR "/models/" + name;
}

QString golden(const QString &name)
{
    return OPSCOPE_GOLDENS_DIR "/" + name + "/trace.tlspec";
}

QJsonObject check(const CliResult &result, const QString &key)
{
    for (const QJsonValue &row : result.object()["result"].toObject()["checks"].toArray())
        if (row.toObject()["key"].toString() == key)
            return row.toObject();
    return {};
}

QString state(const CliResult &result, const QString &key)
{
    const QJsonObject row = check(result, key);
    return row["status"].toString() + "/" + row["severity"].toString();
}

// The command line alone in a folder, without the programs that belong beside it.
QString lonelyProgram(const QTemporaryDir &folder)
{
    const QString path = folder.filePath("opscope-cli");
    QFile::copy(kProgram, path);
    QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

void addScript(const QTemporaryDir &folder, const QString &name, const QByteArray &script)
{
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n" + script + "\n");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

} // namespace

class TestDoctorCommand : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theInstallationIsChecked()
    {
        const CliResult result = cli({"doctor", "--json"});
        QVERIFY2(result.exitCode == 0, result.out.constData());
        QCOMPARE(result.object()["report_type"].toString(), QString("doctor"));
        const QJsonObject answer = result.object()["result"].toObject();
        QVERIFY(answer["model_type"].isNull());
        QVERIFY(!answer["torch_version"].toString().isEmpty());
        QSet<QString> keys;
        for (const QJsonValue &row : answer["checks"].toArray()) {
            const QString key = row.toObject()["key"].toString();
            QVERIFY2(!keys.contains(key), qPrintable(key));
            keys.insert(key);
        }
        for (const char *key : {"pytorch", "torch_capabilities", "torch_wrapper_bindings", "mechanical_belt",
                                "cuda", "graphviz", "safetensors", "extras", "model_fingerprint", "cpu",
                                "threads", "determinism", "fonts", "display", "worker_handshake", "sandbox"})
            QVERIFY2(keys.contains(key), key);
        QCOMPARE(state(result, "torch_wrapper_bindings"), QString("pass/ok"));
        QCOMPARE(state(result, "worker_handshake"), QString("pass/ok"));
        QCOMPARE(state(result, "mechanical_belt"), QString("scope/info"));
        QVERIFY(answer["capability_snapshot"].toObject()["HAS_DISPATCH_MODE"].toBool());
        QVERIFY(answer["capability_snapshot"].toObject()["HAS_GRAPHVIZ"].toBool());
    }

    void theTableIsForPeople()
    {
        const CliResult table = cli({"doctor"});
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.startsWith("Row"));
        const CliResult markdown = cli({"doctor", "--markdown"});
        QVERIFY(markdown.out.contains("| Row | Status | Severity | Detected | Details | Suggestion |"));
        const CliResult snapshot = cli({"report", "capability_snapshot", "--json"});
        QCOMPARE(snapshot.exitCode, 0);
        QVERIFY(snapshot.object()["result"].toObject()["HAS_NODE_POST_HOOK"].toBool());
    }

    void aModelIsReadAndNotRun()
    {
        const CliResult sound = cli({"doctor", model("mlp/model.pt2"), "--json"});
        QCOMPARE(sound.exitCode, 0);
        QCOMPARE(state(sound, "missing_ops"), QString("pass/ok"));
        QVERIFY(check(sound, "sizes")["details"].toString().contains("bytes"));
        QVERIFY(!sound.object()["result"].toObject()["model_type"].toString().isEmpty());
        QCOMPARE(state(sound, "fsdp"), QString("scope/info"));

        const CliResult script = cli({"doctor", model("mlp/model.pt"), "--json"});
        QCOMPARE(state(script, "torchscript_module"), QString("scope/warning"));

        for (const char *name : {"custom_op/model.pt2", "custom_op/model.pt"}) {
            const CliResult missing = cli({"doctor", model(name), "--json"});
            QCOMPARE(missing.exitCode, 1);
            QCOMPARE(state(missing, "missing_ops"), QString("known_broken/error"));
            QVERIFY2(check(missing, "missing_ops")["details"].toString().contains("fused_bias_act"), name);
        }
    }

    void inputsAreLookedAt()
    {
        const CliResult wrong =
            cli({"doctor", model("mlp/model.pt2"), "--input", "f32[1,2,3,4,5]", "--json"});
        QCOMPARE(wrong.exitCode, 1);
        QCOMPARE(state(wrong, "inputs"), QString("known_broken/error"));
        const CliResult nothing = cli({"doctor", "--input", "f32[2]", "--json"});
        QCOMPARE(nothing.exitCode, 2);
    }

    void aPictureIsAnInput()
    {
        const QTemporaryDir folder;
        // Two grey pixels.
        QFile picture(folder.filePath("two.pgm"));
        QVERIFY(picture.open(QIODevice::WriteOnly));
        picture.write(QByteArray("P5 2 1 255\n") + "\x10\x20");
        picture.close();
        const CliResult result = cli({"doctor", OPSCOPE_CORPUS_DIR "/models/mlp/model.pt2", "--input",
                                      picture.fileName() + "?resize=0&crop=0&norm=none", "--json"});
        QVERIFY2(!result.out.contains("not decoded here"), result.out.constData());
        QVERIFY2(result.out.contains("got float32[1,3,1,2]"), result.out.constData());
    }

    void aFileThatIsNoModelIsARow()
    {
        const CliResult result = cli({"doctor", OPSCOPE_SOURCE_DIR "/README.md", "--json"});
        QCOMPARE(result.exitCode, 1);
        QCOMPARE(state(result, "model_readable"), QString("known_broken/error"));
        QCOMPARE(state(result, "pytorch"), QString("pass/ok"));
    }

    void missingWorkersAreRows()
    {
        const QTemporaryDir folder;
        const QString program = lonelyProgram(folder);
        const CliResult missing = support::runCli(program, {"doctor", "--json"});
        QCOMPARE(missing.exitCode, 1);
        QCOMPARE(state(missing, "pytorch"), QString("known_broken/error"));
        QCOMPARE(state(missing, "graphviz"), QString("scope/info"));
        QVERIFY(missing.object()["result"].toObject()["torch_version"].isNull());

        addScript(folder, "capture_worker", "echo the library is not there >&2; exit 7");
        addScript(folder, "layout_worker", "sleep 60");
        const CliResult dead = support::runCli(program, {"doctor", "--json"});
        QCOMPARE(dead.exitCode, 1);
        QVERIFY2(check(dead, "pytorch")["details"].toString().contains("code 7: the library is not there"),
                 dead.out.constData());
        QVERIFY2(check(dead, "graphviz")["details"].toString().contains("silent"), dead.out.constData());
    }

    void theAutogradGraphIsDrawn()
    {
        const QTemporaryDir folder;
        const QString trace = golden("48_shared_module_thrice");
        const CliResult svg = cli({"grad-fn", trace, "-o", folder.filePath("g.svg"), "--json"});
        QVERIFY2(svg.exitCode == 0, svg.messages.constData());
        QVERIFY(svg.object()["n_nodes"].toInt() > 5);
        QVERIFY(svg.object()["simplified"].isNull());
        QVERIFY(support::fileContent(folder.filePath("g.svg")).contains("AddmmBackward0"));
        QVERIFY(support::fileContent(folder.filePath("g.svg")).contains("structure only"));
        QCOMPARE(cli({"grad-fn", trace, "--format", "png", "-o", folder.filePath("g")}).exitCode, 0);
        QVERIFY(support::fileContent(folder.filePath("g")).startsWith("\x89PNG"));
        QCOMPARE(cli({"grad-fn", trace, "-o", folder.filePath("g.dot")}).exitCode, 0);
        QVERIFY(support::fileContent(folder.filePath("g.dot")).startsWith("digraph grad_fn"));

        const CliResult cut =
            cli({"grad-fn", trace, "-o", folder.filePath("c.svg"), "--max-nodes", "3", "--json"});
        QVERIFY(cut.object()["truncated"].toBool());
        QVERIFY(support::fileContent(folder.filePath("c.svg")).contains("cut at"));
    }

    void withoutAGraphItIsRefused()
    {
        const QTemporaryDir folder;
        const CliResult result =
            cli({"grad-fn", golden("01_zero_over_zero"), "-o", folder.filePath("g.svg"), "--json"});
        QCOMPARE(result.exitCode, 2);
        const QJsonObject error = result.object()["error"].toObject();
        QCOMPARE(error["type"].toString(), QString("GradFnWalkError"));
        QCOMPARE(error["code"].toString(), QString("grad_fn_walk_no_graph"));
        QVERIFY(!QFile::exists(folder.filePath("g.svg")));
    }

    void picturesDoWithoutTheWorker()
    {
        const QTemporaryDir folder;
        const QString program = lonelyProgram(folder);
        const QString trace = golden("48_shared_module_thrice");
        for (const QString &command : {QStringLiteral("graph"), QStringLiteral("grad-fn")}) {
            const QString picture = folder.filePath(command + ".svg");
            const CliResult result = support::runCli(program, {command, trace, "-o", picture});
            QVERIFY2(result.exitCode == 0, result.messages.constData());
            QVERIFY2(result.messages.contains("simplified"), result.messages.constData());
            QVERIFY(support::fileContent(picture).contains("<svg"));
        }
    }
};

QTEST_GUILESS_MAIN(TestDoctorCommand)
#include "tst_doctor_command.moc"
