// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cli_process.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using support::cli;
using support::CliResult;

namespace {

QString model()
{
    return OPSCOPE_CORPUS_DIR "/models/mlp/model.pt2";
}

QByteArray content(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("unreadable");
}

bool write(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

QString errorMessage(const CliResult &result)
{
    return result.object()["error"].toObject()["message"].toString();
}

QString remedy(const CliResult &result)
{
    return result.object()["error"].toObject()["remedy"].toString();
}

} // namespace

// What commands do with files that are not what they are taken for, and with outputs that cannot be written.
class TestCliFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        QVERIFY(QFile::copy(model(), path("m.pt2")));
    }

    void anOutputThatIsTheModelIsRefused_data()
    {
        QTest::addColumn<QString>("output");
        QTest::newRow("same name") << "m.pt2";
        QTest::newRow("another way to it") << "./sub/../m.pt2";
        QTest::newRow("a link to it") << "link.pt2";
    }
    void anOutputThatIsTheModelIsRefused()
    {
        QFETCH(QString, output);
        QVERIFY(QDir(m_folder->path()).mkdir("sub"));
        QVERIFY(QFile::link(path("m.pt2"), path("link.pt2")));
        const QByteArray before = content(path("m.pt2"));
        for (const QStringList &words :
             {QStringList{"capture", path("m.pt2")}, QStringList{"run", "find_nan", path("m.pt2")}}) {
            const CliResult result = cli(words + QStringList{"-o", path(output), "--json"});
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(errorMessage(result).contains("which is read"), result.out.constData());
            QVERIFY(content(path("m.pt2")) == before);
        }
    }

    // What a file names is read too, and a bundle is all of its folder.
    void anOutputThatIsPartOfWhatIsReadIsRefused()
    {
        QVERIFY(QFile::copy(OPSCOPE_CORPUS_DIR "/models/mlp/x.npy", path("x.npy")));
        QVERIFY(write(path("tree.json"), "{\"args\": [{\"tensor\": \"x.npy\"}]}"));
        const QByteArray before = content(path("x.npy"));
        const CliResult input =
            cli({"capture", path("m.pt2"), "--inputs", path("tree.json"), "-o", path("x.npy"), "--json"});
        QCOMPARE(input.exitCode, 2);
        QVERIFY2(errorMessage(input).endsWith("which is read"), input.out.constData());
        QCOMPARE(content(path("x.npy")), before);

        const QString bundle = OPSCOPE_CORPUS_DIR "/tlspec_versions/2.35.0/masked_attention.tlspec";
        QCOMPARE(shell("cp -r '" + bundle.toUtf8() + "' b.tlspec && chmod -R u+w b.tlspec").exitCode, 0);
        const QByteArray manifest = content(path("b.tlspec/manifest.json"));
        QVERIFY(manifest.contains("version"));
        for (const QStringList &words : {QStringList{"convert", path("b.tlspec")},
                                         QStringList{"graph", path("b.tlspec"), "--format", "svg"}}) {
            const CliResult part = cli(words + QStringList{"-o", path("b.tlspec/manifest.json"), "--json"});
            QCOMPARE(part.exitCode, 2);
            QVERIFY2(errorMessage(part).contains("is a file of"), part.out.constData());
            QCOMPARE(content(path("b.tlspec/manifest.json")), manifest);
        }
    }

    void anOutputThatIsTheTraceIsRefused()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        const QByteArray before = content(path("o.opscope"));
        for (const QStringList &words :
             {QStringList{"convert"}, QStringList{"convert", "--to", "csv"}, QStringList{"repair"},
              QStringList{"graph", "--format", "svg"}, QStringList{"grad-fn", "--format", "dot"}}) {
            const CliResult result = cli(words + QStringList{path("o.opscope"), "-o", path("o.opscope")});
            QCOMPARE(result.exitCode, 2);
            QVERIFY(content(path("o.opscope")) == before);
        }
    }

    // A run that never began must not take away what an earlier one left.
    void aTraceIsKeptUntilANewOneIsWritten()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        const QByteArray before = content(path("o.opscope"));
        QVERIFY(write(path("note.txt"), "not a model\n"));
        QCOMPARE(cli({"capture", path("note.txt"), "-o", path("o.opscope")}).exitCode, 3);
        QVERIFY(content(path("o.opscope")) == before);
        const CliResult refused =
            cli({"capture", path("m.pt2"), "--input", "no/such.npy", "-o", path("o.opscope"), "--json"});
        QVERIFY(refused.exitCode >= 2);
        QVERIFY(refused.object()["trace"].isNull());
        QVERIFY(content(path("o.opscope")) == before);
        QCOMPARE(cli({"capture", path("m.pt2"), "--seed", "5", "-o", path("o.opscope")}).exitCode, 0);
        QVERIFY(content(path("o.opscope")) != before);
    }

    void outputsThatCannotBeWrittenAreTold_data()
    {
        QTest::addColumn<QString>("output");
        QTest::addColumn<QString>("part");
        QTest::newRow("a folder") << "sub"
                                  << "it is a folder";
        QTest::newRow("no folder") << "no/such/out"
                                   << "there is no folder";
        QTest::newRow("below a file") << "m.pt2/out"
                                      << "cannot be written";
        QTest::newRow("a pipe") << "pipe"
                                << "it is a named pipe";
    }
    void outputsThatCannotBeWrittenAreTold()
    {
        QFETCH(QString, output);
        QFETCH(QString, part);
        QVERIFY(QDir(m_folder->path()).mkdir("sub"));
        QCOMPARE(mkfifo(qPrintable(path("pipe")), 0600), 0);
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        const QStringList before = QDir(m_folder->path()).entryList(QDir::AllEntries | QDir::Hidden);
        for (const QStringList &words :
             {QStringList{"capture", path("m.pt2")}, QStringList{"convert", path("o.opscope")},
              QStringList{"convert", path("o.opscope"), "--to", "sqlite"},
              QStringList{"convert", path("o.opscope"), "--to", "json"},
              QStringList{"repair", path("o.opscope")},
              QStringList{"graph", path("o.opscope"), "--format", "png"},
              QStringList{"grad-fn", path("o.opscope"), "--format", "dot"}}) {
            const CliResult result = cli(words + QStringList{"-o", path(output), "--json"});
            QCOMPARE(result.exitCode, 3);
            QVERIFY2(errorMessage(result).contains(part), result.out.constData());
        }
        QVERIFY(QFileInfo(path("sub")).isDir());
        QCOMPARE(QDir(m_folder->path()).entryList(QDir::AllEntries | QDir::Hidden), before);
    }

    void aNameAsLongAsNamesMayBeIsWritten()
    {
        const QString longest = path(QString(255, 'n'));
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", longest}).exitCode, 0);
        QVERIFY(QFile::rename(longest, path("o.opscope")));
        for (const QStringList &words : {QStringList{"convert"}, QStringList{"convert", "--to", "sqlite"},
                                         QStringList{"graph", "--format", "svg"}, QStringList{"repair"}})
            QCOMPARE(cli(words + QStringList{path("o.opscope"), "-o", longest}).exitCode, 0);
    }

    // A symbolic link stays one: the file it names is written.
    void aLinkIsFollowed()
    {
        QVERIFY(QDir(m_folder->path()).mkdir("there"));
        QVERIFY(QFile::link(path("there/out"), path("out")));
        for (const QStringList &words :
             {QStringList{"capture", path("m.pt2")}, QStringList{"convert", "o"}}) {
            QStringList line = words;
            if (line[0] == "convert")
                line[1] = path("o.opscope");
            QCOMPARE(cli(line + QStringList{"-o", path("out")}).exitCode, 0);
            QVERIFY(QFileInfo(path("out")).isSymLink());
            QVERIFY(QFileInfo(path("there/out")).size() > 0);
            QVERIFY(QFile::copy(path("there/out"), path("o.opscope")) || QFile::exists(path("o.opscope")));
        }
    }

    // Also one whose file is not there yet.
    void aLinkToNothingYetIsFollowed()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        for (const char *command : {"convert", "graph"}) {
            QVERIFY(QFile::link("later", path("out.svg")));
            QCOMPARE(cli({command, path("o.opscope"), "-o", path("out.svg")}).exitCode, 0);
            QVERIFY(QFileInfo(path("out.svg")).isSymLink());
            QVERIFY(QFile::remove(path("later")) && QFile::remove(path("out.svg")));
        }
    }

    void whatIsNoModelIsNamedBeforeAnythingStarts_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("remedyPart");
        QTest::newRow("text") << QByteArray("hello\n") << "a text file"
                              << "";
        QTest::newRow("latin text") << QByteArray("Mod\xe8le refus\xe9, r\xe9"
                                                  "essayez\n")
                                    << "a text file"
                                    << "";
        QTest::newRow("page") << QByteArray("\n<!DOCTYPE HTML><html></html>") << "an HTML page"
                              << "again";
        QTest::newRow("pointer") << QByteArray("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")
                                 << "a Git LFS pointer"
                                 << "git lfs pull";
        QTest::newRow("xml") << QByteArray("<?xml version=\"1.0\"?><Error/>") << "an XML document"
                             << "";
        QTest::newRow("all ones") << QByteArray(100, '\xff') << "binary data"
                                  << "";
        QTest::newRow("weights") << content(OPSCOPE_CORPUS_DIR "/state_dicts/sick.safetensors")
                                 << "a safetensors file"
                                 << "param_health";
        QTest::newRow("checkpoint") << content(OPSCOPE_CORPUS_DIR "/state_dicts/sick_zip.pt")
                                    << "a torch.save checkpoint"
                                    << "param_health";
        QTest::newRow("array") << content(OPSCOPE_CORPUS_DIR "/bad/npy_big_endian_fortran.npy")
                               << "a NumPy array"
                               << "--input";
    }
    void whatIsNoModelIsNamedBeforeAnythingStarts()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, what);
        QFETCH(QString, remedyPart);
        QVERIFY(write(path("x.pt"), bytes));
        // Without a worker beside it the program can say this much.
        QVERIFY(QFile::copy(OPSCOPE_BIN_DIR "/opscope-cli", path("opscope-cli")));
        for (const QStringList &words : {QStringList{"capture", path("x.pt"), "-o", path("o.opscope")},
                                         QStringList{"run", "find_nan", path("x.pt")}}) {
            const CliResult result = support::runCli(path("opscope-cli"), words + QStringList{"--json"});
            QCOMPARE(result.exitCode, 3);
            QVERIFY2(errorMessage(result).contains(what), result.out.constData());
            QVERIFY2(remedy(result).contains(remedyPart), result.out.constData());
        }
    }

    void aTraceIsNoModel()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        const CliResult result = cli({"capture", path("o.opscope"), "-o", path("p.opscope"), "--json"});
        QCOMPARE(result.exitCode, 3);
        QVERIFY2(errorMessage(result).contains("an opscope trace"), result.out.constData());
        QVERIFY2(remedy(result).contains("open it"), result.out.constData());
    }

    void thingsThatAreNoFilesAreTold()
    {
        QCOMPARE(mkfifo(qPrintable(path("pipe.pt")), 0600), 0);
        const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        qstrncpy(address.sun_path, qPrintable(path("socket.pt")), sizeof address.sun_path);
        QCOMPARE(bind(listener, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
        for (const char *name : {"pipe.pt", "socket.pt", "/dev/zero"})
            for (const QStringList &words :
                 {QStringList{"capture"}, QStringList{"info"}, QStringList{"report", "param_health"}}) {
                const CliResult result = cli(words + QStringList{path(name), "--json"});
                QCOMPARE(result.exitCode, 3);
                QVERIFY2(errorMessage(result).contains("not a regular file"), result.out.constData());
            }
        close(listener);
    }

    void aMissingWorkerIsTold()
    {
        QVERIFY(QFile::copy(OPSCOPE_BIN_DIR "/opscope-cli", path("opscope-cli")));
        const CliResult result = support::runCli(
            path("opscope-cli"), {"capture", path("m.pt2"), "-o", path("o.opscope"), "--json"});
        QCOMPARE(result.exitCode, 4);
        QVERIFY2(errorMessage(result).contains("capture_worker is not beside"), result.out.constData());
        QVERIFY(!remedy(result).isEmpty());
    }

    // Started with standard streams closed, a program must not take the pipe to its worker for one of them.
    void closedStreamsAreNotMistakenForOthers_data()
    {
        QTest::addColumn<QString>("closed");
        for (const char *closed : {"0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"})
            QTest::newRow(closed) << closed;
    }
    void closedStreamsAreNotMistakenForOthers()
    {
        QFETCH(QString, closed);
        QProcess process;
        process.start("/bin/bash", {"-c", "\"$0\" capture \"$1\" -o \"$2\" --json " + closed,
                                    OPSCOPE_BIN_DIR "/opscope-cli", path("m.pt2"), path("o.opscope")});
        QVERIFY(process.waitForFinished(60000));
        // The trace is whole; whether the answer could be given is another matter.
        QCOMPARE(process.exitCode(), closed.contains("1>&-") ? 3 : 0);
        QCOMPARE(cli({"verify", path("o.opscope")}).exitCode, 0);
    }

    void aMisspelledOptionNamesTheNearest_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("meant");
        QTest::newRow("command") << QStringList{"graph", "x", "--fromat", "svg"} << "--format";
        QTest::newRow("report's own")
            << QStringList{"report", "lineage", "--directoin", "both", "x"} << "--direction";
        QTest::newRow("of all reports") << QStringList{"report", "find_nan", "--crad", "x"} << "--card";
        QTest::newRow("json") << QStringList{"report", "find_nan", "--jsno", "x"} << "--json";
        QTest::newRow("helper's") << QStringList{"run", "check_determinism", "x", "--rnus", "3"} << "--runs";
        QTest::newRow("of all runs") << QStringList{"run", "find_nan", "--sead", "3", "x"} << "--seed";
    }
    void aMisspelledOptionNamesTheNearest()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, meant);
        const CliResult result = cli(words);
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.messages.contains("did you mean " + meant.toUtf8() + "?"),
                 result.messages.constData());
    }

    void namesAreBytes()
    {
        // No name that QString can hold.
        const QByteArray script =
            "cp m.pt2 $'caf\\xe9 \\xff.pt2' && "
            "\"$0\" capture $'caf\\xe9 \\xff.pt2' -o $'\\xfe.opscope' --json >c.json && "
            "\"$0\" verify $'\\xfe.opscope' --replay $'caf\\xe9 \\xff.pt2' && "
            "\"$0\" graph $'\\xfe.opscope' -o $'\\xfe.png' && "
            "\"$0\" info $'caf\\xe9 \\xff.pt2' && ls";
        const CliResult result = shell(script);
        QVERIFY2(result.exitCode == 0, result.messages.constData());
        QVERIFY2(result.out.contains("\xfe.opscope\n") && result.out.contains("\xfe.png\n"),
                 result.out.constData());
        QVERIFY(!QJsonDocument::fromJson(content(path("c.json"))).isNull());
    }

    // Equal values do not make another file the one that the trace is of.
    void aReplayOfAnotherModelIsTold()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        QVERIFY(QFile::copy(path("m.pt2"), path("copy.pt2")));
        QVERIFY(QFile::copy(OPSCOPE_CORPUS_DIR "/models/cnn/model.pt2", path("other.pt2")));
        const CliResult same = cli({"verify", "--replay", path("copy.pt2"), path("o.opscope"), "--json"});
        QVERIFY2(same.exitCode == 0, same.out.constData());
        const QJsonObject known = same.object()["replay"].toObject()["model"].toObject();
        QCOMPARE(known["same"], QJsonValue(true));
        QVERIFY(known["hash"].toString().startsWith("xxh3-128:") && known["hash"] == known["recorded_hash"]);
        const CliResult other = cli({"verify", "--replay", path("other.pt2"), path("o.opscope"), "--json"});
        QVERIFY2(other.exitCode == 1, other.out.constData());
        QCOMPARE(other.object()["replay"].toObject()["model"].toObject()["same"], QJsonValue(false));
        const CliResult words = cli({"verify", "--replay", path("other.pt2"), path("o.opscope")});
        QVERIFY2(words.out.contains("is not the file that the trace was made of"), words.out.constData());
    }

    void aPathThatSqliteDoesNotTakeIsToldAsSuch()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        QString folder = m_folder->path();
        while (folder.size() <= 512)
            folder += "/" + QString(100, 'd');
        QVERIFY(QDir().mkpath(folder));
        const CliResult result =
            cli({"convert", path("o.opscope"), "--to", "sqlite", "-o", folder + "/o.sqlite", "--json"});
        QCOMPARE(result.exitCode, 3);
        QVERIFY2(errorMessage(result).contains("too long for SQLite"), result.out.constData());
        QVERIFY(remedy(result).contains("shorter path"));
        QVERIFY(QDir(folder).isEmpty());
    }

    // A limit on the size of files is as good as a full disk.
    void aFullDiskIsTheCauseThatIsTold()
    {
        const CliResult result =
            shell("ulimit -f 5000; \"$0\" capture '" OPSCOPE_PROBE_MODELS_DIR
                  "/steps.pt' --input 'f32[1,64]=randn' --input 100000 -o o.opscope --json");
        QCOMPARE(result.exitCode, 3);
        QCOMPARE(result.object()["status"].toString(), QString("failed"));
        QVERIFY2(errorMessage(result).contains("File too large"), result.out.constData());
        const CliResult info = cli({"info", path("o.opscope"), "--json"});
        QCOMPARE(info.exitCode, 0);
        QCOMPARE(info.object()["status"].toString(), QString("failed"));
        // The place where it stopped is one that was recorded.
        QVERIFY2(!info.messages.contains("stack "), info.messages.constData());
        QVERIFY(cli({"ops", path("o.opscope")}).out.contains("aten.linear"));
        const CliResult tight = shell("ulimit -f 200; \"$0\" capture m.pt2 -o p.opscope --json");
        QCOMPARE(tight.exitCode, 3);
        QVERIFY2(remedy(tight).contains("ulimit -f"), tight.out.constData());
    }

    void aFullDiskLeavesNoPartOfACopy()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        for (const QByteArray words :
             {"convert o.opscope -o x", "convert o.opscope --to sqlite -o x",
              "convert o.opscope --to json -o x", "repair o.opscope -o x",
              "graph o.opscope --format png -o x", "graph o.opscope --format svg -o x"}) {
            const CliResult result = shell("ulimit -f 1; \"$0\" " + words + " --json");
            QVERIFY2(result.exitCode == 3, (words + result.out).constData());
            QVERIFY2(errorMessage(result).startsWith("x"), result.out.constData());
            QVERIFY2(!errorMessage(result).contains(".part"), result.out.constData());
            QVERIFY2(errorMessage(result).contains("File too large"), result.out.constData());
            QVERIFY2(remedy(result).contains("ulimit -f"), result.out.constData());
            QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden),
                     (QStringList{"m.pt2", "o.opscope"}));
        }
    }

    void aFullDiskKeepsTheTraceOfAnEarlierRun()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        const QByteArray before = content(path("o.opscope"));
        for (const QByteArray words :
             {"capture m.pt2", "run find_nan m.pt2", "run check_determinism m.pt2"}) {
            const CliResult result = shell("ulimit -f 0; \"$0\" " + words + " -o o.opscope --json");
            QVERIFY2(result.exitCode == 3, (words + result.out).constData());
            QVERIFY2(errorMessage(result).contains("File too large"), result.out.constData());
            QCOMPARE(content(path("o.opscope")), before);
            QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden),
                     (QStringList{"m.pt2", "o.opscope"}));
        }
    }

    void aFullStandardOutputSaysWhy()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        for (const QByteArray words : {"ops o.opscope --json", "report audit o.opscope", "--help"}) {
            const CliResult result = shell("\"$0\" " + words + " > /dev/full");
            QVERIFY2(result.exitCode == 3, (words + result.messages).constData());
            QVERIFY2(
                result.messages.contains("standard output could not be written: No space left on device"),
                result.messages.constData());
            QVERIFY(result.messages.contains("make room on the disk"));
        }
    }

    void aReplacedFileKeepsWhoMayReadIt()
    {
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
            QCOMPARE(cli({"graph", path("o.opscope"), "-o", path("o.svg")}).exitCode, 0);
            for (const char *name : {"o.opscope", "o.svg"}) {
                struct stat info = {};
                QCOMPARE(::stat(qPrintable(path(name)), &info), 0);
                QVERIFY2(i == 0 || (info.st_mode & 0777) == 0600, name);
                QCOMPARE(::chmod(qPrintable(path(name)), 0600), 0);
            }
        }
    }

    // Names in files are written by others.
    void aTerminalIsNotSteered()
    {
        const CliResult told = shell("export n=$(printf 'a\\033]0;b\\007\\302\\233c'); "
                                     "script -qec \"'$0' info \\\"\\$n\\\"\" /dev/null");
        QVERIFY2(told.out.contains("No such file"), told.out.constData());
        QVERIFY2(!told.out.contains('\x1b') && !told.out.contains('\x07') && !told.out.contains("\xc2\x9b"),
                 told.out.toHex(' ').constData());
    }

    void wantOfMemoryIsADocument()
    {
        const CliResult run =
            cli({"capture", OPSCOPE_PROBE_MODELS_DIR "/steps.pt", "--input", "f32[1,64]=randn", "--input",
                 "30000", "--save", "none", "-o", path("long.opscope")});
        QVERIFY2(run.exitCode == 0, run.messages.constData());
        const CliResult result = shell("ulimit -d 60000; \"$0\" ops long.opscope --json");
        QCOMPARE(result.exitCode, 3);
        QCOMPARE(result.object()["error"].toObject()["code"].toString(), QString("out_of_memory"));
    }

    // A limit on open files ends in words, never in a program that hangs or is ended by its libraries.
    void fewDescriptorsAreEnoughToSaySo_data()
    {
        QTest::addColumn<int>("most");
        for (const int most : {4, 5, 6, 7, 8, 10, 12})
            QTest::addRow("%d", most) << most;
    }
    void fewDescriptorsAreEnoughToSaySo()
    {
        QFETCH(int, most);
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        // Without what the test itself was started with.
        const QByteArray limit = "for i in 3 4 5 6 7 8 9; do eval \"exec $i>&-\"; done; ulimit -n " +
                                 QByteArray::number(most) + "; exec \"$0\" ";
        for (const QByteArray words :
             {"capture m.pt2 -o x", "graph o.opscope --format png -o x", "graph o.opscope --format svg -o x",
              "convert o.opscope --to sqlite -o x", "report find_nan o.opscope"}) {
            QFile::remove(path("x"));
            const CliResult result = shell(limit + words + " --json");
            QVERIFY2(result.exitCode == 3 || result.exitCode == 0,
                     (words + ": " + QByteArray::number(result.exitCode) + result.messages).constData());
            QVERIFY2(result.exitCode == 0 || errorMessage(result).contains("Too many open files"),
                     result.out.constData());
            QVERIFY2(result.exitCode == 0 || !QFile::exists(path("x")), words.constData());
        }
        QCOMPARE(QDir(m_folder->path()).entryList({"*.part"}, QDir::Files | QDir::Hidden).size(), 0);
    }

    // What desktops tell their programs about displays is nothing to the command line.
    void noPlatformOfTheDesktopIsNeeded()
    {
        QCOMPARE(cli({"capture", path("m.pt2"), "-o", path("o.opscope")}).exitCode, 0);
        for (const char *platform : {"xcb", "wayland", "minimal", "no such platform"}) {
            QFile::remove(path("o.png"));
            const CliResult result =
                shell(QByteArray("unset DISPLAY WAYLAND_DISPLAY; export QT_QPA_PLATFORM='") + platform +
                      "'; \"$0\" graph o.opscope -o o.png");
            QVERIFY2(result.exitCode == 0, (platform + result.messages).constData());
            QVERIFY(content(path("o.png")).startsWith("\x89PNG"));
        }
    }

    void aWorkingFolderThatIsGoneIsSaid()
    {
        const QByteArray gone = "mkdir d && cd d && rmdir ../d && \"$0\" ";
        const QByteArray model = path("m.pt2").toUtf8();
        const CliResult relative = shell(gone + "capture " + model + " -o o.opscope --json");
        QCOMPARE(relative.exitCode, 3);
        QVERIFY2(errorMessage(relative).contains("the working folder is no longer there"),
                 relative.out.constData());
        const CliResult absolute = shell(gone + "capture " + model + " -o " + path("o.opscope").toUtf8());
        QVERIFY2(absolute.exitCode == 0, absolute.messages.constData());
        QCOMPARE(shell(gone + "graph " + path("o.opscope").toUtf8() + " -o g.svg").exitCode, 3);
        QVERIFY(!QFile::exists("/o.opscope"));
    }

    void everyReportAndHelperHasHelp()
    {
        for (const char *command : {"report", "run"}) {
            const QJsonObject list = cli({command, "list", "--json"}).object();
            for (const QJsonValue &each :
                 list[QString(command) == "report" ? "reports" : "helpers"].toArray()) {
                const QString name = each["name"].toString();
                const QByteArray help = cli({command, name, "--help"}).out;
                const QByteArray line = QByteArray("opscope-cli ") + command + ' ' + name.toUtf8();
                QVERIFY2(help.startsWith("usage: " + line), help.constData());
                QVERIFY2(help.contains("example:\n  " + line), help.constData());
                for (const QJsonValue &option : each["options"].toArray())
                    QVERIFY2(help.contains("--" + option["name"].toString().replace('_', '-').toUtf8()),
                             help.constData());
            }
        }
    }

private:
    // SCRIPT in the folder of the test; $0 is the program.
    CliResult shell(const QByteArray &script) const
    {
        const QString line = QString::fromLatin1("cd '" + m_folder->path().toUtf8() + "' && " + script);
        return support::runCli("/bin/bash", {"-c", line, OPSCOPE_BIN_DIR "/opscope-cli"});
    }
    QString path(const QString &name) const { return name.startsWith('/') ? name : m_folder->filePath(name); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestCliFiles)
#include "tst_cli_files.moc"
