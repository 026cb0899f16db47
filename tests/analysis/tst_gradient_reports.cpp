// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"
#include "tests/support/trace_text.h"

#include <QTest>

using core::Value;

namespace {

core::Report run(std::string_view name, std::string_view text, Value options = Value::object())
{
    core::ReportRequest request;
    request.trace = tests::traceFromText(text);
    request.options = std::move(options);
    auto report = core::runReport(*core::findReport(name), request, core::JobContext());
    return report ? *report : core::Report{};
}

std::string json(const Value &value)
{
    return core::toJson(value);
}

constexpr std::string_view kSqrt = "imported\ninput x:f32[3]=0,1,4\nrelu x -> r:f32[3]=0,1,4 @m.py:5 in act\n"
                                   "sqrt r -> s:f32[3]=0,1,2 @m.py:6\noutput s\n"
                                   "node sum SumBackward0 next=sq\nnode sq SqrtBackward0 next=re of s\n"
                                   "node re ReluBackward0 next=acc of r\nnode acc AccumulateGrad leaf=x\n"
                                   "backward loss=s\n"
                                   "fire sum\n"
                                   "fire sq arriving=f32[3]=1 emitted=f32[3]=inf,0.5,0.25\n"
                                   "fire re arriving=f32[3]=inf,0.5,0.25 emitted=f32[3]=0,0.5,0.25\n"
                                   "grad r:f32[3]=inf,0.5,0.25\ngrad s:f32[3]=1\ngrad x:f32[3]=0,0.5,0.25\n";

} // namespace

class TestGradientReports : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void ledgerNamesTheBirthAndTheHealing()
    {
        const core::Report report = run("bisect_nan_backward", kSqrt);
        QCOMPARE(json(report.result.at("birth").at("op_label")), std::string("\"sqrt_1_2\""));
        QCOMPARE(json(report.result.at("birth").at("fire_index")), std::string("2"));
        QCOMPARE(json(report.result.at("birth").at("source_line")), std::string("\"m.py:6\""));
        QCOMPARE(report.table.cell(2, "verdict").toString(), std::string("healed"));
        QCOMPARE(json(report.result.at("verdict_scope")), std::string("\"found_first_among_checked\""));
        QVERIFY(report.result.at("amp_hint").toString().find("grad_scale") != std::string::npos);
        QCOMPARE(json(report.result.at("first_bad_thing").at("kind")), std::string("\"inf\""));
        const core::Report scaled =
            run("bisect_nan_backward", kSqrt, Value::object({{"grad_scale", 65536.0}}));
        QVERIFY(scaled.result.at("amp_hint").isNull());
    }

    void backwardRefusalsAreTyped()
    {
        const std::string forward = "input x:f32[1]\nrelu x -> y:f32[1]=1\noutput y\n";
        const std::string two = forward + "backward loss=y\nbackward loss=y\n";
        const auto code = [](const core::Report &report) {
            return report.error ? report.error->code : "none";
        };
        QCOMPARE(code(run("bisect_nan_backward", forward)), std::string("backward_capture_required"));
        QCOMPARE(code(run("bisect_nan_backward", two)), std::string("bwd_selector_required"));
        QCOMPARE(code(run("bisect_nan_backward", two, Value::object({{"bwd", 7}}))),
                 std::string("bwd_selector_unknown"));
        QCOMPARE(code(run("bisect_nan_backward", forward, Value::object({{"grad_scale", 0.0}}))),
                 std::string("grad_scale_invalid"));
    }

    void partlyCheckedFiringsProveNoBirth()
    {
        const core::Report report =
            run("bisect_nan_backward",
                "input x:f32[1]\nmul x x -> y:f32[1]=1\noutput y\nnode a MulBackward0 of y\n"
                "backward loss=y\nfire a arriving=f32[1] emitted=f32[1]=nan\n");
        QCOMPARE(report.table.cell(0, "verdict").toString(), std::string("root_seed"));
        QVERIFY(report.result.at("birth").isNull());
    }

    void healthRanksAndJudges()
    {
        const core::Report report = run("grad_health", kSqrt);
        QCOMPARE(report.table.columns.size(), std::size_t(15));
        QCOMPARE(report.table.cell(0, "op").toString(), std::string("relu_1_1:1"));
        QCOMPARE(report.table.cell(0, "verdict").toString(), std::string("nonfinite"));
        QCOMPARE(json(report.table.cell(0, "severity")), std::string("3"));
        QCOMPARE(report.table.cell(1, "op").toString(), std::string("sqrt_1_2:1"));
        QCOMPARE(report.table.cell(1, "verdict").toString(), std::string("unknown"));
        QVERIFY(report.found);
        const core::Report scaled = run("grad_health", kSqrt, Value::object({{"grad_scale", 2.0}}));
        QCOMPARE(scaled.table.cell(1, "verdict").toString(), std::string("ok"));
        // The norm of a float32 gradient is a float32.
        const double norm = static_cast<float>(0.8660254037844386);
        QVERIFY(std::abs(scaled.table.cell(1, "grad_norm").toDouble() - norm) < 1e-9);
        QVERIFY(std::abs(scaled.table.cell(1, "rms").toDouble() - norm / std::sqrt(3.0)) < 1e-9);
    }

    void aRecordedLossScaleIsUsed()
    {
        std::string text(kSqrt);
        text.replace(text.find("backward loss=s"), 15, "backward loss=s scale=2");
        const double norm = static_cast<float>(0.8660254037844386);
        const core::Report recorded = run("grad_health", text);
        QCOMPARE(recorded.table.cell(1, "verdict").toString(), std::string("ok"));
        QCOMPARE(recorded.table.cell(1, "scale_provenance").toString(), std::string("recorded"));
        QVERIFY(std::abs(recorded.table.cell(1, "grad_norm").toDouble() - norm) < 1e-9);
        QCOMPARE(json(recorded.attrs.at("grad_scale")), std::string("2.0"));
        QVERIFY(recorded.coverage.ends_with("; norms are divided by the recorded loss scale 2"));
        // What is asked for comes first, a pass that a mapping leaves out is not asked for.
        const core::Report given = run("grad_health", text, Value::object({{"grad_scale", 4.0}}));
        QCOMPARE(given.table.cell(1, "scale_provenance").toString(), std::string("explicit"));
        QVERIFY(std::abs(given.table.cell(1, "grad_norm").toDouble() - norm / 2.0) < 1e-9);
        QVERIFY(given.coverage.ends_with("the given loss scale 4, the trace records 2"));
        const core::Report other =
            run("grad_health", text, Value::object({{"grad_scales", Value::object({{"2", 4.0}})}}));
        QCOMPARE(other.table.cell(1, "scale_provenance").toString(), std::string("recorded"));
        const core::Report ledger = run("bisect_nan_backward", text);
        QCOMPARE(json(ledger.result.at("grad_scale")), std::string("2.0"));
        QVERIFY(ledger.result.at("amp_hint").isNull());
        QVERIFY(run("grad_health", kSqrt).coverage.ends_with("the loss scale is not known"));
    }

    void frontierIsNearestTheLoss()
    {
        const core::Report report =
            run("grad_health", "input x:f32[2]\nlinear x -> a:f32[2] in one\n"
                               "relu a -> b:f32[2] in act\nlinear b -> c:f32[2] in two\noutput c\n"
                               "backward loss=c\ngrad a:f32[2]=0\ngrad b:f32[2]=0\n"
                               "grad c:f32[2]=1\n");
        QCOMPARE(report.table.cell(0, "op").toString(), std::string("relu_1_2:1"));
        QCOMPARE(json(report.table.cell(0, "is_frontier")), std::string("true"));
        QCOMPARE(json(report.table.cell(1, "is_frontier")), std::string("false"));
        QCOMPARE(report.table.cell(0, "verdict").toString(), std::string("dead"));
    }

    void healthRefusesBadScales()
    {
        const auto code = [](Value options) {
            const core::Report report = run("grad_health", kSqrt, std::move(options));
            return report.error ? report.error->code : "none";
        };
        QCOMPARE(code(Value::object({{"basis", "x"}})), std::string("grad_basis_invalid"));
        QCOMPARE(code(Value::object({{"grad_scale", -1.0}})), std::string("grad_scale_invalid"));
        QCOMPARE(code(Value::object({{"grad_scale", "NaN"}})), std::string("grad_scale_invalid"));
        QCOMPARE(code(Value::object({{"grad_scale", 1.0}, {"grad_scales", Value::object({{"1", 1.0}})}})),
                 std::string("grad_scale_conflict"));
        QCOMPARE(code(Value::object({{"grad_scales", Value::object({{"1", nullptr}})}})),
                 std::string("grad_scale_invalid"));
        QCOMPARE(code(Value::object({{"bwd", 4}})), std::string("bwd_selector_unknown"));
    }

    void forwardOnlyIsAnEmptyTable()
    {
        const core::Report report = run("grad_health", "input x:f32[1]\nrelu x -> y:f32[1]\noutput y\n");
        QCOMPARE(report.status, std::string("empty"));
        QVERIFY(report.attrs.at("message").toString().find("backward") != std::string::npos);
    }

    void sketchWalksFromTheRoots()
    {
        const std::string text = "param w:f32[1,2]\ninput x:f32[1,2]\nlinear x w -> y:f32[1,1]\noutput y\n"
                                 "node a AddmmBackward0 next=b,t\nnode t TBackward0 next=w\n"
                                 "node b AccumulateGrad leaf=bias\nnode w AccumulateGrad leaf=w\n";
        const core::Report none = run("walk_grad_fn", text);
        QCOMPARE(none.error->code, std::string("grad_fn_walk_no_graph"));
        QCOMPARE(none.error->type, std::string("GradFnWalkError"));
    }

    // Where tensors are not tied to their nodes, the nodes know their ops: asked for or by default alike.
    void outputsAreRootsHoweverTheyAreNamed()
    {
        const std::string text = "param w:f32[1,2]\ninput x:f32[1,2]\nlinear x w -> y:f32[1,1]\noutput y\n"
                                 "node a AddmmBackward0 next=b,t of y\nnode t TBackward0 next=w of y\n"
                                 "node b AccumulateGrad leaf=bias\nnode w AccumulateGrad leaf=w\n";
        const core::Report asked =
            run("walk_grad_fn", text, Value::object({{"outputs", Value::list({"linear_1_1"})}}));
        QVERIFY2(!asked.error, asked.error ? asked.error->message.c_str() : "");
        QCOMPARE(asked.table.rows.size(), std::size_t(5)); // the root and four nodes
        const core::Report byDefault = run("walk_grad_fn", text);
        QVERIFY2(!byDefault.error, byDefault.error ? byDefault.error->message.c_str() : "");
        QCOMPARE(byDefault.table.rows.size(), asked.table.rows.size());
        for (std::size_t i = 1; i < asked.table.rows.size(); ++i)
            QCOMPARE(json(byDefault.table.cell(i, "name")), json(asked.table.cell(i, "name")));
    }

    void hintHasTwoForms()
    {
        core::ReportRequest request;
        request.options = Value::object({{"all_nonfinite", true}});
        const auto report =
            core::runReport(*core::findReport("amp_scaled_grads_hint"), request, core::JobContext());
        QVERIFY(report.isOk());
        QVERIFY(report->result.toString().find("overflow") != std::string::npos);
        QVERIFY(report->result.toString().find("grad_scale") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestGradientReports)
#include "tst_gradient_reports.moc"
