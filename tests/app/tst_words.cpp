// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/field_words.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

// What the window says, read from its sources: the words of tr() and words().
class TestWords : public QObject
{
    Q_OBJECT

private:
    struct Said
    {
        QString where;
        QString text;
    };
    std::vector<Said> m_said;

private Q_SLOTS:
    void initTestCase()
    {
        static const QRegularExpression kCall(
            QStringLiteral("\\b(?:tr|words)\\(\\s*\"((?:[^\"\\\\]|\\\\.)*)\""));
        for (const char *folder : {"app", "views"}) {
            QDirIterator files(QStringLiteral(OPSCOPE_SOURCE_DIR "/") + QLatin1String(folder),
                               {"*.cpp", "*.h"}, QDir::Files, QDirIterator::Subdirectories);
            while (files.hasNext()) {
                QFile file(files.next());
                if (file.fileName().contains("/app/cli/") || file.fileName().contains("/app/workers/"))
                    continue;
                QVERIFY(file.open(QIODevice::ReadOnly));
                auto calls = kCall.globalMatch(QString::fromUtf8(file.readAll()));
                while (calls.hasNext())
                    m_said.push_back({QFileInfo(file.fileName()).fileName(), calls.next().captured(1)});
            }
        }
        QVERIFY(m_said.size() > 300);
    }

    // Fact first: a word that only blames needs an object and a reason, so it is not used at all.
    void nothingIsBlamedWithoutAReason()
    {
        static const QRegularExpression kBlame(QStringLiteral("\\b(errors?|invalid|failed|oops|please)\\b"),
                                               QRegularExpression::CaseInsensitiveOption);
        QStringList wrong;
        for (const Said &said : m_said)
            if (kBlame.match(said.text).hasMatch() && !said.text.contains("%1"))
                wrong.push_back(said.where + ": " + said.text);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    // One and several have words of their own (views::countedText); no translation makes %n of them.
    void numbersHaveTheirWords()
    {
        static const QRegularExpression kBracket(QStringLiteral("\\(s\\)|%n\\b"));
        QStringList wrong;
        for (const Said &said : m_said)
            if (kBracket.match(said.text).hasMatch())
                wrong.push_back(said.where + ": " + said.text);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void nothingIsShouted()
    {
        QStringList wrong;
        for (const Said &said : m_said)
            if (said.text.contains(QRegularExpression("\\w!")))
                wrong.push_back(said.where + ": " + said.text);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    // Ops are ops; a node is of autograd or of the exported graph.
    void anOperationIsAnOp()
    {
        static const QRegularExpression kNode(QStringLiteral("\\bnodes?\\b"),
                                              QRegularExpression::CaseInsensitiveOption);
        QStringList wrong;
        for (const Said &said : m_said)
            if (kNode.match(said.text).hasMatch() &&
                !said.text.contains(
                    QRegularExpression("grad|Graph node", QRegularExpression::CaseInsensitiveOption)))
                wrong.push_back(said.where + ": " + said.text);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    // Remedies name options of the command line; the window has fields.
    void optionsAreToldAsFields_data()
    {
        QTest::addColumn<QString>("told");
        QTest::addColumn<QString>("words");
        QTest::newRow("an input") << "give it with --input, for example --input f32[1,3,224,224]"
                                  << "give it under Inputs, for example f32[1,3,224,224]";
        QTest::newRow("an output") << "choose another output with --backward RULE:PATH, or let an input "
                                      "require a gradient with --input-grad NAME"
                                   << "choose another output under Backward, or let an input require a "
                                      "gradient under input gradients";
        QTest::newRow("one rule") << "or choose another output with --backward sum:PATH"
                                  << "or choose another output under Backward";
        QTest::newRow("aside") << "raise the memory limit (--memory-limit): LibTorch alone needs some"
                               << "raise the memory limit: LibTorch alone needs some";
        QTest::newRow("none") << "a -- b, minus -1"
                              << "a -- b, minus -1";
        QTest::newRow("no field") << "see --device cpu"
                                  << "see --device cpu";
    }
    void optionsAreToldAsFields()
    {
        QFETCH(QString, told);
        QFETCH(QString, words);
        QCOMPARE(app::inWindowWords(told), words);
    }
};

QTEST_APPLESS_MAIN(TestWords)
#include "tst_words.moc"
