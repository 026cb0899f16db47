// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/console.h"
#include "app/cli/exit_code.h"
#include "core/analysis/report.h"
#include "core/analysis/report_registry.h"

#include <array>
#include <span>
#include <string>

// How reports and lists of helpers are printed: `report` and `run` do it the same way.
namespace app {

inline constexpr std::array<OptionSpec, 3> kReportForms = {
    {{"card", "", "print the bounded card: lead line, coverage, at most five findings"},
     {"markdown", "", "print Markdown"},
     {"csv", "", "print the table as CSV"}}};

// In the form that ARGUMENTS ask for. EXTRA is an object whose members the JSON document gets besides.
void printReport(const core::Report &report, const Arguments &arguments, Console &console,
                 const core::Value &extra = {});
// 0 or 1 by what was found; for a refusal 2, its words on standard error.
ExitCode finishReport(const core::Report &report, Console &console);

// The options of a helper, one a line, as `report list` and `run list` show them.
std::string optionLines(std::span<const core::ReportOption> options);
core::Value optionDocuments(std::span<const core::ReportOption> options);

// One helper as --help shows it.
struct HelperPage
{
    std::string_view command; // "report" or "run"
    std::string_view name;
    std::string operands;
    std::string_view description;
    std::span<const core::ReportOption> options;
    std::string example; // what follows the name
};
std::string helperHelp(const HelperPage &page);

// ok, or the first of the options GIVEN that neither the helper (KNOWN) nor the command (OWN) has, with the
// nearest names of both: checked before a file is opened, because a word behind it may be one.
core::Status checkOptionNames(std::string_view helper, const core::Value &given,
                              std::span<const core::ReportOption> known, std::span<const OptionSpec> own);

} // namespace app
