// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_registry.h"

#include "core/analysis/nonfinite_reports.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

std::vector<ReportDefinition> makeDefinitions()
{
    return {
        {"find_nan", "Finds the first op whose output holds NaN or Inf", ReportSubject::trace, {}, findNan},
        {"bisect_nan",
         "Finds the first saved op output that holds NaN or Inf, buffers included",
         ReportSubject::trace,
         {},
         bisectNan},
        {"nonfinite_origin",
         "Tells where NaN and Inf came from, what swallowed them and what is by design",
         ReportSubject::trace,
         {},
         nonfiniteOrigin},
    };
}

bool hasType(const Value &value, OptionType type)
{
    switch (type) {
    case OptionType::integer:
        return value.isInt();
    case OptionType::number:
        // "NaN" and "Infinity" come as strings from JSON; the report itself refuses them where they are
        // wrong.
        return value.isNumber() || value.toString() == "NaN" || value.toString() == "Infinity" ||
               value.toString() == "-Infinity";
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

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
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

std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string_view> names,
                                      std::size_t count)
{
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const std::string_view candidate : names) {
        const std::size_t distance = editDistance(name.substr(0, 200), candidate.substr(0, 200));
        if (distance <= std::max<std::size_t>(2, std::max(name.size(), candidate.size()) / 2))
            near.emplace_back(distance, candidate);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<std::string> result;
    for (std::size_t i = 0; i < std::min(count, near.size()); ++i)
        result.emplace_back(near[i].second);
    return result;
}

Result<Value> completeOptions(const ReportDefinition &report, const Value &options)
{
    std::vector<std::string_view> names;
    for (const ReportOption &option : report.options)
        names.push_back(option.name);
    for (const auto &[name, value] : options.toObject()) {
        if (std::find(names.begin(), names.end(), name) != names.end())
            continue;
        const auto near = nearestNames(name, names);
        return Status(ErrorCode::invalidArgument,
                      fmt::format("report {} has no option \"{}\"", report.name, name))
            .withDetail("option_unknown")
            .withRemedy(names.empty() ? "it takes no options"
                                      : fmt::format("its options are {}",
                                                    near.empty() ? fmt::format("{}", fmt::join(names, ", "))
                                                                 : joined(near)));
    }
    Value complete = Value::object();
    for (const ReportOption &option : report.options) {
        const Value *given = options.find(option.name);
        const bool nullable = option.defaultValue.isNull();
        if (given != nullptr && !(nullable && given->isNull()) && !hasType(*given, option.type))
            return Status(ErrorCode::invalidArgument,
                          fmt::format("option \"{}\" of {} is {}, got {}", option.name, report.name,
                                      typeName(option.type), toJson(*given)))
                .withDetail("option_type")
                .withRemedy(std::string(option.help));
        complete.set(option.name, given != nullptr ? *given : option.defaultValue);
    }
    return complete;
}

Result<Report> runReport(const ReportDefinition &report, ReportRequest request, const JobContext &job)
{
    auto options = completeOptions(report, request.options);
    if (!options)
        return options.error();
    request.options = std::move(*options);
    if (!request.statistics)
        request.statistics = std::make_shared<TraceStatistics>(request.trace);
    if (request.other && !request.otherStatistics)
        request.otherStatistics = std::make_shared<TraceStatistics>(request.other);
    return report.run(request, job);
}

} // namespace core
