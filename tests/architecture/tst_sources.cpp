// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/source_tree.h"

#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QStandardPaths>
#include <QtTest>

using support::FunctionDefinition;
using support::SourceFile;

namespace {

constexpr int kFunctionLines = 80;
constexpr int kParameters = 6;
constexpr int kSourceLines = 600;
constexpr int kHeaderLines = 250;

QString place(const SourceFile &file, qsizetype offset)
{
    return file.path + ":" + QString::number(file.code.left(offset).count('\n') + 1);
}

QStringList matches(const SourceFile &file, const QString &pattern)
{
    QStringList out;
    for (auto it = QRegularExpression(pattern, QRegularExpression::MultilineOption).globalMatch(file.code);
         it.hasNext();) {
        const auto match = it.next();
        out.append(place(file, match.capturedStart()) + ": " + match.captured().trimmed());
    }
    return out;
}

bool isTestSlot(const FunctionDefinition &function, const QSet<QString> &slotNames)
{
    static const QSet<QString> frame = {"initTestCase", "cleanupTestCase", "init", "cleanup"};
    return slotNames.contains(function.name) && !frame.contains(function.name) &&
           !function.name.endsWith("_data");
}

// Names declared below `private Q_SLOTS:` up to the next access specifier.
QSet<QString> slotNamesOf(const SourceFile &file)
{
    QSet<QString> names;
    static const QRegularExpression section("Q_SLOTS\\s*:(.*?)(\\b(private|public|protected)\\s*:|^};)",
                                            QRegularExpression::DotMatchesEverythingOption |
                                                QRegularExpression::MultilineOption);
    static const QRegularExpression slot("\\bvoid\\s+(\\w+)\\s*\\(");
    for (auto it = section.globalMatch(file.code); it.hasNext();)
        for (auto inner = slot.globalMatch(it.next().captured(1)); inner.hasNext();)
            names.insert(inner.next().captured(1));
    return names;
}

// Functions that assert themselves or call one of the same file that does.
QSet<QString> assertingFunctions(const QList<FunctionDefinition> &functions)
{
    static const QRegularExpression assertion("\\b(QCOMPARE\\w*|QVERIFY\\w*|QTRY_\\w+|QFAIL)\\s*\\(");
    QSet<QString> asserting;
    for (qsizetype before = -1; before != asserting.size();) {
        before = asserting.size();
        for (const FunctionDefinition &function : functions) {
            bool asserts = function.body.contains(assertion);
            for (const QString &name : QSet<QString>(asserting))
                asserts = asserts ||
                          function.body.contains(QRegularExpression("\\b" + name + "\\s*(<[^;(]*>)?\\("));
            if (asserts)
                asserting.insert(function.name);
        }
    }
    return asserting;
}

} // namespace

class TestSources : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_project = support::sourceFiles(OPSCOPE_SOURCE_DIR, {"core", "views", "app"}, {".cpp", ".h"});
        m_tests = support::sourceFiles(OPSCOPE_SOURCE_DIR, {"tests"}, {".cpp", ".h"});
        m_all = support::sourceFiles(OPSCOPE_SOURCE_DIR,
                                     {"core", "views", "app", "tests", "packaging", "resources", "docs"},
                                     {".cpp", ".h", ".c", ".txt", ".cmake", ".sh", ".py", ".md", ".json",
                                      ".in", ".desktop", ".xml", ".map", ".qrc", ".qss"});
        QVERIFY(m_project.size() > 50);
        QVERIFY(m_all.size() > m_project.size());
    }

    void theScannerFindsFunctions()
    {
        SourceFile file;
        file.code = support::withoutCommentsAndStrings(
            "// f(a, b) {\nnamespace x {\ntemplate <class T>\nclass Y : public Z\n{\npublic:\n"
            "    Y(int a, std::map<int, int> b) : m_a{a}, m_b(b)\n    {\n        f(\"}\");\n    }\n"
            "    int g() const { return '{'; }\n};\nint k = 3;\nvoid h(void)\n{\n    if (k) {\n        "
            "g();\n    }\n}\n}\n");
        const QList<FunctionDefinition> found = support::functionDefinitions(file);
        QStringList names;
        for (const FunctionDefinition &function : found)
            names.append(
                QString("%1/%2/%3").arg(function.name).arg(function.parameterCount).arg(function.lineCount));
        QVERIFY2(names.contains("g/0/1"), qPrintable(names.join(' ')));
        QVERIFY2(names.contains("h/0/6"), qPrintable(names.join(' ')));
        QVERIFY2(names.first().startsWith("Y/2/"), qPrintable(names.join(' ')));
    }

    void functionsAreShort()
    {
        QStringList broken;
        for (const SourceFile &file : m_project)
            for (const FunctionDefinition &function : support::functionDefinitions(file))
                if (function.lineCount > kFunctionLines)
                    broken.append(QString("%1:%2: %3 has %4 lines")
                                      .arg(file.path)
                                      .arg(function.firstLine)
                                      .arg(function.name)
                                      .arg(function.lineCount));
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void functionsTakeFewParameters()
    {
        QStringList broken;
        for (const SourceFile &file : m_project)
            for (const FunctionDefinition &function : support::functionDefinitions(file))
                if (function.parameterCount > kParameters)
                    broken.append(QString("%1:%2: %3 takes %4 parameters")
                                      .arg(file.path)
                                      .arg(function.firstLine)
                                      .arg(function.name)
                                      .arg(function.parameterCount));
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void filesAreShort()
    {
        QStringList broken;
        for (const SourceFile &file : m_project)
            if (file.lineCount() > (file.isHeader() ? kHeaderLines : kSourceLines))
                broken.append(QString("%1 has %2 lines").arg(file.path).arg(file.lineCount()));
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void guiThreadNeverWaits_data()
    {
        QTest::addColumn<QString>("pattern");
        QTest::newRow("processEvents") << "\\bprocessEvents\\s*\\(";
        QTest::newRow("waitFor") << "\\bwaitFor\\w*\\s*\\(";
        QTest::newRow("exec") << "(\\.|->|::)\\s*exec\\s*\\(";
        QTest::newRow("event loop") << "\\bQEventLoop\\b";
        QTest::newRow("sleep") << "\\b(msleep|usleep|sleep_for|sleep_until)\\s*\\(|QThread::sleep";
        QTest::newRow("blocking call") << "BlockingQueuedConnection";
        QTest::newRow("keywords") << "^\\s*(signals|public slots|private slots|protected slots)\\s*:|"
                                     "\\bforeach\\s*\\(|\\bQ_FOREACH\\b|\\bforever\\b\\s*\\{";
    }
    void guiThreadNeverWaits()
    {
        QFETCH(QString, pattern);
        QStringList broken;
        for (const SourceFile &file : m_project)
            if (!file.path.startsWith("core/"))
                broken.append(matches(file, pattern));
        const auto isMainLoop = [](const QString &match) {
            return match.startsWith("app/main.cpp:") && match.contains("::exec");
        };
        broken.removeIf(isMainLoop);
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void coreNeitherPrintsNorEnds()
    {
        QStringList broken;
        for (const SourceFile &file : m_project)
            if (file.path.startsWith("core/"))
                broken.append(matches(file,
                                      "\\bstd::(cout|cerr|clog|abort|terminate|exit)\\b|\\bfmt::print\\b|"
                                      "(?<![\\w:.>])(printf|fprintf|puts|abort|exit)\\s*\\("));
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    // LibTorch calls back without a context, so its listeners are found through a pointer of their thread.
    void nothingIsGlobalAndChangeable()
    {
        static const QRegularExpression listener("^core/capture_torch/.*thread_local \\w+ \\*t_\\w+");
        QStringList broken;
        for (const SourceFile &file : m_project)
            broken.append(matches(file, "^\\s*(inline\\s+)?(static|thread_local)\\s+(?!const|inline "
                                        "const|constexpr|constinit const|thread_local const)"
                                        "[\\w:<>,*& ]+?\\b\\w+\\s*(=[^=]|;|\\{[^}\\n]*\\};)"));
        broken.removeIf([](const QString &match) { return match.contains(listener); });
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void filesStartWithTheirLicence()
    {
        QStringList broken;
        for (const SourceFile &file : m_all) {
            if (file.path.startsWith("tests/data/") || file.path.endsWith(".md") ||
                file.path.endsWith(".json") || file.path.endsWith("LICENSE.txt") ||
                file.path.endsWith("OFL.txt") || file.path.endsWith(".qrc") || file.path.endsWith(".map"))
                continue;
            const QString head = file.text.left(file.text.indexOf('\n', file.text.indexOf('\n') + 1) + 1);
            if (!head.contains("SPDX-License-Identifier: "))
                broken.append(file.path);
        }
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void noPathOfAMachineIsNamed()
    {
        static const QRegularExpression machine("(?<![\\w.~$}/])/(work|root|home|farm|tmp)/\\w+");
        QStringList broken;
        for (const SourceFile &file : m_all) {
            if (file.path == "tests/architecture/tst_sources.cpp" || file.path.startsWith("tests/data/"))
                continue;
            for (auto it = machine.globalMatch(file.text); it.hasNext();) {
                const QString path = it.next().captured();
                // Tests make up paths of other people's machines.
                if (!file.path.startsWith("tests/") || !path.startsWith("/home/"))
                    broken.append(file.path + ": " + path);
            }
        }
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void everyTestAsserts()
    {
        QStringList broken;
        for (const SourceFile &file : m_tests) {
            if (!file.path.section('/', -1).startsWith("tst_"))
                continue;
            const QList<FunctionDefinition> functions = support::functionDefinitions(file);
            const QSet<QString> asserting = assertingFunctions(functions);
            const QSet<QString> slotNames = slotNamesOf(file);
            if (slotNames.isEmpty())
                broken.append(file.path + " has no test");
            for (const FunctionDefinition &function : functions)
                if (isTestSlot(function, slotNames) && !asserting.contains(function.name))
                    broken.append(file.path + ": " + function.name + " asserts nothing");
        }
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void noTestIsSwitchedOff()
    {
        QStringList broken;
        for (const SourceFile &file : m_tests)
            broken.append(
                matches(file, "\\bQSKIP\\s*\\(|\\bQEXPECT_FAIL\\s*\\(|\\bQTest::q(Sleep|Wait)\\s*\\("));
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
    }

    void sourcesAreFormatted()
    {
        const QString program = QStandardPaths::findExecutable("clang-format");
        QVERIFY2(!program.isEmpty(), "clang-format is not installed");
        QStringList arguments = {"--dry-run", "-Werror", "--ferror-limit=1"};
        for (const SourceFile &file : m_project + m_tests)
            arguments.append(QStringLiteral(OPSCOPE_SOURCE_DIR "/") + file.path);
        QProcess process;
        process.start(program, arguments);
        QVERIFY(process.waitForFinished(300000));
        static const QRegularExpression name("([^\\s]+):\\d+:\\d+: error");
        QStringList broken;
        for (auto it = name.globalMatch(QString::fromUtf8(process.readAllStandardError())); it.hasNext();)
            broken.append(it.next().captured(1).mid(QString(OPSCOPE_SOURCE_DIR).size() + 1));
        QVERIFY2(broken.isEmpty(), qPrintable("\n" + broken.join("\n")));
        QCOMPARE(process.exitCode(), 0);
    }

private:
    QList<SourceFile> m_project;
    QList<SourceFile> m_tests;
    QList<SourceFile> m_all;
};

QTEST_GUILESS_MAIN(TestSources)
#include "tst_sources.moc"
