// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

#include <optional>
#include <string_view>

namespace core {

Result<Report> gradHealth(const ReportRequest &request, const JobContext &job);
Result<Report> bisectNanBackward(const ReportRequest &request, const JobContext &job);
Result<Report> ampScaledGradsHint(const ReportRequest &request, const JobContext &job);

// What the page's hint says of gradients under a GradScaler; the second form for non-finite ones.
std::string_view ampHintText(bool allNonFinite);

// Null (not given) is nullopt; a value that is no positive finite number gives `grad_scale_invalid`.
Result<std::optional<double>> positiveScale(const Value &value, std::string_view option);

} // namespace core
