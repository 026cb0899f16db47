// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

namespace core {

Result<Report> hotPath(const ReportRequest &request, const JobContext &job);
Result<Report> hotPathRows(const ReportRequest &request, const JobContext &job);
Result<Report> recomputeCandidates(const ReportRequest &request, const JobContext &job);

} // namespace core
