// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"

#include "core/analysis/cost_reports.h"
#include "core/analysis/grad_fn_walk.h"
#include "core/analysis/gradient_reports.h"
#include "core/analysis/graph_reports.h"
#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/parameter_reports.h"
#include "core/analysis/report_options.h"
#include "core/analysis/report_parts.h"
#include "core/base/near_names.h"
#include "core/base/number_word.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

ReportOption option(std::string_view name, OptionType type, Value defaultValue, std::string_view help,
                    std::vector<std::string_view> choices = {})
{
    return {name, type, std::move(defaultValue), help, std::move(choices)};
}

ReportOption passOption()
{
    return option("bwd", OptionType::integer, {},
                  "which backward pass, from 1; needed when there are several");
}

std::vector<ReportOption> toleranceOptions()
{
    return {option("rtol", OptionType::number, 1e-5, "relative tolerance, of the second side's magnitude"),
            option("atol", OptionType::number, 1e-8, "absolute tolerance")};
}

std::vector<ReportOption> gradHealthOptions()
{
    return {passOption(),
            option("vanishing_threshold", OptionType::number, 1e-7, "norms above 0 and below this vanish"),
            option("exploding_threshold", OptionType::number, 1e4, "norms above this explode"),
            option("grad_scale", OptionType::number, {}, "the factor the loss was multiplied with"),
            option("grad_scales", OptionType::mapping, {}, "a factor for each backward pass: {\"1\": 65536}"),
            option("basis", OptionType::text, "total_norm", "what is judged: the norm or norm/sqrt(numel)",
                   {"total_norm", "rms"})};
}

std::vector<ReportOption> paramHealthOptions()
{
    return {
        option("include_buffers", OptionType::boolean, true, "look at buffers too"),
        option("within", OptionType::list, {}, "exact names to look at"),
        option("bounds", OptionType::mapping, {}, "declared limits: {\"name\": [low, high]}, null for open"),
        option("max_fraction", OptionType::number, 0.9, "share of the dtype's maximum that is too near"),
        option("subnormal_fraction_threshold", OptionType::number, 0.1,
               "share of subnormal values that is a lot")};
}

std::vector<ReportOption> dtypeRangeOptions()
{
    return {option("max_fraction", OptionType::number, 0.9, "share of the dtype's maximum that is too near"),
            option("subnormal_fraction_threshold", OptionType::number, 0.1,
                   "share of subnormal values that is a lot")};
}

std::vector<ReportOption> hotPathOptions()
{
    return {option("by", OptionType::text, "flops", "what is added up",
                   {"flops", "memory", "duration", "device_time"})};
}

std::vector<ReportOption> lineageOptions()
{
    return {option("op_or_label", OptionType::op, "", "label, position or module address of the op"),
            option("direction", OptionType::text, "ancestors", "which way to walk",
                   {"ancestors", "descendants", "both"}),
            option("max_depth", OptionType::integer, {}, "how many steps; without it all")};
}

std::vector<ReportOption> gradFnOptions()
{
    return {option("outputs", OptionType::list, {}, "ops to start from; without it the outputs of the model"),
            option("max_nodes", OptionType::integer, kMaxGradFnNodes, "ceiling of nodes that are followed")};
}

std::vector<ReportDefinition> makeDefinitions()
{
    using S = ReportSubject;
    std::vector<ReportOption> weights = toleranceOptions();
    weights.push_back(option("include_buffers", OptionType::boolean, false, "compare buffers too"));
    return {
        {"audit", "Runs every health check that one trace supports", S::trace, {}, audit},
        {"find_nan", "Finds the first op whose output holds NaN or Inf", S::trace, {}, findNan},
        {"bisect_nan",
         "Finds the first saved op output that holds NaN or Inf, buffers included",
         S::trace,
         {},
         bisectNan},
        {"nonfinite_origin",
         "Tells where NaN and Inf came from, what swallowed them and what is by design",
         S::trace,
         {},
         nonfiniteOrigin},
        {"bisect_nan_backward",
         "Finds where a backward pass made its first non-finite gradient",
         S::trace,
         {passOption(),
          option("grad_scale", OptionType::number, {}, "the factor the loss was multiplied with")},
         bisectNanBackward},
        {"grad_health", "Ranks gradients and flags zero, vanishing and exploding ones", S::trace,
         gradHealthOptions(), gradHealth},
        {"amp_scaled_grads_hint",
         "Says what a loss scale does to gradients",
         S::nothing,
         {option("all_nonfinite", OptionType::boolean, false, "the text for non-finite gradients")},
         ampScaledGradsHint},
        {"dtype_range", "Finds values near the limits of their dtype, subnormal ones and downcasts", S::trace,
         dtypeRangeOptions(), dtypeRange},
        {"dead_neurons",
         "Lists output units that are zero everywhere",
         S::trace,
         {option("dim", OptionType::integer, {}, "the unit axis of every op; without it chosen by op"),
          option("max_activation", OptionType::number, 0.0,
                 "the largest magnitude that still counts as dead")},
         deadNeurons},
        {"param_health", "Scans parameters, buffers or any named tensors for broken values", S::tensors,
         paramHealthOptions(), paramHealth},
        {"compare_params", "Compares the weights of two models by name", S::twoTensors, std::move(weights),
         compareParams},
        {"compare", "Compares the values of two traces op by op", S::twoTraces, toleranceOptions(),
         compareTraces},
        {"first_divergence", "Finds the first op at which two traces separate", S::twoTraces,
         toleranceOptions(), firstDivergence},
        {"lineage", "Lists what feeds an op or what it feeds", S::trace, lineageOptions(), lineage},
        {"hot_path", "Ranks source lines by FLOPs, memory or time", S::trace, hotPathOptions(), hotPath},
        {"hot_path_rows", "Ranks source lines as plain rows", S::trace, hotPathOptions(), hotPathRows},
        {"recompute_candidates",
         "Ranks activations by the memory they free for a FLOP",
         S::trace,
         {option("budget_gb", OptionType::number, {}, "GiB to free; marks the rows that reach it")},
         recomputeCandidates},
        {"walk_grad_fn", "Lists the nodes and edges of the autograd graph", S::trace, gradFnOptions(),
         walkGradFnReport},
        {"sketch_grad_fn", "Draws the autograd graph as DOT text", S::trace, gradFnOptions(),
         sketchGradFnReport},
    };
}

bool hasType(const Value &value, OptionType type)
{
    switch (type) {
    case OptionType::integer:
        return value.isInt();
    case OptionType::number:
        // The report itself refuses NaN and infinities where they are wrong.
        return numberOrWord(value).has_value();
    case OptionType::boolean:
        return value.isBool();
    case OptionType::text:
        return value.isString();
    case OptionType::op:
        return value.isString() || value.isInt();
    case OptionType::list:
        return value.isList();
    case OptionType::mapping:
        return value.isObject();
    }
    return false;
}

std::string_view typeName(OptionType type)
{
    switch (type) {
    case OptionType::integer:
        return "an integer";
    case OptionType::number:
        return "a number";
    case OptionType::boolean:
        return "true or false";
    case OptionType::text:
        return "a word";
    case OptionType::op:
        return "an op label or position";
    case OptionType::list:
        return "a JSON list";
    case OptionType::mapping:
        return "a JSON mapping";
    }
    return "a value";
}

} // namespace

std::span<const ReportDefinition> reportDefinitions()
{
    static const std::vector<ReportDefinition> kDefinitions = makeDefinitions();
    return kDefinitions;
}

const ReportDefinition *findReport(std::string_view name)
{
    for (const ReportDefinition &definition : reportDefinitions())
        if (definition.name == name)
            return &definition;
    return nullptr;
}

Result<Value> completeOptions(const ReportDefinition &report, const Value &options)
{
    return completeOptions(report.name, report.options, options);
}

Result<Value> completeOptions(std::string_view helper, std::span<const ReportOption> known,
                              const Value &options)
{
    std::vector<std::string_view> names;
    for (const ReportOption &option : known)
        names.push_back(option.name);
    for (const auto &[name, value] : options.toObject()) {
        if (std::find(names.begin(), names.end(), name) != names.end())
            continue;
        const auto near = nearNames(name, names);
        return Status(ErrorCode::invalidArgument, fmt::format("{} has no option \"{}\"", helper, name))
            .withDetail("option_unknown")
            .withRemedy(names.empty() ? "it takes no options"
                                      : fmt::format("its options are {}",
                                                    fmt::join(near.empty() ? names : near, ", ")));
    }
    Value complete = Value::object();
    for (const ReportOption &option : known) {
        const Value *given = options.find(option.name);
        const bool nullable = option.defaultValue.isNull();
        if (given != nullptr && !(nullable && given->isNull()) && !hasType(*given, option.type))
            return Status(ErrorCode::invalidArgument,
                          fmt::format("option \"{}\" of {} is {}, got {}", option.name, helper,
                                      typeName(option.type), toJson(*given)))
                .withDetail("option_type")
                .withRemedy(std::string(option.help));
        Value value = given != nullptr ? *given : option.defaultValue;
        if (option.type == OptionType::number && value.isString())
            value = *numberOrWord(value);
        complete.set(option.name, std::move(value));
    }
    return complete;
}

Result<Report> runReport(const ReportDefinition &report, ReportRequest request, const JobContext &job)
{
    auto options = completeOptions(report, request.options);
    if (!options)
        return options.error();
    request.options = std::move(*options);
    if (!request.statistics && request.trace)
        request.statistics = std::make_shared<TraceStatistics>(request.trace);
    if (request.other && !request.otherStatistics)
        request.otherStatistics = std::make_shared<TraceStatistics>(request.other);
    return report.run(request, job);
}

} // namespace core
