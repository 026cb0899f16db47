// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"
#include "core/io/trace_registry.h"
#include "tests/support/golden_call.h"

#include <QTest>

#include <algorithm>
#include <filesystem>

using core::Value;
using tests::difference;
using tests::GoldenCall;
using tests::readJson;

namespace {

namespace fs = std::filesystem;

// Free texts are ours; further names are what 2.36.1 adds and the page does not have. The module of a ledger
// row is a neighbour's in 2.36.1.
const std::vector<std::string> kTexts = {"message",           "__type__",       "text",
                                         "summary",           "follow_up",      "alignment",
                                         "unit_axis",         "basis_notice",   "defer_recipe",
                                         "cost_tier",         "amp_disclosure", "torchlens_capture_honesty",
                                         "all_exploding_hint"};

struct Traces
{
    std::shared_ptr<const core::Trace> a;
    std::shared_ptr<const core::Trace> b; // of pairs
    std::shared_ptr<core::TraceStatistics> statistics;
};

Traces openCase(const fs::path &folder)
{
    Traces traces;
    const bool pair = fs::exists(folder / "a.tlspec");
    const auto a = core::openTrace(folder / (pair ? "a.tlspec" : "trace.tlspec"), core::JobContext());
    if (!a)
        return traces;
    traces.a = *a;
    if (pair)
        if (const auto b = core::openTrace(folder / "b.tlspec", core::JobContext()); b)
            traces.b = *b;
    traces.statistics = std::make_shared<core::TraceStatistics>(traces.a);
    return traces;
}

// Findings of the page's own shape, without texts.
Value plainFindings(const Value &findings)
{
    Value list = Value::list();
    for (const Value &finding : findings.toList())
        list.append(Value::object({{"severity", finding.at("severity")},
                                   {"check", finding.at("check")},
                                   {"ops", finding.at("ops")}}));
    return list;
}

// Reasons that are texts of ours are compared as there or not there.
Value withoutReasonTexts(const Value &rows)
{
    Value list = Value::list();
    for (Value row : rows.toList()) {
        row.set("reason", row.at("reason").toString().empty() ? "" : "some");
        list.append(row);
    }
    return list;
}

std::string checkTable(const Value &expected, const core::Report &report, bool reasonTexts)
{
    const Value document = core::reportDocument(report);
    const Value rows = reasonTexts ? document.at("rows") : withoutReasonTexts(document.at("rows"));
    const Value wanted = reasonTexts ? expected.at("rows") : withoutReasonTexts(expected.at("rows"));
    std::vector<std::string> ignored = kTexts;
    if (document.at("attrs").at("metric").toString() == "duration")
        ignored.insert(ignored.end(), {"total_cost", "pct_total"});
    std::string found = difference(wanted, rows, ignored, "rows");
    if (found.empty())
        found = difference(expected.at("attrs"), document.at("attrs"), kTexts, "attrs");
    // The row cores of 2.36.1 have grad_health's columns in another order than the page.
    if (found.empty() && report.reportType != "grad_health" && !expected.at("columns").toList().empty())
        found = difference(expected.at("columns"), document.at("columns"), {}, "columns");
    return found;
}

std::string checkRefusal(const Value &expected, const core::Report &report)
{
    if (!report.error)
        return "expected the refusal " + expected.at("error").toString();
    if (!expected.at("code").isNull() && report.error->code != expected.at("code").toString())
        return "expected the code " + expected.at("code").toString() + ", got " + report.error->code;
    return report.error->type == expected.at("error").toString()
               ? ""
               : "expected " + expected.at("error").toString() + ", got " + report.error->type;
}

std::string checkRange(const Value &wanted, const Value &actual)
{
    std::string found = difference(plainFindings(wanted.at("findings")), plainFindings(actual.at("findings")),
                                   {}, "findings");
    if (found.empty())
        found = difference(wanted.at("n_ops_audited"), actual.at("num_audited_ops"), {}, "num_audited_ops");
    return found.empty() ? difference(wanted.at("n_ops_total"), actual.at("num_ops"), {}, "num_ops") : found;
}

std::string checkTyped(const std::string &helper, const Value &expected, const core::Report &report)
{
    Value wanted = expected.at("result");
    if (helper == "dtype_range")
        return checkRange(wanted, report.result);
    if (helper == "nonfinite_origin") {
        const std::string status = wanted.at("capture_status").toString();
        wanted.set("capture_status",
                   status.substr(status.find('.') + 1)); // an enum's name and a dot in front
        if (wanted.at("amp_disclosure").isNull() != report.result.at("amp_disclosure").isNull())
            return "amp_disclosure";
    }
    if (wanted.at("op").isObject())
        wanted.set("op", wanted.at("op").at("op"));
    std::vector<std::string> ignored = kTexts;
    if (helper == "find_nan" ||
        helper == "nonfinite_origin") // the seed's rules say what an unsaved payload is
        ignored.insert(ignored.end(), {"scope", "scope_note", "uncertainty_zone", "coverage"});
    std::string found = difference(wanted, report.result, ignored, helper);
    if (found.empty() && expected.find("first_bad_thing") != nullptr) {
        ignored.emplace_back("detection_basis"); // 2.36.1 reads it off the scope's words, a defect of its own
        found = difference(expected.at("first_bad_thing"), report.result.at("first_bad_thing"), ignored,
                           "first_bad_thing");
    }
    return found;
}

std::string checkLedger(const Value &ledger, const core::Report &report)
{
    std::string found;
    for (const std::string_view key : {"transitions", "healed", "found", "checked_calls", "unchecked_calls"})
        if (found.empty() && ledger.find(key) != nullptr)
            found = difference(ledger.at(key), report.result.at(key), kTexts, std::string(key));
    const Value &birth = report.result.at("birth");
    if (found.empty() && ledger.at("birth").isNull() != birth.isNull())
        found = "birth";
    if (found.empty() && ledger.at("birth").isString())
        found = difference(ledger.at("birth"), birth.at("grad_fn_label"), {}, "birth");
    return found;
}

std::vector<std::string> sortedNames(const Value &list, bool pairs)
{
    std::vector<std::string> names;
    for (const Value &item : list.toList())
        names.push_back(pairs ? item.toList()[0].toString() : item.toString());
    std::sort(names.begin(), names.end());
    return names;
}

std::string checkAudit(const Value &seed, const core::Report &report)
{
    const std::string found =
        difference(seed.at("checks_run"), report.result.at("checks_run"), {}, "checks_run");
    if (!found.empty())
        return found;
    if (sortedNames(seed.at("skipped"), false) != sortedNames(report.result.at("skipped"), true))
        return "skipped: got " + toJson(report.result.at("skipped"));
    return difference(plainFindings(seed.at("findings")), plainFindings(report.result.at("findings")), {},
                      "findings");
}

std::string checkModules(const Value &expected, const core::Report &report)
{
    const std::size_t rows = std::min(report.table.rows.size(), expected.at("rows").toList().size());
    for (std::size_t i = 0; i < rows; ++i) {
        const std::string found = difference(expected.at("rows").toList()[i].at("module"),
                                             report.table.cell(i, "module"), {}, "module");
        if (!found.empty())
            return found;
    }
    return {};
}

std::string checkSeedFindNan(const Value &expected, const core::Report &report)
{
    const Value &first = report.result.at("first_bad_thing");
    return difference(expected.at("uncertainty_zone"), report.result.at("uncertainty_zone"), {}, "zone") +
           difference(expected.at("label"), report.result.at("label"), {}, "label") +
           difference(expected.at("scope"), report.result.at("scope"), {}, "scope") +
           difference(expected.at("detection_basis"), first.at("detection_basis"), {}, "basis") +
           difference(expected.at("coverage"), first.at("coverage"), {}, "coverage");
}

std::string checkSeedRange(const Value &expected, const core::Report &report)
{
    Value findings = Value::list();
    for (const Value &finding : expected.at("findings").toList())
        findings.append(Value::object({{"severity", finding.at("severity")},
                                       {"check", finding.at("check")},
                                       {"ops", Value::list({finding.at("op")})}}));
    return difference(findings, plainFindings(report.result.at("findings")), {}, "findings") +
           difference(expected.at("num_audited_ops"), report.result.at("num_audited_ops"), {}, "audited");
}

class CaseCheck
{
public:
    explicit CaseCheck(const fs::path &folder)
        : m_traces(openCase(folder)), m_expected(readJson(folder / "expected.json")),
          m_seed(fs::exists(folder / "seed_rules.json") ? readJson(folder / "seed_rules.json")
                                                        : Value::object())
    {
    }

    bool isOpen() const { return m_traces.a != nullptr; }
    std::size_t checked() const { return m_checked; }

    QStringList run()
    {
        for (const auto &[call, expected] : m_expected.at("loaded").toObject()) {
            const Value *live = m_expected.at("live").find(call);
            // Where the trace in memory knew more; not where it only failed (on sparse tensors).
            const bool isLive =
                live != nullptr && call.starts_with("dtype_range") && !live->at("error").isString();
            note(call, check(call, isLive ? *live : expected));
        }
        for (const auto &[call, expected] : m_seed.toObject())
            note("seed " + call, checkSeed(call, expected));
        return m_failures;
    }

private:
    void note(const std::string &call, const std::string &failure)
    {
        if (!failure.empty())
            m_failures.append(QString::fromStdString(call + ": " + failure));
    }

    core::Result<core::Report> ask(const std::string &helper, const Value &options, const std::string &text)
    {
        ++m_checked;
        const bool swapped = text.find("(b, a)") != std::string::npos;
        const bool self = text.find("(self, self)") != std::string::npos;
        core::ReportRequest request;
        request.trace = swapped ? m_traces.b : m_traces.a;
        request.other = self || swapped ? m_traces.a : m_traces.b;
        if (!swapped)
            request.statistics = m_traces.statistics;
        request.options = options;
        auto report = core::runReport(*core::findReport(helper), request, core::JobContext());
        if (report && !report->error && !report->isTabular)
            report->result = core::reportDocument(*report).at("result");
        return report;
    }

    // Checked by the seed's rules instead, or a fact of data frames.
    bool isSuperseded(const std::string &text, const std::string &helper) const
    {
        const bool pairTable = helper == "compare" || helper == "first_divergence";
        return helper == "audit" || helper.starts_with("dead_neurons") || helper == "compare frame" ||
               text.find("==") != std::string::npos ||
               (pairTable && text.find("self") == std::string::npos && m_seed.find("compare()") != nullptr);
    }

    std::string check(const std::string &text, const Value &expected)
    {
        GoldenCall call = tests::parseGoldenCall(text);
        if (isSuperseded(text, call.helper))
            return {};
        if (call.helper == "lineage")
            call.options.set("op_or_label", call.positional.at(0));
        if (call.options.at("budget_gb").isString()) {
            const auto all = ask("recompute_candidates", Value::object(), {});
            call.options.set("budget_gb", all->attrs.at("total_freeable").toDouble() / 2.0 / 1073741824.0);
        }
        const auto report = ask(call.helper, call.options, text);
        return report ? compareReport(call, text, expected, *report) : report.error().message();
    }

    static std::string compareReport(const GoldenCall &call, const std::string &text, const Value &expected,
                                     const core::Report &report)
    {
        // Three typed refusals that 2.36.1 has otherwise (docs/deviations.md).
        if (call.options.at("by").toString() == "nonsense")
            return report.error && report.error->code == "hot_path_metric_invalid" ? "" : "no typed refusal";
        if (call.helper == "grad_health" && report.error && report.error->code == "bwd_selector_unknown")
            return {};
        if (expected.at("code").toString() == "layer_pass_ambiguous")
            return report.error ? "refused" : "";
        if (expected.at("error").isString())
            return checkRefusal(expected, report);
        if (report.error)
            return "refused: " + report.error->message;
        if (text.ends_with("summary")) {
            // Integers, booleans and complex values are compared here and were not available there.
            std::vector<std::string> ignored = kTexts;
            ignored.insert(ignored.end(), {"matched", "activation_unavailable"});
            return difference(expected.at("attrs"), report.attrs, ignored, "attrs");
        }
        if (call.helper == "bisect_nan_backward")
            return difference(expected.at("result").at("found"), report.result.at("found"), {}, "found") +
                   difference(expected.at("result").at("verdict_scope"), report.result.at("verdict_scope"),
                              {}, "scope");
        if (expected.find("rows") != nullptr)
            return checkTable(expected, report, call.helper != "grad_health");
        return checkTyped(call.helper, expected, report);
    }

    std::string checkSeed(const std::string &text, const Value &expected)
    {
        const GoldenCall call = tests::parseGoldenCall(text);
        if (call.helper == "backward_ledger_measured_order")
            return checkLedgers(expected);
        if (core::findReport(call.helper) == nullptr)
            return {};
        const auto report = ask(call.helper, call.options, text);
        if (!report || report->error)
            return "refused";
        if (call.helper == "audit")
            return checkAudit(expected, *report);
        if (call.helper == "find_nan")
            return checkSeedFindNan(expected, *report);
        if (call.helper == "dtype_range")
            return checkSeedRange(expected, *report);
        if (call.helper == "dead_neurons")
            return checkTable(expected, *report, true) + checkModules(expected, *report);
        return call.helper == "compare" ? checkCompare(call, text, expected, *report) : std::string();
    }

    // The seed names the alignment apart, so reasons are checked where there is none.
    std::string checkCompare(const GoldenCall &call, const std::string &text, const Value &expected,
                             const core::Report &report)
    {
        Value wanted = expected;
        Value rows = Value::list();
        for (Value row : expected.at("rows").toList()) {
            if (!row.at("alignment").isNull())
                row.set("reason", "aligned");
            rows.append(row);
        }
        wanted.set("rows", rows);
        const std::string found = checkTable(wanted, report, false);
        if (!found.empty())
            return found;
        const auto first = ask("first_divergence", call.options, text);
        const Value &op = first->result.at("op");
        return difference(expected.at("first_divergence"), op, {}, "first_divergence");
    }

    std::string checkLedgers(const Value &expected)
    {
        for (const auto &[pass, ledger] : expected.toObject()) {
            const auto report =
                ask("bisect_nan_backward", Value::object({{"bwd", std::stoll(pass.substr(4))}}), {});
            if (!report || report->error)
                return "refused";
            if (const std::string found = checkLedger(ledger, *report); !found.empty())
                return pass + " " + found;
        }
        return {};
    }

    Traces m_traces;
    Value m_expected;
    Value m_seed;
    QStringList m_failures;
    std::size_t m_checked = 0;
};

} // namespace

class TestReportGoldens : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void reports_data()
    {
        QTest::addColumn<QString>("folder");
        const std::vector<fs::path> folders =
            tests::goldenFolders(OPSCOPE_GOLDENS_DIR, {"trace.tlspec", "a.tlspec"});
        QVERIFY(folders.size() > (qEnvironmentVariableIsSet("OPSCOPE_GOLDENS") ? 0U : 40U));
        for (const fs::path &folder : folders)
            QTest::newRow(folder.filename().string().c_str()) << QString::fromStdString(folder.string());
    }

    // Same bundle in, same report out.
    void reports()
    {
        QFETCH(QString, folder);
        CaseCheck check(folder.toStdString());
        QVERIFY(check.isOpen());
        const QStringList failures = check.run();
        QVERIFY(check.checked() > 0);
        QVERIFY2(failures.isEmpty(), qPrintable(failures.join("\n  ")));
    }
};

QTEST_APPLESS_MAIN(TestReportGoldens)
#include "tst_report_goldens.moc"
