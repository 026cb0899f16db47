// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"
#include "core/io/tensor_file_trace.h"
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

std::string codes(const core::Report &report)
{
    std::string text;
    for (const core::ReportFinding &finding : report.findings)
        text += (text.empty() ? "" : " ") + finding.opLabels[0] + ":" + finding.code;
    return text;
}

std::string json(const Value &value)
{
    return core::toJson(value);
}

} // namespace

class TestParameterReports : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsEachKindOnce()
    {
        const core::Report report =
            run("param_health", "param ok:f32[3]=1,2,3\nparam bad:f32[3]=nan,inf,1\n"
                                "param same:f32[4]=3\nparam zero:f32[4]=0\n"
                                "param high:f16[2]=62300,1\nparam tiny:f32[2]=1e-42,2e-42\n"
                                "param one:f32[1]=5\nparam empty:f32[0]=0\n"
                                "buffer steps:i64[1]=0\n");
        QCOMPARE(codes(report),
                 std::string("bad:param_value_nonfinite same:param_all_same high:param_dtype_headroom "
                             "tiny:param_subnormal_heavy zero:param_all_zero steps:param_all_zero"));
        const Value &bad = report.result.at("rows").toList()[1];
        QCOMPARE(json(bad.at("n_nan")), std::string("1"));
        QCOMPARE(json(bad.at("n_posinf")), std::string("1"));
        QCOMPARE(json(bad.at("finite_max")), std::string("1.0"));
        const Value &empty = report.result.at("rows").toList()[7];
        QVERIFY(empty.at("zero_fraction").isNull());
        QCOMPARE(json(report.result.at("coverage").at("audited_tensors")), std::string("9"));
    }

    void countsWhatLiesOutsideItsBounds()
    {
        const core::Report report =
            run("param_health", "param w:f32[5]=-2,-1,0,1,2\n",
                Value::object({{"bounds", Value::object({{"w", Value::list({-1, nullptr})}})}}));
        const Value &row = report.result.at("rows").toList()[0];
        QCOMPARE(json(row.at("bounds_below")), std::string("1"));
        QCOMPARE(json(row.at("bounds_above")), std::string("0"));
        QCOMPARE(codes(report), std::string("w:param_bounds_violated"));
    }

    void refusesInThePagesOrder()
    {
        const auto code = [](Value options) {
            const core::Report report = run("param_health", "param w:f32[1]=1\n", std::move(options));
            return report.error ? report.error->code : "none";
        };
        QCOMPARE(code(Value::object({{"max_fraction", 1.5}, {"within", Value::list({"nope"})}})),
                 std::string("check_fraction_invalid"));
        QCOMPARE(code(Value::object({{"within", Value::list({"nope"})}})),
                 std::string("audit_within_unknown_name"));
        QCOMPARE(code(Value::object({{"bounds", Value::object({{"v", Value::list({0, 1})}})}})),
                 std::string("audit_bounds_unknown_name"));
        QCOMPARE(code(Value::object({{"bounds", Value::object({{"w", Value::list({5, 1})}})}})),
                 std::string("check_bounds_invalid"));
        QCOMPARE(run("param_health", "input x:f32[1]=1\n").error->code, std::string("check_target_invalid"));
    }

    void scansComplexByMagnitude()
    {
        const core::Report report = run("param_health", "param c:c64[2]=3,4,nan,0\n");
        const Value &row = report.result.at("rows").toList()[0];
        QCOMPARE(json(row.at("numel")), std::string("2"));
        QCOMPARE(json(row.at("n_nan")), std::string("1"));
        QCOMPARE(json(row.at("abs_max")), std::string("5.0"));
        QVERIFY(row.at("finite_min").isNull());
    }

    // Entries of a checkpoint that are no tensors are rows in their places, and say why in words.
    void namesWhatItSkips()
    {
        core::StateDict state;
        core::StateTensor tensor;
        tensor.name = "w";
        tensor.values.dtype = core::DType::float32;
        tensor.values.shape = {2};
        tensor.values.strides = {1};
        tensor.values.storage = core::memorySource("w", std::vector<std::byte>(8, std::byte(0x3f)));
        state.tensors.push_back(tensor);
        state.skipped = {{"step", "int", "not_a_tensor", Value(3), {}, 0},
                         {"s", "float32", "sparse_csr", {}, {4, 5}, 1},
                         {"m", "float16", "meta", {}, {2}, 1},
                         {"r", "ndarray", "structured_dtype", {}, {}, 1},
                         {"x", "ndarray", "truncated", {}, {}, 1}};
        core::ReportRequest request;
        request.trace = *core::traceOfStateDict(std::move(state), "file.pt", core::JobContext());
        request.options = Value::object();
        const auto report = core::runReport(*core::findReport("param_health"), request, core::JobContext());
        QVERIFY(report.isOk());
        std::string text;
        for (const Value &row : report->result.at("rows").toList())
            text += row.at("name").toString() + ' ' + row.at("dtype").toString() + ' ' +
                    json(row.at("shape")) + ' ' + json(row.at("numel")) + ' ' + json(row.at("skip_reason")) +
                    '\n';
        QCOMPARE(text, std::string("step int [] 0 \"not a tensor: int\"\n"
                                   "w float32 [2] 2 null\n"
                                   "s float32 [4, 5] 20 \"unsupported layout torch.sparse_csr\"\n"
                                   "m float16 [2] 2 \"meta tensor holds no values\"\n"
                                   "r ndarray [] 0 \"an array of records\"\n"
                                   "x ndarray [] 0 \"cannot be read: truncated\"\n"));
    }

    // The same tensor object under two names of a checkpoint. Names are chosen before tensors are told apart.
    void aTensorWithTwoNamesIsOneRow()
    {
        const auto rows = [](Value options) {
            core::StateDict state;
            for (const char *name : {"a", "b", "c"}) {
                core::StateTensor tensor;
                tensor.name = name;
                tensor.values.dtype = core::DType::float32;
                tensor.values.shape = {2};
                tensor.values.strides = {1};
                tensor.values.storage = core::memorySource("w", std::vector<std::byte>(8, std::byte(0x3f)));
                tensor.same = tensor.name == "c" ? 0 : -1;
                state.tensors.push_back(std::move(tensor));
            }
            core::ReportRequest request;
            request.trace = *core::traceOfStateDict(std::move(state), "file.pt", core::JobContext());
            request.options = std::move(options);
            const auto report =
                core::runReport(*core::findReport("param_health"), request, core::JobContext());
            std::string text;
            for (const Value &row : report->result.at("rows").toList())
                text += row.at("name").toString() + ' ' + json(row.at("aliases")) + ' ' +
                        json(row.at("bounds_above")) + '\n';
            return text;
        };
        QCOMPARE(rows(Value::object()), std::string("a [\"c\"] null\nb [] null\n"));
        const Value bounds = Value::object({{"c", Value::list({0, 0.5})}});
        QCOMPARE(rows(Value::object({{"bounds", bounds}})), std::string("a [\"c\"] null\nb [] null\n"));
        const Value within = Value::list({"c", "b"});
        QCOMPARE(rows(Value::object({{"within", within}, {"bounds", bounds}})),
                 std::string("b [] null\nc [] 2\n"));
    }

    void comparesByNameInAlphabeticalOrder()
    {
        const std::string a =
            "param weight:f32[2]=1,2\nparam bias:f32[1]=1\nparam gone:f32[1]=1\nbuffer n:i64[1]=3\n";
        const std::string b =
            "param weight:f32[2]=1,2\nparam bias:f32[1]=2\nparam wide:f64[1]=1\nbuffer n:i64[1]=4\n";
        const core::Report report = run("compare_params", a, Value::object(), b);
        QCOMPARE(report.table.rows.size(), std::size_t(4));
        QCOMPARE(report.table.cell(0, "name").toString(), std::string("bias"));
        QCOMPARE(json(report.table.cell(0, "max_abs")), std::string("1.0"));
        QCOMPARE(report.table.cell(1, "status").toString(), std::string("only-a"));
        QCOMPARE(json(report.attrs),
                 std::string("{\"matched\": 1, \"value_diverged\": 1, \"shape_mismatch\": 0, "
                             "\"only_a\": 1, \"only_b\": 1, \"incomparable\": 0}"));
        const core::Report buffers = run("compare_params", a, Value::object({{"include_buffers", true}}), b);
        QCOMPARE(buffers.table.cell(2, "kind").toString(), std::string("buffer"));
        QCOMPARE(json(buffers.table.cell(2, "allclose")), std::string("false"));
    }
};

QTEST_APPLESS_MAIN(TestParameterReports)
#include "tst_parameter_reports.moc"
