// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/live_helpers.h"

#include "core/analysis/report_options.h"

#include <cmath>

namespace core {
namespace {

ReportOption option(std::string_view name, OptionType type, Value defaultValue, std::string_view help,
                    std::vector<std::string_view> choices = {})
{
    return {name, type, std::move(defaultValue), help, std::move(choices)};
}

std::vector<ReportOption> precisionOptions()
{
    return {
        option("reference_dtype", OptionType::text, "float64", "dtype of the reference run",
               {"float64", "float32", "bfloat16", "float16"}),
        option("rtol", OptionType::number, {}, "relative tolerance of every op; without it by its dtype"),
        option("atol", OptionType::number, {}, "absolute tolerance of every op; without it by its dtype")};
}

std::vector<ReportOption> determinismOptions()
{
    return {
        option("runs", OptionType::integer, 2, "runs with the same seed, at least 2"),
        option("rtol", OptionType::number, {}, "relative tolerance; without rtol and atol bits must agree"),
        option("atol", OptionType::number, {}, "absolute tolerance"),
        option("seed_sensitivity", OptionType::boolean, false, "one more run with another seed")};
}

// Ours: the page's helper stops at the first mask.
std::vector<ReportOption> tripwireOptions()
{
    return {option("skip_by_design", OptionType::boolean, false,
                   "go on past -Inf that a mask fills in by design, until NaN comes of it")};
}

std::vector<ReportOption> shapeOptions()
{
    Value sizes = Value::list();
    for (const std::int64_t size : {224, 256, 384, 299, 128, 96, 64, 32, 28})
        sizes.append(size);
    return {
        option("batch_size", OptionType::integer, 1, "first size of the input"),
        option("input_dtype", OptionType::text, {}, "dtype of the input, such as float32"),
        option("channels", OptionType::integer, {}, "channels of an image"),
        option("spatial_rank", OptionType::op, "auto", "sizes behind the channels: auto, or their number"),
        option("seq_len", OptionType::integer, {}, "length of a sequence"),
        option("square", OptionType::boolean, true, "sides of the same length"),
        option("min_size", OptionType::integer, 1, "shortest side that is tried"),
        option("max_size", OptionType::integer, 512, "longest side that is tried"),
        option("preferred_sizes", OptionType::list, std::move(sizes), "sides that are tried first"),
        option("max_probes", OptionType::integer, 64, "runs of the model at most"),
        option("device", OptionType::text, {}, "where the probes run: cpu, the only one here", {"cpu"}),
        option("on_failure", OptionType::text, "return", "what is done when nothing is found",
               {"return", "raise"}),
        option("input_specs", OptionType::list, {}, "specifications of several inputs: refused")};
}

// Tolerances: completeOptions() lets NaN, infinities and negative numbers through.
Status checkNumbers(const LiveHelper &helper, const Value &options)
{
    for (const ReportOption &option : helper.options) {
        const Value &value = options.at(option.name);
        if (option.type == OptionType::number && !value.isNull() &&
            !(std::isfinite(value.toDouble()) && value.toDouble() >= 0.0))
            return Status(ErrorCode::invalidArgument,
                          "option \"" + std::string(option.name) + "\" of " + std::string(helper.name) +
                              " is a finite number of at least 0, got " + toJson(value))
                .withDetail("option_type")
                .withRemedy(std::string(option.help));
    }
    return Status::ok();
}

std::vector<LiveHelper> makeHelpers()
{
    return {
        {"find_nan", "Runs the model until the first op output that holds NaN or Inf", tripwireOptions()},
        {"nonfinite_origin", "Runs the model once, until NaN or Inf appears, and says where it came from",
         tripwireOptions()},
        {"bisect_precision", "Compares a run with one in higher precision and finds the first op that loses",
         precisionOptions()},
        {"check_determinism", "Runs the model several times with one seed and compares every op",
         determinismOptions()},
        {"guess_input_shape", "Looks for an input the model runs on, by what the file says and by trying",
         shapeOptions(), false},
        {"flops_vs_dispatch", "Compares our FLOPs of a run with those of PyTorch's dispatch formulas", {}},
        {"count_compiles",
         "Counts what TorchScript's executor compiles in several runs",
         {option("runs", OptionType::integer, 4, "runs of a fresh copy, at least 1")}},
        {"graph_breaks", "Refuses: graph breaks are found by Dynamo, in Python", {}, false}};
}

} // namespace

std::span<const LiveHelper> liveHelpers()
{
    static const std::vector<LiveHelper> kHelpers = makeHelpers();
    return kHelpers;
}

const LiveHelper *findLiveHelper(std::string_view name)
{
    for (const LiveHelper &helper : liveHelpers())
        if (helper.name == name)
            return &helper;
    return nullptr;
}

Result<Value> completeLiveOptions(const LiveHelper &helper, const Value &options)
{
    Result<Value> complete = completeOptions(helper.name, helper.options, options);
    Status status = complete ? checkNumbers(helper, *complete) : complete.error();
    if (status)
        return complete;
    // The page: this helper's argument errors are of one type.
    if (helper.name == "guess_input_shape" && status.detail() == "option_type")
        return std::move(status).withDetail(std::string(kShapeInference));
    return status;
}

std::string rerunPath(const std::string &out)
{
    return out + ".rerun";
}

} // namespace core
