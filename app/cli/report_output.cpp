// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/report_output.h"

#include "core/base/near_names.h"

#include <algorithm>

namespace app {
namespace {

using core::Value;

Value document(const core::Report &report, const Value &extra)
{
    Value value = core::reportDocument(report);
    for (const auto &[name, member] : extra.toObject())
        value.set(name, member);
    return value;
}

} // namespace

void printReport(const core::Report &report, const Arguments &arguments, Console &console, const Value &extra)
{
    if (console.isJson())
        console.printDocument(document(report, extra));
    else if (arguments.has("card"))
        console.print(core::reportCard(report) + "\n");
    else if (arguments.has("markdown"))
        console.print(core::reportMarkdown(report));
    else if (arguments.has("csv"))
        console.print(core::reportCsv(report));
    else
        console.print(core::reportText(report));
}

ExitCode finishReport(const core::Report &report, Console &console)
{
    if (!report.error)
        return report.found ? ExitCode::found : ExitCode::nothingFound;
    console.message(report.error->message);
    if (!report.error->remedy.empty())
        console.message(report.error->remedy);
    return ExitCode::usage;
}

std::string optionLines(std::span<const core::ReportOption> options)
{
    std::string text;
    for (const core::ReportOption &option : options) {
        std::string choices;
        for (const std::string_view choice : option.choices)
            choices += (choices.empty() ? ": " : ", ") + std::string(choice);
        text += "    --" + dashed(option.name) + " (default " + core::toJson(option.defaultValue) +
                "): " + std::string(option.help) + choices + "\n";
    }
    return text;
}

std::string helperHelp(const HelperPage &page)
{
    const std::string command = "opscope-cli " + std::string(page.command) + " " + std::string(page.name);
    std::string text = "usage: " + command + (page.operands.empty() ? "" : " " + page.operands) +
                       " [options]\n\n" + std::string(page.description) + "\n\noptions:\n";
    text += page.options.empty() ? std::string("    none of its own\n") : optionLines(page.options);
    return text + "    and those of opscope-cli " + std::string(page.command) + " --help\n\nexample:\n  " +
           command + (page.example.empty() ? "" : " " + page.example) + "\n";
}

core::Status checkOptionNames(std::string_view helper, const Value &given,
                              std::span<const core::ReportOption> known, std::span<const OptionSpec> own)
{
    std::vector<std::string> names;
    for (const core::ReportOption &option : known)
        names.push_back(dashed(option.name));
    const std::size_t helpers = names.size();
    for (const OptionSpec &option : own)
        names.emplace_back(option.name);
    names.emplace_back("json");
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (const auto &[name, value] : given.toObject()) {
        const std::string spelled = dashed(name);
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(helpers), spelled) !=
            names.begin() + static_cast<std::ptrdiff_t>(helpers))
            continue;
        const auto near = core::nearNames(spelled, views, 1);
        std::string remedy = near.empty() ? "its options are" : core::didYouMean(near, "--");
        for (std::size_t i = 0; near.empty() && i < helpers; ++i)
            remedy += (i == 0 ? " --" : ", --") + names[i];
        if (near.empty() && helpers == 0)
            remedy = "it takes no options of its own";
        return core::Status(core::ErrorCode::invalidArgument,
                            std::string(helper) + " has no option --" + spelled)
            .withDetail("option_unknown")
            .withRemedy(std::move(remedy));
    }
    return core::Status::ok();
}

Value optionDocuments(std::span<const core::ReportOption> options)
{
    Value list = Value::list();
    for (const core::ReportOption &option : options)
        list.append(
            Value::object({{"name", option.name},
                           {"default", option.defaultValue},
                           {"choices", Value(Value::List(option.choices.begin(), option.choices.end()))},
                           {"help", option.help}}));
    return list;
}

} // namespace app
