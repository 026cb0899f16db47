// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace core {

enum class OptionType : std::uint8_t { integer, number, boolean, text, op, list, mapping };

// One keyword of a helper. A nullable option takes null for "not given", which is then its default.
struct ReportOption
{
    std::string_view name; // as on the page; dashes on the command line
    OptionType type = OptionType::text;
    Value defaultValue;
    std::string_view help;
    std::vector<std::string_view>
        choices; // of a text option, for forms; other words are refused by the report
};

enum class ReportSubject : std::uint8_t {
    trace,      // one trace
    twoTraces,  // two traces
    tensors,    // one trace or one file of named tensors
    twoTensors, // two of them
    nothing     // a fixed text
};

// One helper of the reference page that works on saved data.
struct ReportDefinition
{
    std::string_view name;
    std::string_view description; // one sentence, starting with a verb
    ReportSubject subject = ReportSubject::trace;
    std::vector<ReportOption> options;
    ReportFunction run = nullptr;
};

// All of them, in the order they are listed to people.
std::span<const ReportDefinition> reportDefinitions();
const ReportDefinition *findReport(std::string_view name);

// Completes OPTIONS (an object; missing names get their defaults) and checks names and types. invalidArgument
// with the nearest names for an unknown one.
Result<Value> completeOptions(const ReportDefinition &report, const Value &options);

// The whole way: checks the options, makes statistics where none were given, runs. Refusals are reports with
// `error`.
Result<Report> runReport(const ReportDefinition &report, ReportRequest request, const JobContext &job);

} // namespace core
