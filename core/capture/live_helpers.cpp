// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/live_helpers.h"

#include "core/analysis/report_options.h"

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

std::vector<LiveHelper> makeHelpers()
{
    return {{"find_nan", "Runs the model until the first op output that holds NaN or Inf", {}},
            {"nonfinite_origin",
             "Runs the model once, until NaN or Inf appears, and says where it came from",
             {}},
            {"bisect_precision",
             "Compares a run with one in higher precision and finds the first op that loses",
             precisionOptions()},
            {"check_determinism", "Runs the model several times with one seed and compares every op",
             determinismOptions()}};
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
    return completeOptions(helper.name, helper.options, options);
}

std::string rerunPath(const std::string &out)
{
    return out + ".rerun";
}

} // namespace core
