// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rerun_reports.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/rerun.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <cstdlib>

namespace core {
namespace {

std::string flag(bool set)
{
    return set ? "True" : "False";
}

// What decides between equal and unequal bits beside the seed. Read only.
Value witnesses()
{
    const at::Context &context = at::globalContext();
    const char *const workspace = std::getenv("CUBLAS_WORKSPACE_CONFIG");
    Value list = Value::list();
    const auto add = [&list](std::string_view name, std::string value) {
        list.append(Value::list({name, std::move(value)}));
    };
    add("torch.are_deterministic_algorithms_enabled", flag(context.deterministicAlgorithms()));
    add("torch.backends.cudnn.deterministic", flag(context.deterministicCuDNN()));
    add("torch.backends.cudnn.benchmark", flag(context.benchmarkCuDNN()));
    add("torch.backends.mkldnn.deterministic", flag(context.deterministicMkldnn()));
    add("CUBLAS_WORKSPACE_CONFIG", workspace == nullptr ? "<unset>" : workspace);
    add("torch.get_num_threads", std::to_string(at::get_num_threads()));
    add("torch.get_num_interop_threads", std::to_string(at::get_num_interop_threads()));
    add("cpu_capability", at::get_cpu_capability());
    return list;
}

// The reruns after the first run, and the one with another seed.
Status rerun(Reruns &runs, DeterminismFacts &facts, const JobContext &job)
{
    for (std::int64_t i = 1; i < facts.runs; ++i) {
        const auto trace = runs.again({facts.seed, {}, {}, {}});
        if (!trace)
            return trace.error().prefixed("run " + std::to_string(i + 1) + " of " +
                                          std::to_string(facts.runs));
        Result<RunComparison> compared = compareRuns(*facts.first, **trace, facts.policy, job);
        if (!compared)
            return compared.error();
        facts.reruns.push_back(*std::move(compared));
    }
    if (!facts.seedSensitivity)
        return Status::ok();
    const auto trace = runs.again({facts.seed + 1, {}, {}, {}});
    if (!trace)
        return trace.error().prefixed("the run with another seed");
    Result<RunComparison> compared = compareRuns(*facts.first, **trace, facts.policy, job);
    if (!compared)
        return compared.error();
    facts.otherSeed = *std::move(compared);
    return Status::ok();
}

} // namespace

CaptureOutcome liveCheckDeterminism(const CaptureRequest &request, const TaskContext &context)
{
    DeterminismFacts facts;
    facts.subject = subjectOf(request);
    facts.runs = request.options.at("runs").toInt();
    facts.seed = effectiveSeed(request);
    facts.policy = {numberOption(request, "rtol"), numberOption(request, "atol")};
    facts.seedSensitivity = request.options.at("seed_sensitivity").toBool();
    facts.witnesses = witnesses();
    if (facts.runs < 2)
        return refusedOutcome(request, {"InvalidArgumentError", "determinism_runs_invalid",
                                        "check_determinism compares at least 2 runs with one seed, got " +
                                            std::to_string(facts.runs),
                                        "use runs=2 or more"});
    const Result<LoadedModel> loaded = loadModel(request, context);
    if (!loaded)
        return failedOutcome(loaded.error());
    Reruns runs(*loaded->model, request, context);
    CaptureOutcome outcome = runs.first();
    if (!outcome.hasTrace() && outcome.error.detail() == "not_copyable") {
        facts.copyError = outcome.error.message();
        outcome.error = Status::ok();
        return Reruns::answered(std::move(outcome), determinismReport(facts));
    }
    if (!runs.firstTrace())
        return outcome;
    facts.first = runs.firstTrace();
    if (Status status = rerun(runs, facts, JobContext(context.stop)); !status) {
        outcome.error = std::move(status);
        return outcome;
    }
    return Reruns::answered(std::move(outcome), determinismReport(facts));
}

} // namespace core
