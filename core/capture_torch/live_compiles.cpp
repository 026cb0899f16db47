// SPDX-License-Identifier: GPL-3.0-or-later
// The helpers that count compilations. Dynamo is Python: what there is here is TorchScript's own executor.
#include "core/analysis/report_parts.h"
#include "core/analysis/report_value.h"
#include "core/capture/capture_checks.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/isolated_capture.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/model_capture.h"
#include "core/capture_torch/script_model.h"
#include "core/io/file_kind.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace core {
namespace {

// The executor compiles only in profiling mode, which captures turn off so that rows stay the same.
class ExecutorOptimisation
{
public:
    ExecutorOptimisation()
        : m_profiling(torch::jit::getProfilingMode()), m_optimise(torch::jit::getGraphExecutorOptimize())
    {
        torch::jit::getProfilingMode() = true;
        torch::jit::setGraphExecutorOptimize(true);
    }
    ~ExecutorOptimisation()
    {
        torch::jit::getProfilingMode() = m_profiling;
        torch::jit::setGraphExecutorOptimize(m_optimise);
    }
    ExecutorOptimisation(const ExecutorOptimisation &) = delete;
    ExecutorOptimisation &operator=(const ExecutorOptimisation &) = delete;

private:
    bool m_profiling;
    bool m_optimise;
};

struct RunCount
{
    bool compiled = false;   // the executor made a new graph for this run
    std::int64_t guards = 0; // places where that graph checks what it was specialised to
    std::int64_t nodes = 0;
    double seconds = 0.0;
};

std::int64_t guardsOf(const torch::jit::Block &block, std::int64_t &nodes)
{
    std::int64_t guards = 0;
    for (const torch::jit::Node *node : block.nodes()) {
        ++nodes;
        const std::string_view kind = node->kind().toQualString();
        guards +=
            kind == "prim::TypeCheck" || kind == "prim::RequiresGradCheck" || kind == "prim::BailOut" ? 1 : 0;
        for (const torch::jit::Block *inner : node->blocks())
            guards += guardsOf(*inner, nodes);
    }
    return guards;
}

Report reportOf(const CaptureRequest &request, const std::vector<RunCount> &runs)
{
    Report report = startReport("count_compiles", subjectOf(request));
    report.table.columns = {{"run", CellKind::integer, {}},
                            {"compiled", CellKind::boolean, {}},
                            {"specialisations", CellKind::integer, {}},
                            {"nodes", CellKind::integer, {}},
                            {"seconds", CellKind::number, "s"}};
    std::int64_t compilations = 0;
    std::int64_t most = 0;
    std::int64_t last = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunCount &run = runs[i];
        compilations += run.compiled ? 1 : 0;
        most = std::max(most, run.guards);
        last = run.compiled ? static_cast<std::int64_t>(i) + 1 : last;
        report.table.rows.push_back(
            {{static_cast<std::int64_t>(i) + 1, run.compiled, run.guards, run.nodes, run.seconds}, {}, {}});
    }
    report.result = Value::object({{"frames_compiled", Value()},
                                   {"script_compilations", compilations},
                                   {"script_specialisations", most},
                                   {"runs", static_cast<std::int64_t>(runs.size())},
                                   {"steady_after_run", last},
                                   {"note", "compilations of TorchScript's profiling executor; there are no "
                                            "Dynamo frames outside Python"}});
    report.status = "counted";
    report.coverage = std::to_string(runs.size()) + " runs of a fresh copy: " + std::to_string(compilations) +
                      " compilations, the last one in run " + std::to_string(last);
    return report;
}

ReportError unavailable()
{
    return {
        "CompileCountsUnavailableError", "compile_counts_unavailable",
        "Dynamo's compilation counters are in Python; an exported program is run as it is, nothing compiles",
        "count in Python with torch._dynamo.utils.counters, or give a TorchScript file: its executor is "
        "counted"};
}

Result<std::vector<RunCount>> countRuns(const CaptureRequest &request, const TaskContext &context,
                                        const RunnableModel &model, std::int64_t count)
{
    const PreservedRngState kept;
    const ExecutorOptimisation optimised;
    // A file of its own: executors that exist keep the mode they were made in.
    Result<std::unique_ptr<ScriptModel>> script = ScriptModel::loadPlain(request.modelPath);
    if (!script)
        return script.error();
    (*script)->prepare(request.train);
    const c10::AutoGradMode mode(request.gradEnabled);
    std::vector<RunCount> runs;
    std::set<std::shared_ptr<torch::jit::Graph>> seen; // kept, so that no address comes twice
    for (std::int64_t i = 0; i < count; ++i) {
        if (context.stop.stop_requested())
            return Status(ErrorCode::cancelled, "cancelled while counting");
        if (context.progress)
            context.progress({"counting compilations", {}, static_cast<std::uint64_t>(i), 0, {}});
        std::unordered_map<std::string, c10::IValue> named;
        for (const ModelInput &input : model.inputs())
            named.emplace(input.name, cloneInputTree(input.value));
        seedGenerators(request);
        const auto begin = std::chrono::steady_clock::now();
        const Result<c10::IValue> value = (*script)->run({}, std::move(named), nullptr);
        RunCount run;
        run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (!value)
            return value.error();
        if (request.timeLimitSeconds > 0.0 && run.seconds > request.timeLimitSeconds)
            return tookTooLong(request.timeLimitSeconds);
        if (const std::shared_ptr<torch::jit::Graph> graph = torch::jit::lastExecutedOptimizedGraph()) {
            run.compiled = seen.insert(graph).second;
            run.guards = guardsOf(*graph->block(), run.nodes);
        }
        runs.push_back(run);
    }
    return runs;
}

} // namespace

CaptureOutcome liveCountCompiles(const CaptureRequest &request, const TaskContext &context)
{
    const Result<LoadedModel> loaded = loadModel(request, context);
    if (!loaded)
        return failedOutcome(loaded.error());
    if (loaded->model->script() == nullptr)
        return refusedOutcome(request, unavailable());
    const std::int64_t count = request.options.at("runs").toInt();
    if (count < 1)
        return failedOutcome(
            {ErrorCode::invalidArgument, "runs is " + std::to_string(count) + ", it is at least 1"});
    const Result<std::vector<RunCount>> runs = countRuns(request, context, *loaded->model, count);
    if (!runs)
        return failedOutcome(runs.error());
    CaptureOutcome outcome;
    outcome.report = reportToValue(reportOf(request, *runs));
    return outcome;
}

CaptureOutcome liveGraphBreaks(const CaptureRequest &request, const TaskContext &)
{
    const Result<FileIdentity> file = identifyFile(request.modelPath);
    const bool isScript = file && file->kind == FileKind::torchScript;
    return refusedOutcome(
        request, {"GraphBreaksUnavailableError", "graph_breaks_unavailable",
                  std::string("graph breaks are found by Dynamo's explainer, which is in Python and looks at "
                              "Python code; ") +
                      (isScript ? "a TorchScript file was compiled without Dynamo and has none"
                                : "a .pt2 was exported as one graph without any"),
                  "run torch._dynamo.explain(model)(inputs) in Python, on the model the file was made of"});
}

} // namespace core
