// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What several reports spell the same way.
namespace core {

// "torch.float32", as the page's typed results name a dtype.
std::string torchDTypeName(DType dtype);
Value shapeValue(std::span<const std::int64_t> shape);
Value labelList(const std::vector<std::string> &labels);
// The cells of one table row, moved in: an initializer list would copy every text.
template <typename... Cells>
std::vector<Value> rowCells(Cells &&...cells)
{
    std::vector<Value> list;
    list.reserve(sizeof...(cells));
    (list.emplace_back(std::forward<Cells>(cells)), ...);
    return list;
}
std::string joined(const std::vector<std::string> &words, std::string_view separator = ", ");

// Address of an op's atomic module, else of its innermost module call; null for the root.
Value moduleValue(const Trace &trace, OpId op);
// "model.py:14" or null.
Value sourceLineValue(const Trace &trace, OpId op);
// " at model.py:14 in net.act", as much of it as is known; for messages.
std::string whereText(const Trace &trace, OpId op);

// Table attrs "torchlens_capture_honesty": the facts of a bundle, or what is known of an own capture.
Value honestyValue(const Trace &trace);

Report startReport(std::string reportType, std::string subject);
Report refusedReport(std::string reportType, std::string subject, ReportError error);
ReportError invalidArgument(std::string code, std::string message, std::string remedy);

// The shared projection of everything that looks for a first bad thing (reports.md section 10.4).
struct FirstBadThing
{
    bool found = false;
    std::string tool;
    std::string kind = "none";
    Value label;
    std::string labelStatus = "none";
    Value module;
    Value sourceLine;
    Value backwardPass;
    std::string coverage = "complete";
    std::vector<std::string> uncertaintyZone;
    std::string detectionBasis = "saved_activations";
    std::string message;

    Value toValue() const;
};

} // namespace core
