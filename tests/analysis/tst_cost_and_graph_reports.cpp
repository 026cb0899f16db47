// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"
#include "tests/support/trace_text.h"

#include <QTest>

using core::Value;

namespace {

core::Report run(std::string_view name, std::string_view text, Value options = Value::object(),
                 std::string_view other = {})
{
    core::ReportRequest request;
    request.trace = tests::traceFromText(text);
    if (!other.empty())
        request.other = tests::traceFromText(other);
    request.options = std::move(options);
    auto report = core::runReport(*core::findReport(name), request, core::JobContext());
    return report ? *report : core::Report{};
}

std::string json(const Value &value)
{
    return core::toJson(value);
}

std::string cells(const core::Report &report, std::size_t row)
{
    return row < report.table.rows.size() ? json(Value(Value::List(report.table.rows[row].cells))) : "no row";
}

constexpr std::string_view kNet = "param w:f32[8,4]\nparam wb:f32[8]\nparam v:f32[2,8]\nparam vb:f32[2]\n"
                                  "input x:f32[3,4]\n"
                                  "linear x w wb -> a:f32[3,8]=1 @net.py:7 in fc1 time=2000\n"
                                  "relu a -> b:f32[3,8]=1 @net.py:7 in act time=500\n"
                                  "linear b v vb -> c:f32[3,2]=1 @net.py:8 in fc2 time=1000\n"
                                  "output c\n";

} // namespace

class TestCostAndGraphReports : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hotPathRanksLines()
    {
        const core::Report flops = run("hot_path", kNet);
        QCOMPARE(flops.status, std::string("ranked"));
        QCOMPARE(cells(flops, 0), std::string("[\"net.py:7\", 2, 240.0, 70.17543859649123]"));
        QCOMPARE(cells(flops, 1), std::string("[\"net.py:8\", 1, 102.0, 29.82456140350877]"));
        QCOMPARE(json(flops.attrs.at("excluded_missing_metric_count")), std::string("1"));
        const core::Report memory = run("hot_path", kNet, Value::object({{"by", "memory"}}));
        QCOMPARE(cells(memory, 0), std::string("[\"net.py:7\", 2, 192.0, 80.0]"));
        QCOMPARE(cells(memory, 2), std::string("[\"<unknown>\", 1, 24.0, 10.0]"));
        QVERIFY(!flops.found);
    }

    void hotPathRefusesWhatItCannotRank()
    {
        const core::Report device = run("hot_path", kNet, Value::object({{"by", "device_time"}}));
        QCOMPARE(device.error->code, std::string("device_time_unavailable"));
        QCOMPARE(device.error->type, std::string("ProfilerSessionError"));
        const core::Report word = run("hot_path_rows", kNet, Value::object({{"by", "colour"}}));
        QCOMPARE(word.error->code, std::string("hot_path_metric_invalid"));
    }

    void recomputeMarksAGreedySet()
    {
        const core::Report report = run("recompute_candidates", kNet, Value::object({{"budget_gb", 1e-8}}));
        QCOMPARE(cells(report, 0), std::string("[\"relu_1_2:1\", 96, 24.0, 4.0, true]"));
        QCOMPARE(cells(report, 1), std::string("[\"linear_1_1:1\", 96, 216.0, 0.4444444444444444, false]"));
        QCOMPARE(json(report.attrs.at("total_freeable")), std::string("216"));
        const core::Report nothing = run("recompute_candidates", kNet, Value::object({{"budget_gb", 0.0}}));
        QCOMPARE(json(nothing.table.cell(0, "suggested")), std::string("false"));
    }

    void lineageWalksByBreadth()
    {
        const core::Report up = run("lineage", kNet, Value::object({{"op_or_label", "relu_1_2"}}));
        QCOMPARE(json(up.result.at("message")), std::string("\"3 node(s)\""));
        QCOMPARE(json(core::reportDocument(up).at("result").at("nodes").toList()[2]),
                 std::string("[\"input_1:1\", 2, null, [3, 4], \"torch.float32\"]"));
        const core::Report both =
            run("lineage", kNet, Value::object({{"op_or_label", "relu_1_2"}, {"direction", "both"}}));
        std::string order;
        for (const core::ReportRow &row : both.table.rows)
            order += row.cells[0].toString() + " ";
        QCOMPARE(QString::fromStdString(order),
                 QString("relu_1_2:1 linear_1_1:1 linear_2_3:1 input_1:1 output_1:1 "));
    }

    void lineageFindsOpsByManyNames()
    {
        const auto start = [](Value key) {
            return json(
                run("lineage", kNet, Value::object({{"op_or_label", std::move(key)}, {"max_depth", 0}}))
                    .result.at("start_label"));
        };
        QCOMPARE(start("fc1"), std::string("\"linear_1_1:1\""));
        QCOMPARE(start("act:1"), std::string("\"relu_1_2:1\""));
        QCOMPARE(start("relu_1"), std::string("\"relu_1_2:1\""));
        QCOMPARE(start("RELU_1_2"), std::string("\"relu_1_2:1\""));
        QCOMPARE(start("input.x"), std::string("\"input_1:1\""));
        QCOMPARE(start("x"), std::string("\"input_1:1\""));           // an input's bare name
        QCOMPARE(start("relu_1_2:7"), std::string("\"relu_1_2:1\"")); // a pass that a layer does not have
        QCOMPARE(start("relu_1:2"), std::string("\"relu_1_2:1\""));
        QCOMPARE(start("fc1:"), std::string("\"linear_1_1:1\"")); // a part of the names of one op
        QCOMPARE(start("FC1"), std::string("\"FC1\""));           // a module, which is no op
        QCOMPARE(start("wb"), std::string("\"wb\""));             // a parameter
        QCOMPARE(start("4"), std::string("\"output_1:1\""));      // a position as a text
        QCOMPARE(start(-1), std::string("\"output_1:1\""));
        QCOMPARE(start("relu"), std::string("\"relu_1_2:1\""));
        // Layers come before modules of the same name, and after module calls.
        const auto named = [](std::string_view key) {
            return json(run("lineage", "input x:f32[1]\nrelu x -> y:f32[1]=1 in input_1\noutput y\n",
                            Value::object({{"op_or_label", key}, {"max_depth", 0}}))
                            .result.at("start_label"));
        };
        QCOMPARE(named("INPUT_1"), std::string("\"input_1:1\""));
        const core::Report many = run("lineage", kNet, Value::object({{"op_or_label", "linear"}}));
        QVERIFY(many.result.at("message").toString().starts_with(
            "unavailable: 'linear' is part of the names of 2 ops"));
        const core::Report none = run("lineage", kNet, Value::object({{"op_or_label", "linaer_1_1"}}));
        QVERIFY(none.result.at("message").toString().find("did you mean linear_1_1") != std::string::npos);
    }

    void compareFollowsExecutionOrder()
    {
        const std::string a = "input x:f32[2]\nmul x 2 -> m:f32[2]=1,2\ntanh m -> t:f32[2]=1,1\noutput t\n";
        const std::string b = "input x:f32[2]\nmul x 2 -> m:f32[2]=1,3\nadd m 1 -> t:f32[2]=1,1\noutput t\n";
        const core::Report report = run("compare", a, Value::object(), b);
        QCOMPARE(cells(report, 0),
                 std::string("[\"mul_1_1:1\", \"present-in-both\", true, true, 1.0, 0.5, false, \"\"]"));
        QCOMPARE(cells(report, 1),
                 std::string("[\"tanh_1_2:1\", \"only-a\", null, null, null, null, null, \"only-a\"]"));
        QCOMPARE(report.table.cell(3, "status").toString(), std::string("only-b"));
        QCOMPARE(report.status, std::string("diverged"));
        const core::Report first = run("first_divergence", a, Value::object(), b);
        QCOMPARE(first.result.at("op").toString(), std::string("mul_1_1:1"));
        QVERIFY(run("first_divergence", a, Value::object(), a).result.isNull());
    }

    void compareFindsOpsAtOtherPlaces()
    {
        const std::string a = "input x:f32[1]\nrelu x -> y:f32[1]=1\noutput y\n";
        const std::string b = "input x:f32[1]\nrelu x -> y:f32[1]=1\ntanh y -> z:f32[1]=1\noutput z\n";
        const core::Report report = run("compare", a, Value::object(), b);
        std::string rows;
        for (std::size_t i = 0; i < report.table.rows.size(); ++i)
            rows += report.table.cell(i, "op").toString() + " " + report.table.cell(i, "status").toString() +
                    "; ";
        QCOMPARE(rows,
                 std::string("relu_1_1:1 present-in-both; output_1:1 present-in-both; tanh_1_2:1 only-b; "));
        QCOMPARE(json(run("compare", b, Value::object(), a).attrs.at("only_a")), std::string("1"));
    }

    void compareKnowsShapesWithoutValues()
    {
        const core::Report report = run("compare", "input x:f32[2]\nrelu x -> y:f32[2]\noutput y\n",
                                        Value::object(), "input x:f32[3]\nrelu x -> y:f32[3]\noutput y\n");
        QCOMPARE(report.table.cell(0, "reason").toString(), std::string("a=unsaved; b=unsaved"));
        QCOMPARE(json(report.attrs.at("shape_mismatch")), std::string("2"));
        QCOMPARE(json(report.attrs.at("activation_unavailable")), std::string("2"));
        QCOMPARE(report.status, std::string("diverged"));
    }

    void compareAlignsTypesAndIsExactForIntegers()
    {
        const core::Report wide = run("compare", "input x:f16[2]\nrelu x -> y:f16[2]=1,2\noutput y\n",
                                      Value::object(), "input x:f64[2]\nrelu x -> y:f64[2]=1,2\noutput y\n");
        QCOMPARE(wide.table.cell(0, "reason").toString(),
                 std::string("compared in float64 (a: float16, b: float64)"));
        QCOMPARE(json(wide.table.cell(0, "dtype_match")), std::string("false"));
        QCOMPARE(wide.status, std::string("match"));
        const core::Report whole =
            run("compare", "input x:f32[2]\nargmax x -> y:i64[1]=4\noutput y\n",
                Value::object({{"rtol", 1.0}}), "input x:f32[2]\nargmax x -> y:i64[1]=5\noutput y\n");
        QCOMPARE(json(whole.attrs.at("value_diverged")), std::string("2"));
        const std::string nan = "input x:f32[1]\nrelu x -> y:f32[1]=nan\noutput y\n";
        QCOMPARE(json(run("compare", nan, Value::object(), nan).table.cell(0, "max_abs")),
                 std::string("\"NaN\""));
    }

    void deadUnitsByTheirOwnAxis()
    {
        const core::Report report =
            run("dead_neurons", "param w:f32[2,3,3,3]\ninput x:f32[1,3,2,2]\n"
                                "conv2d x w -> c:f32[1,2,2,2]=0,0,0,0,1,0,0,0 in conv\n"
                                "relu c -> r:f32[1,2,2,2]=0,0,0,0,1,0,0,0 in act\n"
                                "mul r r -> q:f32[1,2,2,2]=0\n"
                                "flatten q 1 -> f:f32[1,8]=0\n"
                                "linear f -> y:f32[1,3]=0,-0,nan in fc\noutput y\n");
        QCOMPARE(cells(report, 0), std::string("[\"conv2d_1_1:1\", \"conv\", 2, 1, 0.5, [0], \"\", null]"));
        QCOMPARE(cells(report, 1), std::string("[\"relu_1_2:1\", \"act\", 2, 1, 0.5, [0], \"\", null]"));
        QCOMPARE(cells(report, 2),
                 std::string("[\"linear_1_5:1\", \"fc\", 3, 2, 0.6666666666666666, [0, 1], \"\", null]"));
        std::string ops;
        for (const core::ReportRow &row : report.table.rows)
            ops += row.cells[0].toString() + " ";
        QCOMPARE(QString::fromStdString(ops), QString("conv2d_1_1:1 relu_1_2:1 linear_1_5:1 "));
        const core::Report none =
            run("dead_neurons", "input x:f32[2,2]\nrelu x -> y:f32[2,2]=1 in act\noutput y\n",
                Value::object({{"dim", 9}}));
        QCOMPARE(none.table.cell(0, "reason").toString(), std::string("invalid-dim"));
    }

    // State is no activation: what the model returned of it has no units.
    void aReturnedBufferHasNoUnits()
    {
        const core::Report report =
            run("dead_neurons", "bufferrow s:f32[2]=0,1\ninput x:f32[2]\n"
                                "relu x -> y:f32[2]=0,1 in act\noutput y\noutput s\n");
        QCOMPARE(report.table.rows.size(), std::size_t(1));
        QCOMPARE(cells(report, 0), std::string("[\"relu_1_1:1\", \"act\", 2, 1, 0.5, [0], \"\", null]"));
    }

    void dtypeRangeFindsFourHazards()
    {
        const core::Report report = run("dtype_range", "input x:f32[2]\nto x -> h:f16[2]=62000,0.00001\n"
                                                       "relu h -> r:f16[2]=nan,1\n"
                                                       "sum r -> s:i8[1]=120\noutput s\n");
        std::string found;
        for (const core::ReportFinding &finding : report.findings)
            found += finding.check + " " + finding.opLabels[0] + "; ";
        QCOMPARE(found,
                 std::string("dtype_near_max to_1_1:1; dtype_subnormal to_1_1:1; dtype_downcast to_1_1:1; "
                             "dtype_nonfinite relu_1_2:1; dtype_near_max sum_1_3:1; "));
        const core::Report refused = run("dtype_range", kNet, Value::object({{"max_fraction", 2.0}}));
        QCOMPARE(refused.error->type, std::string("ValueError"));
    }

    void auditNamesWhatItSkipped()
    {
        const core::Report report = run("audit", kNet);
        QCOMPARE(json(report.result.at("checks_run")),
                 std::string("[\"find_nan\", \"bisect_nan\", \"dtype_range\"]"));
        QVERIFY(!report.found);
        QVERIFY(report.result.at("skipped").toList().size() >= 6);
        const core::Report failed = run("audit", "status failed\ninput x:f32[1]\nrelu x -> y:f32[1]=nan\n");
        QCOMPARE(failed.findings[0].check, std::string("find_nan"));
        QCOMPARE(failed.findings[1].check, std::string("partial_capture_exception"));
        QCOMPARE(failed.findings[1].severity, core::Severity::critical);
        // A run that a helper stopped as it was asked to is no fault of its own.
        const core::Report asked =
            run("audit", "status stopped_at_nonfinite\ninput x:f32[1]\nrelu x -> y:f32[1]=nan\n");
        QCOMPARE(asked.findings[0].check, std::string("find_nan"));
        QCOMPARE(asked.findings[1].check, std::string("partial_capture_exception"));
        QCOMPARE(asked.findings[1].severity, core::Severity::info);
        QVERIFY(asked.findings[1].message.find("as was asked") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestCostAndGraphReports)
#include "tst_cost_and_graph_reports.moc"
