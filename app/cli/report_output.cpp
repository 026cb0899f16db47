// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/report_output.h"

namespace app {
namespace {

using core::Value;

std::string dashed(std::string_view name)
{
    std::string out(name);
    for (char &c : out)
        c = c == '_' ? '-' : c;
    return out;
}

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
    for (const core::ReportOption &option : options)
        text += "    --" + dashed(option.name) + " (default " + core::toJson(option.defaultValue) +
                "): " + std::string(option.help) + "\n";
    return text;
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
