// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/op_paths.h"
#include "tests/support/trace_text.h"

#include <QtTest>

#include <algorithm>
#include <string>
#include <vector>

using namespace core;

class TestOpPaths : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<const Trace> m_trace = tests::traceFromText("input x:f32[2]=1\n"
                                                                "log x -> a:f32[2]=nan !stats\n"
                                                                "mul a a -> b:f32[2]=nan !stats\n"
                                                                "neg x -> c:f32[2]=2 !stats\n"
                                                                "abs b -> far:f32[2]=nan !stats\n"
                                                                "add b c -> d:f32[2]=nan !stats\n"
                                                                "sin c -> apart:f32[2]=2 !stats\n"
                                                                "output d\n");
    GraphMarks m_marks = marksFromStats(*m_trace);

    // The row of the compute op with this function.
    OpId op(std::string_view func) const
    {
        for (const OpId id : m_trace->computeOps())
            if (m_trace->string(m_trace->callOf(id).func) == func)
                return id;
        return {};
    }
    std::string names(const std::vector<OpId> &ops) const
    {
        std::string text;
        for (const OpId id : ops)
            text += (text.empty() ? "" : " ") + std::string(m_trace->string(m_trace->callOf(id).func));
        return text;
    }

private Q_SLOTS:
    void theShortestWayBackToTheOrigin()
    {
        QCOMPARE(m_marks.of(op("log")), NodeState::origin);
        QCOMPARE(names(pathToOrigin(*m_trace, m_marks, op("add"))), std::string("add mul log"));
    }

    void fromTheOriginToWhatItReaches()
    {
        const std::vector<OpId> path = pathToOrigin(*m_trace, m_marks, op("log"));
        QVERIFY(path.size() >= 3);
        QCOMPARE(path[0], op("log"));
        QCOMPARE(path[1], op("mul"));
        QCOMPARE(m_marks.of(path.back()), NodeState::reached);
    }

    void nothingBadIsNoPath()
    {
        QVERIFY(pathToOrigin(*m_trace, m_marks, op("sin")).empty());
        QVERIFY(pathToOrigin(*m_trace, m_marks, OpId()).empty());
    }

    void connectedIsWhatAnOpIsMadeFromAndMakes()
    {
        const std::vector<OpId> ops = connectedOps(*m_trace, op("mul"));
        const auto has = [&](std::string_view func) {
            return std::find(ops.begin(), ops.end(), op(func)) != ops.end();
        };
        QVERIFY(has("log") && has("mul") && has("add") && has("abs"));
        QVERIFY(!has("neg") && !has("sin"));
        QCOMPARE(std::count(ops.begin(), ops.end(), op("mul")), 1);
    }
};

QTEST_APPLESS_MAIN(TestOpPaths)
#include "tst_op_paths.moc"
