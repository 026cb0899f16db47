// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/trace.h"
#include "tests/support/trace_text.h"

#include <QElapsedTimer>
#include <QTest>

using namespace core;

namespace {

QString labels(const std::string &text)
{
    const auto trace = tests::traceFromText(text);
    QString line;
    for (std::size_t i = 0; i < trace->ops().size(); ++i) {
        if (i > 0)
            line += ' ';
        const std::string_view label = trace->label(OpId(i));
        line += QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size()));
    }
    return line;
}

std::string chain(std::initializer_list<std::string> calls)
{
    std::string text = "param w:f32[4,4]\nparam v:f32[4,4]\ninput x0:f32[2,4]\n";
    int i = 0;
    for (const std::string &call : calls) {
        const auto blank = call.find(' ');
        text += call.substr(0, blank) + " x" + std::to_string(i) + " " +
                (blank == std::string::npos ? "" : call.substr(blank + 1, call.find(" in ") - blank - 1)) +
                " -> x" + std::to_string(i + 1) + ":f32[2,4]" +
                (call.find(" in ") == std::string::npos ? "" : call.substr(call.find(" in "))) + "\n";
        ++i;
    }
    return text + "output x" + std::to_string(i) + "\n";
}

} // namespace

class TestLabeling : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sharedParametersAndTheirNeighbours()
    {
        QCOMPARE(
            labels(chain({"linear w in fc", "relu", "linear w in fc:2", "relu", "linear w in fc:3", "relu"})),
            QString("input_1:1 linear_1_1:1 relu_1_2:1 linear_1_1:2 relu_1_2:2 linear_1_1:3 relu_1_2:3 "
                    "output_1:1"));
    }

    void aRepeatedSingleFunctionIsNoLoop()
    {
        QCOMPARE(labels(chain({"tanh", "tanh"})), QString("input_1:1 tanh_1_1:1 tanh_2_2:1 output_1:1"));
    }

    void aRepeatedModuleIs()
    {
        QCOMPARE(labels(chain({"relu in act:1", "relu in act:2", "relu in act:3", "relu in act:4"})),
                 QString("input_1:1 relu_1_1:1 relu_1_1:2 relu_1_1:3 relu_1_1:4 output_1:1"));
    }

    void repeatingBodiesOfTwoAreALoop()
    {
        QCOMPARE(
            labels(chain({"relu in act:1", "add 1", "relu in act:2", "add 1", "relu in act:3", "add 1"})),
            QString("input_1:1 relu_1_1:1 add_1_2:1 relu_1_1:2 add_1_2:2 relu_1_1:3 add_1_2:3 output_1:1"));
        QCOMPARE(
            labels(chain({"relu", "mul 2", "relu", "mul 2", "relu", "mul 2"})),
            QString("input_1:1 relu_1_1:1 mul_1_2:1 relu_1_1:2 mul_1_2:2 relu_1_1:3 mul_1_2:3 output_1:1"));
    }

    void differentSurroundingsKeepASharedModuleApart()
    {
        QCOMPARE(labels(chain({"linear w in a", "relu in act:1", "linear v in b", "relu in act:2"})),
                 QString("input_1:1 linear_1_1:1 relu_1_2:1 linear_2_3:1 relu_2_4:1 output_1:1"));
    }

    void differentArgumentsAreDifferentLayers()
    {
        QCOMPARE(labels(chain({"relu", "mul 2", "relu", "mul 3"})),
                 QString("input_1:1 relu_1_1:1 mul_1_2:1 relu_2_3:1 mul_2_4:1 output_1:1"));
    }

    void outputsOfOneCallAreLayersOfTheirOwn()
    {
        QCOMPARE(
            labels(
                "input x:f32[2,4]\nadd x 1 -> y:f32[2,4]\nrelu_ y -> z:f32[2,4]\nchunk z 2 1 -> a:f32[2,2] "
                "b:f32[2,2]\nmul a b -> c:f32[2,2]\noutput c\n"),
            QString("input_1:1 add_1_1:1 relu_1_2:1 chunk_1_3:1 chunk_2_4:1 mul_1_5:1 output_1:1"));
    }

    void residualAddsOfOneBlockAreOneLayer()
    {
        QCOMPARE(labels("param w:f32[4,4]\nparam v:f32[4,4]\ninput x:f32[2,4]\n"
                        "linear x w -> a:f32[2,4] in block.attn\nadd x a -> b:f32[2,4] in block\n"
                        "linear b v -> c:f32[2,4] in block.mlp\nadd b c -> d:f32[2,4] in block\noutput d\n"),
                 QString("input_1:1 linear_1_1:1 add_1_2:1 linear_2_3:1 add_1_2:2 output_1:1"));
    }

    void stepsCountEveryPass()
    {
        const auto trace = tests::traceFromText(chain({"relu", "mul 2", "relu", "mul 2"}));
        QCOMPARE(trace->op(OpId(3)).step, 3U);
        QCOMPARE(trace->op(OpId(5)).step, 4U);
        QCOMPARE(trace->op(OpId(5)).kind, CallKind::output);
        QCOMPARE(trace->op(OpId(3)).passCount, 2U);
        QCOMPARE(trace->publicLabel(OpId(3)), std::string_view("relu_1_1:2"));
    }

    void manyRowsStayFast()
    {
        std::string text = "input x0:f32[1]\n";
        for (int i = 0; i < 20000; ++i)
            text += (i % 2 == 0 ? "relu x" : "mul x") + std::to_string(i) + " -> x" + std::to_string(i + 1) +
                    ":f32[1]\n";
        QElapsedTimer timer;
        timer.start();
        const auto trace = tests::traceFromText(text + "output x20000\n");
        QCOMPARE(trace->op(OpId(20000)).pass, 10000U);
        QVERIFY2(timer.elapsed() < 20000, "labelling 20,000 rows takes too long");
    }
};

QTEST_APPLESS_MAIN(TestLabeling)
#include "tst_labeling.moc"
