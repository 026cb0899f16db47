// SPDX-License-Identifier: GPL-3.0-or-later
// Every report on our own captures with a backward pass, the typed refusals, and the examples of the helpers'
// page.
#include "core/analysis/report_registry.h"
#include "core/io/trace_registry.h"
#include "core/trace/op_flops.h"
#include "core/trace/op_names.h"
#include "tests/support/cli_process.h"
#include "tests/support/corpus_case.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

using support::cli;
using support::CliResult;
using support::CorpusCase;

namespace {

QString golden(const QString &path)
{
    return OPSCOPE_GOLDENS_DIR "/" + path;
}

// Names in the corpus that no rule counts: their FLOPs are unknown on purpose, never zero and never guessed.
const std::set<std::string> kNamesWithoutRule = {
    "diff", "fft_irfft", "fft_rfft", "gru", "linear_dynamic", "lstm", "outer", "pad", "randn_like"};

// Models of the corpus whose outputs reach no parameter or input that requires a gradient.
bool hasGraph(const QString &name)
{
    for (const char *without : {"custom_op/", "raises/"})
        if (name.startsWith(QLatin1String(without)))
            return false;
    return true;
}

bool asksForTraces(core::ReportSubject subject)
{
    return subject != core::ReportSubject::nothing;
}

// What is wrong with a report as an answer; empty: nothing.
QString wrongWith(const core::Report &report, std::string_view name)
{
    if (report.reportType != name)
        return "its type is " + QString::fromStdString(report.reportType);
    if (report.error)
        return report.error->type.empty() || report.error->message.empty() ? "a refusal without words" : "";
    if (report.subject.empty() || report.status.empty())
        return "no subject or no status";
    const core::Value document = core::reportDocument(report);
    if (document.find("result") == nullptr && document.find("rows") == nullptr)
        return "neither result nor rows";
    for (const core::ReportRow &row : report.table.rows)
        if (row.cells.size() != report.table.columns.size())
            return "a row has another number of cells than there are columns";
    const std::string json = core::toJson(document);
    if (!core::parseJson(json, "report"))
        return "its JSON does not parse";
    const std::string card = core::reportCard(report);
    if (card.find(name) != 0 || card.find("More: ") == std::string::npos)
        return "its card is " + QString::fromStdString(card);
    const bool empty = core::reportText(report).empty() || core::reportMarkdown(report).empty() ||
                       core::reportCsv(report).empty();
    return empty ? "an empty form" : "";
}

} // namespace

class TestCliReports : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyReportOnOwnCaptures_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString &name : support::corpusModels(OPSCOPE_CORPUS_DIR "/models"))
            if (hasGraph(name))
                QTest::newRow(qPrintable(name)) << name;
    }
    void everyReportOnOwnCaptures()
    {
        QFETCH(QString, name);
        const CorpusCase model = support::readCorpusCase(
            OPSCOPE_CORPUS_DIR "/models/" + name.section('/', 0, 0), name.section('/', 1), "expected.json");
        const QTemporaryDir work;
        const QString path = work.filePath("run.opscope");
        QStringList arguments = model.captureArguments(work.path(), path);
        CliResult captured = cli(QStringList(arguments) << "--backward"
                                                        << "sum");
        if (captured.exitCode != 0) // integers, frozen weights: nothing to differentiate
            captured = cli(arguments);
        QVERIFY2(captured.exitCode == 0, captured.messages.constData());
        const auto opened = core::openTrace(path.toStdString(), core::JobContext());
        QVERIFY(opened.isOk());
        collectNames(**opened);
        const auto statistics = std::make_shared<core::TraceStatistics>(*opened);
        for (const core::ReportDefinition &definition : core::reportDefinitions()) {
            core::ReportRequest request;
            request.trace = asksForTraces(definition.subject) ? *opened : nullptr;
            const bool pair = definition.subject == core::ReportSubject::twoTraces ||
                              definition.subject == core::ReportSubject::twoTensors;
            request.other = pair ? *opened : nullptr;
            request.statistics = request.trace ? statistics : nullptr;
            request.otherStatistics = pair ? statistics : nullptr;
            request.options = core::Value::object();
            if (definition.name == "lineage")
                request.options.set("op_or_label", -1);
            const auto report = core::runReport(definition, request, core::JobContext());
            QVERIFY2(report.isOk(), report.isOk() ? "" : report.error().message().c_str());
            const QString wrong = wrongWith(*report, definition.name);
            QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1: %2").arg(
                                          QString::fromStdString(std::string(definition.name)), wrong)));
            checkAgainstItself(*report);
        }
    }

    // Runs after the captures.
    void namesWithoutFlopRule()
    {
        QStringList names;
        for (const std::string &name : m_withoutRule)
            names.append(QString::fromStdString(name));
        QStringList known;
        for (const std::string &name : kNamesWithoutRule)
            known.append(QString::fromStdString(name));
        QCOMPARE(names.join(' '), known.join(' '));
    }

    // A .pt2 file does not say what its modules return; the rows are those of the TorchScript capture.
    void bothFormatsKnowWhatModulesReturn()
    {
        QStringList modules[2];
        for (const int i : {0, 1}) {
            const CorpusCase model = support::readCorpusCase(
                OPSCOPE_CORPUS_DIR "/models/cnn", i == 0 ? "model.pt2" : "model.pt", "expected.json");
            const QTemporaryDir work;
            const QString path = work.filePath("run.opscope");
            const CliResult captured = cli(model.captureArguments(work.path(), path));
            QVERIFY2(captured.exitCode == 0, captured.messages.constData());
            const CliResult report = cli({"report", "dead_neurons", path, "--json"});
            for (const QJsonValue &row : report.object()["rows"].toArray())
                modules[i].append(row.toObject()["module"].toString());
        }
        QVERIFY(modules[0].size() > 3);
        QCOMPARE(modules[0].join(' '), modules[1].join(' '));
    }

    void refusalsAreTyped_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("code");
        const QString forward = golden("01_zero_over_zero/trace.tlspec");
        const QString twice = golden("30_two_backward_passes/trace.tlspec");
        const QString once = golden("21_dead_relu_full/trace.tlspec");
        const QString weights = golden("85_params_plain_mlp/state.safetensors");
        const auto row = [](const char *name, const QStringList &arguments, const char *type,
                            const char *code) { QTest::newRow(name) << arguments << type << code; };
        const char *const invalid = "InvalidArgumentError";
        row("by", {"hot_path", once, "--by", "nonsense"}, invalid, "hot_path_metric_invalid");
        // A word is a word, whatever else it could be.
        row("by nothing", {"hot_path", once, "--by", "none"}, invalid, "hot_path_metric_invalid");
        row("basis true", {"grad_health", once, "--basis", "true"}, invalid, "grad_basis_invalid");
        row("device time", {"hot_path", once, "--by", "device_time"}, "ProfilerSessionError",
            "device_time_unavailable");
        row("no backward", {"bisect_nan_backward", forward}, invalid, "backward_capture_required");
        row("which pass", {"bisect_nan_backward", twice}, invalid, "bwd_selector_required");
        row("no such pass", {"bisect_nan_backward", twice, "--bwd", "7"}, invalid, "bwd_selector_unknown");
        row("no such pass of gradients", {"grad_health", twice, "--bwd", "7"}, invalid,
            "bwd_selector_unknown");
        row("scale 0", {"bisect_nan_backward", once, "--grad-scale", "0"}, invalid, "grad_scale_invalid");
        row("basis", {"grad_health", once, "--basis", "x"}, invalid, "grad_basis_invalid");
        row("scale NaN", {"grad_health", once, "--grad-scale", "NaN"}, invalid, "grad_scale_invalid");
        row("no scale in the mapping", {"grad_health", once, "--grad-scales", "{\"1\": null}"}, invalid,
            "grad_scale_invalid");
        row("two scales", {"grad_health", once, "--grad-scale", "2", "--grad-scales", "{\"1\": 2.0}"},
            "KeywordConflictError", "grad_scale_conflict");
        row("fraction", {"dtype_range", once, "--max-fraction", "2"}, "ValueError", "");
        row("check fraction", {"param_health", weights, "--max-fraction", "1.5"}, "CheckConfigError",
            "check_fraction_invalid");
        row("within", {"param_health", weights, "--within", "[\"nope\"]"}, "CheckConfigError",
            "audit_within_unknown_name");
        row("bounds of nothing", {"param_health", weights, "--bounds", "{\"nope\": [0, 1]}"},
            "CheckConfigError", "audit_bounds_unknown_name");
        row("no graph", {"walk_grad_fn", forward}, "GradFnWalkError", "grad_fn_walk_no_graph");
        row("no graph to sketch", {"sketch_grad_fn", forward}, "GradFnWalkError", "grad_fn_walk_no_graph");
        row("unknown option", {"find_nan", once, "--depth", "3"}, invalid, "option_unknown");
        row("wrong type", {"grad_health", once, "--bwd", "first"}, invalid, "option_type");
    }
    void refusalsAreTyped()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, type);
        QFETCH(QString, code);
        const CliResult result = cli(QStringList{"report"} << arguments << "--json");
        QCOMPARE(result.exitCode, 2);
        const QJsonObject error = result.object()["error"].toObject();
        QCOMPARE(error["type"].toString(), type);
        if (!code.isEmpty())
            QCOMPARE(error["code"].toString(), code);
        QVERIFY(!error["message"].toString().isEmpty());
        QVERIFY(error.contains("remedy"));
        const CliResult text = cli(QStringList{"report"} << arguments);
        QCOMPARE(text.exitCode, 2);
        QVERIFY(!text.messages.isEmpty());
    }

    void exitCodesSayWhatWasFound_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exitCode");
        const QString bad = golden("01_zero_over_zero/trace.tlspec");
        const QString clean = golden("48_shared_module_thrice/trace.tlspec");
        const auto row = [](const char *name, const QStringList &arguments, int exitCode) {
            QTest::newRow(name) << arguments << exitCode;
        };
        row("found", {"find_nan", bad}, 1);
        row("audit with a finding", {"audit", bad}, 1);
        row("clean", {"find_nan", clean}, 0);
        row("dead units", {"dead_neurons", clean}, 1);
        row("a ranking", {"hot_path", bad}, 0);
        row("lineage", {"lineage", bad, "--op-or-label", "truediv_1_2"}, 0);
        row("lineage of none", {"lineage", bad, "--op-or-label", "none"}, 0);
        row("lineage of half an address", {"lineage", bad, "--op-or-label", ".1"}, 0);
        row("the same", {"compare", clean, clean}, 0);
        row("diverged",
            {"compare", golden("70_pair_one_weight/a.tlspec"), golden("70_pair_one_weight/b.tlspec")}, 1);
        row("no file", {"find_nan", "nothing.opscope"}, 3);
        row("too few files", {"compare", bad}, 2);
    }
    void exitCodesSayWhatWasFound()
    {
        QFETCH(QStringList, arguments);
        QFETCH(int, exitCode);
        for (const QStringList &form : {QStringList{}, QStringList{"--json"}, QStringList{"--card"}})
            QCOMPARE(cli(QStringList{"report"} << arguments << form).exitCode, exitCode);
    }

    // Every example of docs/helpers.md as it stands there.
    void examplesOfTheHelpersPageRun_data()
    {
        QTest::addColumn<QString>("example");
        QFile page(OPSCOPE_SOURCE_DIR "/docs/helpers.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(page.readAll());
        static const QRegularExpression example("`(opscope-cli [^`]+)`");
        for (auto match = example.globalMatch(text); match.hasNext();) {
            const QString command = match.next().captured(1);
            if (!command.contains("NAME"))
                QTest::newRow(qPrintable(command)) << command;
        }
    }
    void examplesOfTheHelpersPageRun()
    {
        QFETCH(QString, example);
        const QTemporaryDir work;
        prepareExamples(work);
        QProcess shell;
        shell.setWorkingDirectory(work.path());
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", QStringLiteral(OPSCOPE_BIN_DIR) + ":" + environment.value("PATH"));
        shell.setProcessEnvironment(environment);
        shell.start("/bin/sh", {"-c", example});
        QVERIFY(shell.waitForFinished(120000));
        const QByteArray out = shell.readAllStandardOutput();
        const QByteArray messages = shell.readAllStandardError();
        if (example.contains(" graph_breaks ")) { // the one helper that is refused without a recorder's trace
            QCOMPARE(shell.exitCode(), 2);
            QVERIFY2(messages.contains("Dynamo"), messages.constData());
            return;
        }
        QVERIFY2(shell.exitCode() == 0 || shell.exitCode() == 1, messages.constData());
        QVERIFY(!out.isEmpty());
    }

private:
    // compare, first_divergence and compare_params of a trace with itself find only values that equal
    // nothing.
    static void checkAgainstItself(const core::Report &report)
    {
        if (report.reportType != "compare" && report.reportType != "compare_params")
            return;
        for (std::size_t i = 0; i < report.table.rows.size(); ++i) {
            if (report.table.cell(i, "max_abs").isNull() || report.table.cell(i, "max_abs").isString())
                continue;
            QVERIFY(!(report.table.cell(i, "max_abs").toDouble() > 0.0));
        }
        QCOMPARE(report.attrs.at("only_a").toInt(), 0);
        QCOMPARE(report.attrs.at("only_b").toInt(), 0);
    }

    void collectNames(const core::Trace &trace)
    {
        for (const core::OpRow &row : trace.ops()) {
            const std::string_view func = trace.string(trace.call(row.call).func);
            if (row.kind == core::CallKind::compute && row.tensor.isValid() &&
                !core::isScalarBookkeeping(func) && !core::hasFlopRule(core::pythonFunctionName(func)))
                m_withoutRule.insert(std::string(func));
        }
    }

    static void prepareExamples(const QTemporaryDir &work)
    {
        const auto make = [&](const QString &from, const QString &to) {
            const CliResult made = cli({"convert", golden(from), "-o", work.filePath(to)});
            QVERIFY2(made.exitCode == 0, made.messages.constData());
        };
        make("21_dead_relu_full/trace.tlspec", "run.opscope");
        make("70_pair_one_weight/a.tlspec", "a.opscope");
        make("70_pair_one_weight/b.tlspec", "b.opscope");
        const auto copy = [&](const QString &from, const QString &to) {
            QVERIFY2(QFile::copy(from, work.filePath(to)), qPrintable(from));
        };
        copy(golden("85_params_plain_mlp/state.safetensors"), "model.safetensors");
        copy(golden("92_params_pair_bias_shift/a.safetensors"), "a.safetensors");
        copy(golden("92_params_pair_bias_shift/b.safetensors"), "b.safetensors");
        copy(OPSCOPE_CORPUS_DIR "/models/mlp/model.pt2", "model.pt2");
        copy(OPSCOPE_CORPUS_DIR "/models/mlp/model.pt", "model.pt");
        copy(OPSCOPE_CORPUS_DIR "/models/mlp/x.npy", "x.npy");
        QFile tree(work.filePath("tree.json"));
        QVERIFY(tree.open(QIODevice::WriteOnly));
        QVERIFY(tree.write("{\"args\": [{\"tensor\": \"x.npy\"}]}") > 0);
    }

    std::set<std::string> m_withoutRule;
};

QTEST_GUILESS_MAIN(TestCliReports)
#include "tst_cli_reports.moc"
