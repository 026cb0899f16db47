// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/source_tree.h"

#include <QHash>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

using support::SourceFile;

namespace {

// Folder -> the project's folders it may include besides itself: the table of ARCHITECTURE.md.
const QHash<QString, QStringList> &layers()
{
    static const QHash<QString, QStringList> table = {
        {"core/base", {}},
        {"core/trace", {"core/base"}},
        {"core/ipc", {"core/base"}},
        {"core/draw", {"core/base"}},
        {"core/layout", {"core/base"}},
        {"core/io", {"core/base", "core/trace"}},
        {"core/analysis", {"core/base", "core/trace"}},
        {"core/graph", {"core/base", "core/trace", "core/draw", "core/layout"}},
        {"core/capture", {"core/base", "core/trace", "core/io", "core/ipc", "core/analysis"}},
        {"core/capture_torch",
         {"core/base", "core/trace", "core/io", "core/ipc", "core/capture", "core/analysis"}},
        {"core/layout_graphviz", {"core/base", "core/layout"}},
        {"views/render", {"core/base", "core/draw"}},
    };
    return table;
}

const QStringList kPureCore = {"core/base", "core/trace",    "core/ipc",   "core/draw",   "core/layout",
                               "core/io",   "core/analysis", "core/graph", "core/capture"};

// Where the rules are broader than a list of folders.
bool mayInclude(const QString &from, const QString &to)
{
    if (from == to)
        return true;
    if (layers().contains(from))
        return layers()[from].contains(to);
    const bool pureCore = kPureCore.contains(to);
    if (from == "views/base")
        return pureCore || to == "views/render";
    if (from == "views/canvas")
        return pureCore || to == "views/base" || to == "views/render";
    if (from.startsWith("views/"))
        return pureCore || to == "views/base" || to == "views/canvas" || to == "views/render";
    if (from == "app/installation")
        return pureCore || to == "views/render";
    if (from == "app/cli")
        return pureCore || to == "views/render" || to == "app/installation";
    if (from == "app/workers")
        return pureCore || to == "core/capture_torch" || to == "core/layout_graphviz";
    if (from == "app" || from.startsWith("app/"))
        return pureCore || to.startsWith("views/") ||
               (to.startsWith("app") && to != "app/cli" && to != "app/workers");
    return false;
}

bool isTorchHeader(const QString &include)
{
    static const QRegularExpression torch("^(torch|ATen|c10|caffe2)/");
    return torch.match(include).hasMatch();
}

bool isQtHeader(const QString &include)
{
    static const QRegularExpression qt("^(Qt?[A-Z]\\w*(/.*)?|Qt\\w*/.*|Qsci/.*|qcustomplot\\.h)$");
    return qt.match(include).hasMatch();
}

bool isGraphvizHeader(const QString &include)
{
    static const QRegularExpression graphviz("^(graphviz/.*|gvc\\.h|cgraph\\.h)$");
    return graphviz.match(include).hasMatch();
}

bool isProjectHeader(const QString &include)
{
    static const QRegularExpression project("^(core|views|app|tests)/");
    return project.match(include).hasMatch();
}

} // namespace

class TestLayers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_files = support::sourceFiles(OPSCOPE_SOURCE_DIR, {"core", "views", "app", "tests"}, {".cpp", ".h"});
        for (const SourceFile &file : m_files)
            m_byPath.insert(file.path, &file);
        QVERIFY(m_files.size() > 50);
    }

    void foldersIncludeWhatTheTableAllows()
    {
        QStringList broken;
        for (const SourceFile &file : m_files)
            for (const QString &include : file.includes())
                if (!file.path.startsWith("tests/") && isProjectHeader(include) &&
                    !mayInclude(file.folder(), include.section('/', 0, -2)))
                    broken.append(file.path + " includes " + include);
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void everyFolderOfCoreIsInTheTable()
    {
        QSet<QString> unknown;
        for (const SourceFile &file : m_files)
            if (file.path.startsWith("core/") && !layers().contains(file.folder()))
                unknown.insert(file.folder());
        QVERIFY2(unknown.isEmpty(), qPrintable(unknown.values().join(" ")));
    }

    void theTableHasNoCycle()
    {
        QStringList order = layers().keys();
        QStringList done;
        for (bool moved = true; moved;) {
            moved = false;
            for (const QString &folder : QStringList(order)) {
                const QStringList &needs = layers()[folder];
                const auto isDone = [&done](const QString &needed) { return done.contains(needed); };
                if (!std::all_of(needs.begin(), needs.end(), isDone))
                    continue;
                done.append(folder);
                order.removeAll(folder);
                moved = true;
            }
        }
        QVERIFY2(order.isEmpty(), qPrintable("\n" + order.join("\n")));
    }

    void projectIncludesExist()
    {
        QStringList missing;
        for (const SourceFile &file : m_files)
            for (const QString &include : file.includes())
                if (isProjectHeader(include) && !m_byPath.contains(include))
                    missing.append(file.path + " includes " + include);
        QVERIFY2(missing.isEmpty(), qPrintable("\n" + missing.join("\n")));
    }

    void coreKnowsNoLibraryOfThePrograms()
    {
        QStringList broken;
        for (const SourceFile &file : m_files) {
            if (!kPureCore.contains(file.folder()))
                continue;
            for (const QString &include : file.includes())
                if (isTorchHeader(include) || isQtHeader(include) || isGraphvizHeader(include))
                    broken.append(file.path + " includes " + include);
        }
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void libTorchStaysInItsLibrary()
    {
        QStringList broken;
        for (const SourceFile &file : m_files)
            for (const QString &include : file.includes())
                if (isTorchHeader(include) && file.folder() != "core/capture_torch" &&
                    file.path != "app/workers/capture_worker.cpp" && file.folder() != "tests/capture_torch" &&
                    file.path != "tests/bench/bench_capture.cpp" && file.path != "tests/bench/bench_live.cpp")
                    broken.append(file.path + " includes " + include);
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void graphvizStaysInItsLibrary()
    {
        QStringList broken;
        for (const SourceFile &file : m_files)
            for (const QString &include : file.includes())
                if (isGraphvizHeader(include) && file.folder() != "core/layout_graphviz")
                    broken.append(file.path + " includes " + include);
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void noFileSeesQtAndLibTorch()
    {
        QStringList broken;
        for (const SourceFile &file : m_files)
            if (file.path.endsWith(".cpp") && !file.path.startsWith("tests/") && sees(file, isTorchHeader) &&
                sees(file, isQtHeader))
                broken.append(file.path);
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    // The files that see the big headers take over ten seconds and a gigabyte to compile; most of ours see
    // ATen/core only (about five seconds). Two readers, two drivers, recorder,
    // saver, autograd, reruns, shape guesses, counters, the watch and the queue of find_nan.
    void fewFilesCompileAgainstLibTorch()
    {
        QStringList torch;
        for (const SourceFile &file : m_files)
            if (file.path.endsWith(".cpp") && !file.path.startsWith("tests/") && sees(file, isTorchHeader))
                torch.append(file.path);
        QVERIFY2(torch.size() <= 64, qPrintable(QString("%1: ").arg(torch.size()) + torch.join(' ')));
    }

private:
    // True when FILE or a project header it reaches includes a header for which PREDICATE holds.
    bool sees(const SourceFile &file, bool (*predicate)(const QString &)) const
    {
        QSet<QString> visited = {file.path};
        QList<const SourceFile *> waiting = {&file};
        while (!waiting.isEmpty()) {
            for (const QString &include : waiting.takeLast()->includes()) {
                if (predicate(include))
                    return true;
                if (m_byPath.contains(include) && !visited.contains(include)) {
                    visited.insert(include);
                    waiting.append(m_byPath[include]);
                }
            }
        }
        return false;
    }

    QList<SourceFile> m_files;
    QHash<QString, const SourceFile *> m_byPath;
};

QTEST_APPLESS_MAIN(TestLayers)
#include "tst_layers.moc"
