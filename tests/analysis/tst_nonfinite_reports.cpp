// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_live.h"
#include "core/analysis/report_registry.h"
#include "tests/support/trace_text.h"

#include <QTest>

using core::Value;

namespace {

core::Report run(std::string_view name, std::string_view text)
{
    core::ReportRequest request;
    request.trace = tests::traceFromText(text);
    request.options = Value::object();
    auto report = core::runReport(*core::findReport(name), request, core::JobContext());
    return report ? *report : core::Report{};
}

std::string json(const Value &value)
{
    return core::toJson(value);
}

constexpr std::string_view kZeroOverZero = "input x:f32[1,2]=1\n"
                                           "sub x x -> z:f32[1,2]=0 @model.py:9\n"
                                           "div.Tensor z z -> y:f32[1,2]=nan @model.py:10 in net.act\n"
                                           "add y 1 -> w:f32[1,2]=nan @model.py:11\n"
                                           "output w\n";

} // namespace

class TestNonFiniteReports : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsTheFirstBadOutput()
    {
        const core::Report report = run("find_nan", kZeroOverZero);
        QCOMPARE(report.status, std::string("found"));
        QVERIFY(report.found);
        QCOMPARE(json(report.result.at("label")), std::string("\"div_1_2\""));
        QCOMPARE(json(report.result.at("module_address")), std::string("\"net.act\""));
        QCOMPARE(json(report.result.at("source_line")), std::string("\"model.py:10\""));
        QCOMPARE(json(report.result.at("scope")), std::string("\"first non-finite tensor\""));
        const Value &first = report.result.at("first_bad_thing");
        QCOMPARE(json(first.at("detection_basis")), std::string("\"saved_activations\""));
        QCOMPARE(json(first.at("coverage")), std::string("\"complete\""));
    }

    // What a live run went past and its statistics show afterwards: verdict and findings are one.
    void aLiveVerdictAgreesWithItsFindings()
    {
        const auto trace = tests::traceFromText(kZeroOverZero);
        for (auto *const make : {&core::findNanLive, &core::nonfiniteOriginLive}) {
            const auto report = make(trace, core::JobContext());
            QVERIFY(report);
            QCOMPARE(report->status, std::string("found"));
            QVERIFY(report->found && !report->findings.empty());
            QCOMPARE(json(report->result.at("found")), std::string("true"));
            QCOMPARE(json(report->result.at("source_line")), std::string("\"model.py:10\""));
        }
    }

    void namesTheUnsavedAncestors()
    {
        const core::Report report = run("find_nan", "input x:f32[2]=1\n"
                                                    "add x 1 -> a:f32[2]\n"
                                                    "sub x x -> b:f32[2]\n"
                                                    "mul x 2 -> c:f32[2]\n"
                                                    "div a b -> d:f32[2]=inf\n"
                                                    "output d\n");
        QCOMPARE(json(report.result.at("scope")), std::string("\"first among saved tensors\""));
        QCOMPARE(json(report.result.at("uncertainty_zone")), std::string("[\"add_1_1\", \"sub_1_2\"]"));
        QCOMPARE(json(report.result.at("kind")), std::string("\"inf\""));
    }

    void cleanIsScopedToWhatWasChecked()
    {
        const core::Report clean = run("bisect_nan", "input x:f32[2]=1\nrelu x -> y:f32[2]=1\noutput y\n");
        QCOMPARE(clean.status, std::string("clean"));
        QVERIFY(!clean.found);
        const core::Report partial = run("bisect_nan", "input x:f32[2]=1\nrelu x -> y:f32[2]\noutput y\n");
        QCOMPARE(partial.status, std::string("clean_among_checked"));
        QCOMPARE(json(partial.result.at("first_bad_thing").at("coverage")), std::string("\"partial\""));
    }

    void blamesBuffersAndCarriersButNeverInputs()
    {
        const core::Report report =
            run("bisect_nan", "bufferrow bn.mean:f32[2]=nan\n"
                              "input x:f32[2]=nan\nrelu x -> y:f32[2]=nan\noutput y\n");
        QCOMPARE(json(report.result.at("label")), std::string("\"buffer_1\""));
        const core::Report carrier =
            run("bisect_nan", "input x:f32[2]=nan\nrelu x -> y:f32[2]=nan\noutput y\n");
        QCOMPARE(json(carrier.result.at("label")), std::string("\"relu_1_1\""));
    }

    void tellsBirthsFromCarriersAndSinks()
    {
        const core::Report report = run("nonfinite_origin", "input x:f32[2]=0,1\n"
                                                            "log x -> a:f32[2]=-inf,0 @m.py:3\n"
                                                            "mul a 0 -> b:f32[2]=nan,0 @m.py:4\n"
                                                            "nan_to_num b -> c:f32[2]=0,0 @m.py:5\n"
                                                            "output c\n");
        const Value &result = report.result;
        QCOMPARE(json(result.at("verdict")), std::string("\"origin\""));
        QCOMPARE(result.at("births").toList().size(), std::size_t(1));
        const Value &birth = result.at("births").toList()[0];
        QCOMPARE(json(birth.at("func")), std::string("\"log\""));
        QCOMPARE(json(birth.at("first_index")), std::string("[0]"));
        QCOMPARE(json(birth.at("by_design")), std::string("false"));
        QCOMPARE(json(birth.at("source").at("line")), std::string("3"));
        QCOMPARE(json(result.at("nan_birth").at("func")), std::string("\"mul\""));
        QCOMPARE(json(result.at("sinks").toList()[0].at("swallowed")), std::string("\"nan\""));
        QCOMPARE(json(result.at("coverage_basis")), std::string("\"saved_payloads\""));
    }

    void masksAreByDesignUntilTheyReachTheOutput()
    {
        const std::string_view mask = "input x:f32[2]=1\ninput m:b8[2]=0,1\n"
                                      "masked_fill x m -inf -> s:f32[2]=1,-inf\n";
        const core::Report fine =
            run("nonfinite_origin", std::string(mask) + "softmax s -1 -> p:f32[2]=1,0\noutput p\n");
        QVERIFY(!fine.found);
        QCOMPARE(fine.status, std::string("clean"));
        QCOMPARE(json(fine.result.at("headline")), std::string("\"no finding; -Inf by design in 1 mask\""));
        QCOMPARE(json(fine.result.at("found")), std::string("true"));
        const core::Report out =
            run("nonfinite_origin", std::string(mask) + "mul s 2 -> t:f32[2]=2,-inf\noutput t\n");
        QVERIFY(out.found);
        QCOMPARE(out.result.at("reached").toList().size(), std::size_t(1));
        const core::Report row = run("nonfinite_origin", "input x:f32[2]=1\ninput m:b8[2]=1\n"
                                                         "masked_fill x m -inf -> s:f32[2]=-inf\n"
                                                         "softmax s -1 -> p:f32[2]=nan\noutput p\n");
        QVERIFY(row.found);
        QCOMPARE(json(row.result.at("nan_birth").at("func")), std::string("\"softmax\""));
        QVERIFY(row.result.at("reached").toList().empty());
    }

    void recordedStatisticsCountAsChecked()
    {
        const core::Report report =
            run("nonfinite_origin", "input x:f32[2]=1 !stats\nrelu x -> y:f32[2]=1 !stats\noutput y\n");
        QCOMPARE(json(report.result.at("coverage_basis")), std::string("\"recorded_statistics\""));
        QCOMPARE(json(report.result.at("unexamined")), std::string("0"));
        QCOMPARE(report.status, std::string("clean"));
    }

    void stopsWhenCancelled()
    {
        std::stop_source stop;
        stop.request_stop();
        core::ReportRequest request;
        request.trace = tests::traceFromText(kZeroOverZero);
        const auto report =
            core::runReport(*core::findReport("find_nan"), request, core::JobContext(stop.get_token()));
        QVERIFY(!report.isOk());
        QCOMPARE(report.error().code(), core::ErrorCode::cancelled);
    }

    void refusesOptionsItDoesNotHave()
    {
        core::ReportRequest request;
        request.trace = tests::traceFromText(kZeroOverZero);
        request.options = Value::object({{"bwd", 1}});
        const auto report = core::runReport(*core::findReport("find_nan"), request, core::JobContext());
        QVERIFY(!report.isOk());
        QCOMPARE(report.error().code(), core::ErrorCode::invalidArgument);
        QCOMPARE(report.error().detail(), std::string("option_unknown"));
    }

    void cardIsBounded()
    {
        std::string text = "input x:f32[1]=1\n";
        for (int i = 0; i < 9; ++i)
            text += "div x 0 -> y" + std::to_string(i) + ":f32[1]=inf\n";
        const core::Report report = run("nonfinite_origin", text + "output y8\n");
        const std::string card = core::reportCard(report);
        QVERIFY(card.starts_with("nonfinite_origin(model) status=found [critical=9]\n  coverage: "));
        QVERIFY(card.find("  ... 4 more findings (see --json)") != std::string::npos);
        QVERIFY(core::reportCsv(report).starts_with("op,what,kind,nan,pinf,ninf,module,source_line\r\n"));
    }
};

QTEST_APPLESS_MAIN(TestNonFiniteReports)
#include "tst_nonfinite_reports.moc"
