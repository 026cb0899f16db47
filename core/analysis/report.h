// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/base/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

enum class Severity : std::uint8_t { critical, warning, info };
std::string_view severityName(Severity severity);

// One thing a report found. OPS are the rows it is about, OP LABELS their names as the report spells them (an
// op that is known by name only has no id). VALUES are the measured numbers behind the message.
struct ReportFinding
{
    Severity severity = Severity::info;
    std::string check; // the report or check that found it: "find_nan", "dtype_near_max"
    std::string code;  // stable machine word; the check's name where there is no finer one
    std::string message;
    std::vector<OpId> ops;
    std::vector<std::string> opLabels;
    std::vector<std::string> modules;
    std::string followUp; // what to run or look at next
    Value values;
};

// What a column holds; tells views how to align and sort it, and which cells are links to ops.
enum class CellKind : std::uint8_t { text, integer, number, boolean, op, list };

struct ReportColumn
{
    std::string name; // as on the reference page: "grad_norm"
    CellKind kind = CellKind::text;
    std::string unit; // "bytes", "FLOPs", or empty
};

// Cells in column order; not available is null. OP is the op in the (first) trace that the row is about,
// OTHER OP the one in the second trace of a comparison.
struct ReportRow
{
    std::vector<Value> cells;
    OpId op;
    OpId otherOp;
};

struct ReportTable
{
    std::vector<ReportColumn> columns;
    std::vector<ReportRow> rows;

    std::optional<std::size_t> columnIndex(std::string_view name) const;
    // The cell of column NAME in row ROW; null when there is none.
    const Value &cell(std::size_t row, std::string_view name) const;
};

// A question that was refused: type, code and remedy are those of the reference page.
struct ReportError
{
    std::string type; // "InvalidArgumentError"
    std::string code; // "bwd_selector_required"; empty where the page gives none
    std::string message;
    std::string remedy;
};

// The answer of one diagnostic as data: words, colours and icons are added where it is shown. Typed reports
// answer with `result` (an object with the page's field names) and may have a table besides; tabular ones
// answer with the table and `attrs`. Made by the functions of the report registry; owned by who asked;
// immutable after that.
struct Report
{
    std::string reportType; // the helper's name on the reference page
    std::string subject;    // what was examined
    std::string status;     // verdict word
    std::string coverage;   // what was looked at and what not, one sentence
    bool isTabular = false; // the table is the answer
    bool found = false;     // something a person has to look at: exit code 1
    ReportTable table;
    Value result;
    // Members that the result has in documents besides, made there: the findings, and the cells of the rows,
    // of which there can be one for every op. Empty: the result has none.
    std::string findingsMember;
    std::string rowsMember;
    Value attrs;
    std::vector<ReportFinding> findings; // in severity order
    std::vector<std::string> exits;      // where the whole answer is; the first one is named by the card
    std::optional<ReportError> error;
};

inline constexpr std::size_t kCardFindings = 5;

// The bounded card: a lead line, coverage, at most five findings, the exact remainder, the exits. Ends
// without a line break.
std::string reportCard(const Report &report);
// A person's view: the card's lead, every finding, the whole table in columns.
std::string reportText(const Report &report);
std::string reportMarkdown(const Report &report);
// A table in aligned columns with a header line; long cells are shortened.
std::string tableText(const ReportTable &table);
// The table as RFC 4180 text with a header line; a report without a table gives its findings.
std::string reportCsv(const Report &report);
// The JSON document of the command line: report_type, subject, status, coverage, and result, or columns, rows
// and attrs, or error.
Value reportDocument(const Report &report);
// A finding as the page spells it: severity, check, message, ops, modules, follow_up, code, values.
Value findingValue(const ReportFinding &finding);
// One cell for people: "" for null, lists joined by blanks, numbers with up to DIGITS significant digits.
std::string cellText(const Value &cell, int digits = 6);

} // namespace core
