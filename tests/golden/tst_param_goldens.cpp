// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"
#include "core/io/tensor_file_trace.h"
#include "tests/support/golden_call.h"

#include <QTest>

#include <algorithm>
#include <filesystem>

using core::Value;
using tests::difference;
using tests::readJson;

namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

core::Result<core::Report> run(const std::string &helper, const fs::path &a, const fs::path &b,
                               const Value &options)
{
    core::ReportRequest request;
    const auto first = core::openTraceOrTensors(a, core::JobContext());
    if (!first)
        return first.error();
    request.trace = *first;
    if (!b.empty()) {
        const auto second = core::openTraceOrTensors(b, core::JobContext());
        if (!second)
            return second.error();
        request.other = *second;
    }
    request.options = options;
    return core::runReport(*core::findReport(helper), request, core::JobContext());
}

// Rows or findings by name, since a file's order is not the module's.
Value sortedBy(const Value &list, std::string_view key)
{
    Value::List items = list.toList();
    std::stable_sort(items.begin(), items.end(), [key](const Value &a, const Value &b) {
        return toJson(a.at(key)) + toJson(a.at("code")) < toJson(b.at(key)) + toJson(b.at("code"));
    });
    return Value(std::move(items));
}

std::string checkHealth(const Value &expected, const core::Report &report)
{
    const Names ignored = {"message",         "__type__",    "remedy", "follow_up",
                           "step_provenance", "n_nonfinite", "text"};
    const Value &wanted = expected.at("result");
    std::string found = difference(sortedBy(wanted.at("rows"), "name"),
                                   sortedBy(report.result.at("rows"), "name"), ignored, "rows");
    if (found.empty())
        found = difference(sortedBy(wanted.at("findings"), "names"),
                           sortedBy(report.result.at("findings"), "names"), ignored, "findings");
    for (const std::string_view key : {"checks_run", "skipped", "coverage"})
        if (found.empty() && wanted.find(key) != nullptr)
            found = difference(wanted.at(key), report.result.at(key), ignored, std::string(key));
    return found;
}

} // namespace

class TestParamGoldens : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void health_data() { listFolders("state.safetensors"); }

    void health()
    {
        QFETCH(QString, folder);
        const fs::path path = folder.toStdString();
        const Value expected = readJson(path / "expected.json");
        QStringList failures;
        for (const auto &[text, wanted] : expected.at("mapping").toObject()) {
            const tests::GoldenCall call = tests::parseGoldenCall(text);
            const auto report = run("param_health", path / "state.safetensors", {}, call.options);
            QVERIFY(report.isOk());
            // JSON has one kind of list: what the page refuses as no tuple is a pair here.
            if (text.find(": [") != std::string::npos)
                continue;
            std::string found;
            if (wanted.at("error").isString())
                found =
                    report->error && report->error->code == wanted.at("code").toString() ? "" : "no refusal";
            else
                found = report->error ? report->error->message : checkHealth(wanted, *report);
            if (!found.empty())
                failures.append(QString::fromStdString(text + ": " + found));
        }
        QVERIFY2(failures.isEmpty(), qPrintable(failures.join("\n  ")));
    }

    void pairs_data() { listFolders("a.safetensors"); }

    void pairs()
    {
        QFETCH(QString, folder);
        const fs::path path = folder.toStdString();
        const Value expected = readJson(path / "expected.json");
        const bool buffers = !readJson(path / "meta.json").at("buffers").at("a").toList().empty();
        std::size_t checked = 0;
        for (const auto &[text, wanted] : expected.toObject()) {
            const tests::GoldenCall call = tests::parseGoldenCall(text);
            // A file does not say what is a buffer, and holds no meta tensors.
            if (call.helper != "compare_params" || text.find("meta") != std::string::npos ||
                (buffers && !call.options.at("include_buffers").toBool()))
                continue;
            const bool swapped = text.find("(b, a") != std::string::npos;
            const auto report = run("compare_params", path / (swapped ? "b.safetensors" : "a.safetensors"),
                                    path / (swapped ? "a.safetensors" : "b.safetensors"), call.options);
            QVERIFY(report.isOk() && !report->error);
            const Value document = core::reportDocument(*report);
            QCOMPARE(difference(wanted.at("rows"), document.at("rows"), {"kind"}, text), std::string());
            QCOMPARE(difference(wanted.at("attrs"), document.at("attrs"), {}, text), std::string());
            ++checked;
        }
        QVERIFY(checked > 0);
    }

private:
    static void listFolders(const char *file)
    {
        QTest::addColumn<QString>("folder");
        const std::vector<fs::path> folders = tests::goldenFolders(OPSCOPE_GOLDENS_DIR, {file});
        QVERIFY(!folders.empty());
        for (const fs::path &folder : folders)
            QTest::newRow(folder.filename().string().c_str()) << QString::fromStdString(folder.string());
    }
};

QTEST_APPLESS_MAIN(TestParamGoldens)
#include "tst_param_goldens.moc"
