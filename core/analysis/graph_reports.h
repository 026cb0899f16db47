// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

namespace core {

Result<Report> lineage(const ReportRequest &request, const JobContext &job);
Result<Report> compareTraces(const ReportRequest &request, const JobContext &job);
Result<Report> firstDivergence(const ReportRequest &request, const JobContext &job);
Result<Report> deadNeurons(const ReportRequest &request, const JobContext &job);
Result<Report> dtypeRange(const ReportRequest &request, const JobContext &job);
Result<Report> audit(const ReportRequest &request, const JobContext &job);

} // namespace core
