// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/gradient_reports.h"
#include "core/analysis/report_parts.h"

#include <cmath>

namespace core {

std::string_view ampHintText(bool allNonFinite)
{
    return allNonFinite
               ? "under float16 autocast with a GradScaler intermediate gradients carry the loss scale and "
                 "can overflow "
                 "to Inf before the step is skipped: an Inf born in the backward pass may be that overflow "
                 "and no "
                 "defect of the model; pass grad_scale= (scaler.get_scale()) to say which scale was on"
               : "gradients captured under a GradScaler carry the loss scale, about 2**16 at its default "
                 "start; pass "
                 "grad_scale= (scaler.get_scale()) to see them unscaled";
}

Result<std::optional<double>> positiveScale(const Value &value, std::string_view option)
{
    if (value.isNull())
        return std::optional<double>();
    const double scale = value.isNumber() ? value.toDouble() : std::nan("");
    if (std::isfinite(scale) && scale > 0.0)
        return std::optional<double>(scale);
    return Status(ErrorCode::invalidArgument,
                  std::string(option) + " is " + toJson(value) + ", it must be a positive finite number")
        .withDetail("grad_scale_invalid")
        .withRemedy("pass the scale the loss was multiplied with, or leave it out");
}

Result<Report> ampScaledGradsHint(const ReportRequest &request, const JobContext &)
{
    Report report = startReport("amp_scaled_grads_hint", "GradScaler");
    report.status = "hint";
    report.result = std::string(ampHintText(request.option("all_nonfinite").toBool()));
    report.coverage = report.result.toString();
    return report;
}

} // namespace core
