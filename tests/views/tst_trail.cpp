// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/trace_text.h"
#include "tests/support/widget_texts.h"
#include "views/base/nan_trail.h"
#include "views/base/trace_facts.h"
#include "views/trail/trail_pane.h"
#include "views/why/why_pane.h"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

using core::NodeState;
using views::TrailStep;

namespace {

// A NaN out of finite values, carried by two ops, swallowed by one, reaching an output; and a backward pass
// in which one function drops what arrives bad.
const char *const kText = "input x:f32[4]=0,1,2,3\n"
                          "log x -> a:f32[4]=-inf,0,0.7,1.1 @model.py:11 in h\n"
                          "sub a a -> b:f32[4]=nan,0,0,0 @model.py:12 in h\n"
                          "relu b -> c:f32[4]=nan,0,0,0 @model.py:13 in h\n"
                          "mul c c -> d:f32[4]=nan,0,0,0 @model.py:14 in h\n"
                          "argmax d -> i:i64[]=0 @model.py:15\n"
                          "sum d -> s:f32[]=nan @model.py:16\n"
                          "output s\n"
                          "node n2 AccumulateGrad\n"
                          "node n1 MulBackward0 next=n2 of d\n"
                          "node n0 SumBackward0 next=n1 of s\n"
                          "backward loss=s roots=n0\n"
                          "fire n0 arriving=f32[]=1! emitted=f32[4]=nan,1,1,1!\n"
                          "fire n1 arriving=f32[4]=nan,1,1,1! emitted=f32[4]=1,1,1,1!\n"
                          "fire n2 arriving=f32[4]=1,1,1,1! emitted=none\n";

// The forward is finite; the slope of the root at zero is not.
const char *const kRootText = "input x:f32[2]=0,3\n"
                              "sqrt x -> r:f32[2]=0,1.7 @model.py:9\n"
                              "sum r -> s:f32[]=1.7 @model.py:10\n"
                              "output s\n"
                              "node n2 AccumulateGrad leaf=x\n"
                              "node n1 SqrtBackward0 next=n2 of r\n"
                              "node n0 SumBackward0 next=n1 of s\n"
                              "backward loss=s roots=n0\n"
                              "fire n0 arriving=f32[]=1 emitted=f32[2]=1,1\n"
                              "fire n1 arriving=f32[2]=1,1 emitted=f32[2]=inf,0.3\n"
                              "fire n2 arriving=f32[2]=inf,0.3 emitted=none\n";

const char *const kCleanText = "input x:f32[2]=1,2\nrelu x -> r:f32[2]=1,2 @model.py:20 in h\noutput r\n";

} // namespace

class TestTrail : public QObject
{
    Q_OBJECT

private:
    views::Theme m_theme;
    views::TraceSelection m_selection;
    std::shared_ptr<const core::Trace> m_trace;
    std::shared_ptr<const views::TraceFacts> m_facts;
    std::shared_ptr<const views::NanTrail> m_trail;

    void setTrace(const char *text)
    {
        m_trace = tests::traceFromText(text);
        m_selection.setTrace(m_trace);
        m_facts = *views::makeTraceFacts(m_trace, core::JobContext());
        m_trail = *views::makeNanTrail(m_trace, m_facts->scan, m_facts->marks, core::JobContext());
    }
    core::OpId op(std::string_view label) const { return tests::opNamed(*m_trace, label); }
    const TrailStep *step(NodeState state, int pass = 0) const
    {
        for (const TrailStep &each : m_trail->steps)
            if (each.state == state && each.pass == pass)
                return &each;
        return nullptr;
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }

    void tellsTheWholeWay()
    {
        setTrace(kText);
        const auto &steps = m_trail->steps;
        QVERIFY(!steps.empty());
        QVERIFY(step(NodeState::origin) != nullptr);
        const auto originOf = [&](const char *label) {
            return std::any_of(steps.begin(), steps.end(), [&](const TrailStep &each) {
                return each.state == NodeState::origin && each.pass == 0 && each.op == op(label);
            });
        };
        QVERIFY(originOf("log_"));
        QVERIFY(originOf("sub_"));
        const TrailStep *carried = step(NodeState::propagated);
        QVERIFY(carried != nullptr);
        QCOMPARE(carried->op, op("relu_"));
        QVERIFY2(carried->title.contains("ops"), qPrintable(carried->title));
        QVERIFY(step(NodeState::sink) != nullptr);
        QCOMPARE(step(NodeState::sink)->op, op("argmax_"));
        QVERIFY(step(NodeState::reached) != nullptr);
        // Forward first, in execution order.
        for (std::size_t i = 1; i < steps.size(); ++i)
            QVERIFY(steps[i - 1].pass <= steps[i].pass);
        QVERIFY(step(NodeState::origin, 1) != nullptr);
        QVERIFY(step(NodeState::healed, 1) != nullptr);
        QCOMPARE(step(NodeState::healed, 1)->name, QStringLiteral("MulBackward0"));
    }

    void aRowSelectsOnceAndFollows()
    {
        setTrace(kText);
        views::TrailPane pane({m_theme, m_selection});
        pane.setFacts(m_facts);
        pane.setTrail(m_trail);
        pane.resize(300, 600);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QCOMPARE(pane.list().count(), static_cast<int>(m_trail->steps.size()));
        QSignalSpy changed(&m_selection, &views::TraceSelection::changed);
        pane.list().setFocus();
        QTest::mouseClick(pane.list().viewport(), Qt::LeftButton, {},
                          pane.list().visualItemRect(pane.list().item(0)).center());
        QCOMPARE(changed.count(), 1);
        QCOMPARE(m_selection.op(), m_trail->steps[0].op);
        QTest::keyClick(&pane.list(), Qt::Key_Down);
        QCOMPARE(changed.count(), 2);
        QCOMPARE(m_selection.op(), m_trail->steps[1].op);
        // A selection made elsewhere moves the row and echoes nothing.
        m_selection.selectOp(op("argmax_"));
        QCOMPARE(changed.count(), 3);
        QCOMPARE(pane.list().currentItem()->text(), step(NodeState::sink)->title);
        // The op of no step: no row is current.
        m_selection.selectOp(op("mul_"));
        QCOMPARE(pane.list().currentRow(), -1);
        // Into the backward pass.
        m_selection.select(views::GradItem{step(NodeState::healed, 1)->node});
        QCOMPARE(pane.list().currentItem()->text(), step(NodeState::healed, 1)->title);
    }

    // Where a gradient is kept nothing leaves it: that is the end of the story and no cure.
    void theGradientThatIsKeptIsNoCure()
    {
        setTrace(kRootText);
        QVERIFY(step(NodeState::healed, 1) == nullptr);
        const TrailStep *end = step(NodeState::reached, 1);
        QVERIFY(end != nullptr);
        QCOMPARE(end->title, QStringLiteral("Reaches the gradient of"));
        QCOMPARE(end->name, QStringLiteral("x"));
        QCOMPARE(end->value, QStringLiteral("1"));
        QCOMPARE(m_trail->badLeaves.size(), 1U);
        views::WhyPane pane({m_theme, m_selection});
        pane.setFacts(m_facts);
        pane.setTrail(m_trail);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        m_selection.select(views::GradItem{end->node});
        QVERIFY2(!support::widgetTexts(pane).filter("Bad values end as this gradient").isEmpty(),
                 qPrintable(support::widgetTexts(pane).join('|')));
    }

    // An op whose backward makes NaN or Inf says the rule, what it did to which gradient, and what helps; all
    // of it can be copied.
    void whyOfAnOpTellsItsBackward()
    {
        setTrace(kRootText);
        views::WhyPane pane({m_theme, m_selection});
        pane.setFacts(m_facts);
        pane.setTrail(m_trail);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        m_selection.selectOp(op("sqrt_"));
        const views::WhyWords words = views::whyWords("sqrt_gradient_at_zero");
        const QStringList texts = support::widgetTexts(pane);
        QVERIFY2(texts.contains(words.rule), qPrintable(texts.join('|')));
        QVERIFY(texts.contains(words.remedy));
        QVERIFY(texts.contains(QStringLiteral("GRADIENTS THAT CAME OUT BAD")));
        const QString answer = pane.answerText();
        for (const QString &part : {QStringLiteral("sqrt_"), words.rule, words.formula, words.remedy,
                                    QStringLiteral("gradient of x: 1 bad"), QStringLiteral("model.py:9")})
            QVERIFY2(answer.contains(part), qPrintable(part + " in " + answer));
        auto *copy = qobject_cast<QAbstractButton *>(pane.headerControls().front());
        QVERIFY(copy != nullptr && copy->isEnabled());
        copy->click();
        QCOMPARE(QApplication::clipboard()->text(), answer);
    }

    // What came while a pane was hidden is there when it comes back, although the trace was shown before.
    void newsOfAHiddenPaneAreNotLost()
    {
        views::TrailPane pane({m_theme, m_selection});
        views::WhyPane why({m_theme, m_selection});
        pane.show();
        why.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QVERIFY(QTest::qWaitForWindowExposed(&why));
        setTrace(kText);
        m_selection.selectOp(op("log_"));
        QVERIFY(!support::widgetTexts(pane).filter("Looking for NaN").isEmpty());
        pane.hide();
        why.hide();
        pane.setFacts(m_facts);
        pane.setTrail(m_trail);
        why.setFacts(m_facts);
        why.setTrail(m_trail);
        pane.show();
        why.show();
        QCOMPARE(pane.list().count(), static_cast<int>(m_trail->steps.size()));
        QVERIFY(pane.list().isVisible());
        QVERIFY(support::widgetTexts(why).filter("Looking for NaN").isEmpty());
    }

    void saysWhenThereIsNothing()
    {
        views::TrailPane pane({m_theme, m_selection});
        m_selection.setTrace(nullptr);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QVERIFY(!support::widgetTexts(pane).filter("No trace is open").isEmpty());
        setTrace(kCleanText);
        pane.setFacts(m_facts);
        pane.setTrail(m_trail);
        QVERIFY2(!support::widgetTexts(pane).filter("every recorded output is finite").isEmpty(),
                 qPrintable(support::widgetTexts(pane).join('|')));
        QVERIFY(!pane.list().isVisible());
    }

    void saysWhyItWasNotFollowed()
    {
        setTrace(kCleanText);
        views::TrailPane trail({m_theme, m_selection});
        views::WhyPane why({m_theme, m_selection});
        const auto missing =
            views::missingTrail(m_trace, core::Status(core::ErrorCode::unreadable, "the disk is gone"));
        trail.setFacts(m_facts);
        why.setFacts(m_facts);
        trail.setTrail(missing);
        why.setTrail(missing);
        trail.show();
        why.show();
        QVERIFY(QTest::qWaitForWindowExposed(&trail));
        QVERIFY(QTest::qWaitForWindowExposed(&why));
        QVERIFY(!support::widgetTexts(trail).filter("the disk is gone").isEmpty());
        QVERIFY(!support::widgetTexts(why).filter("the disk is gone").isEmpty());
    }

    void whySaysTheRuleAndTheMeasures()
    {
        setTrace(kText);
        views::WhyPane pane({m_theme, m_selection});
        pane.setFacts(m_facts);
        pane.setTrail(m_trail);
        pane.resize(420, 700);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        m_selection.selectOp(op("sub_"));
        QStringList texts = support::widgetTexts(pane);
        QVERIFY2(!texts.filter("WHAT WENT IN").isEmpty(), qPrintable(texts.join('|')));
        QVERIFY(!texts.filter("WHAT CAME OUT").isEmpty());
        QVERIFY(!texts.filter(QStringLiteral("sub_")).isEmpty());
        // An op that carries leads back to where it was born.
        m_selection.selectOp(op("relu_"));
        texts = support::widgetTexts(pane);
        QVERIFY(!texts.filter("carries on what came in bad").isEmpty());
        QVERIFY(!texts.filter("WHERE IT WAS BORN").isEmpty());
        QAbstractButton *birth = nullptr;
        for (QAbstractButton *button : pane.findChildren<QAbstractButton *>())
            if (button->text().startsWith("log_"))
                birth = button;
        QVERIFY(birth != nullptr);
        birth->click();
        QCOMPARE(m_selection.op(), op("log_"));
        // Its backward is one step away.
        m_selection.selectOp(op("sum_"));
        QVERIFY(!support::widgetTexts(pane).filter("ITS BACKWARD PASS").isEmpty());
        QAbstractButton *backward = nullptr;
        for (QAbstractButton *button : pane.findChildren<QAbstractButton *>())
            if (button->text() == QStringLiteral("SumBackward0"))
                backward = button;
        QVERIFY(backward != nullptr);
        backward->click();
        QVERIFY(std::holds_alternative<views::GradItem>(m_selection.item()));
        m_selection.selectOp(op("argmax_"));
        QVERIFY(!support::widgetTexts(pane).filter("finite, not sound").isEmpty());
        m_selection.select(views::GradItem{step(NodeState::healed, 1)->node});
        QVERIFY(!support::widgetTexts(pane).filter("That is no cure").isEmpty());
    }

    // Every reason that the answers of the corpus name has a sentence and, where it is no design, a remedy.
    void everyReasonHasItsWords()
    {
        static const QRegularExpression kWhy(QStringLiteral("\"why\": \"([a-z0-9_]+)\""));
        QSet<QString> tokens;
        const QDir folder(QStringLiteral(OPSCOPE_CORPUS_DIR "/nan_cases"));
        for (const QString &name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            QFile file(folder.filePath(name + "/answer.json"));
            if (!file.open(QIODevice::ReadOnly))
                continue;
            auto found = kWhy.globalMatch(QString::fromUtf8(file.readAll()));
            while (found.hasNext())
                tokens.insert(found.next().captured(1));
        }
        QVERIFY2(tokens.size() > 15, qPrintable(QString::number(tokens.size())));
        // Reasons of other findings than NaN and Inf.
        for (const char *const other :
             {"cancellation", "vanishing", "tiny_denominator", "increment_below_spacing", "all_units_dead"})
            tokens.remove(QLatin1String(other));
        for (const QString &token : tokens) {
            const views::WhyWords words = views::whyWords(token.toStdString());
            QVERIFY2(!words.rule.isEmpty(), qPrintable(token));
            if (token != QLatin1String("deliberate_neg_inf"))
                QVERIFY2(!words.remedy.isEmpty(), qPrintable(token));
        }
        QVERIFY(views::whyWords("no_such_reason").rule.isEmpty());
    }
};

QTEST_MAIN(TestTrail)
#include "tst_trail.moc"
