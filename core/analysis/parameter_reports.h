// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

namespace core {

// Both read the parameters and buffers of a trace. A file of named tensors is opened as a trace that holds
// nothing else, with info().attributes "tensor_file" true; an entry that is no tensor has no tensor row and
// says in its attributes "type" what it is.
Result<Report> paramHealth(const ReportRequest &request, const JobContext &job);
Result<Report> compareParams(const ReportRequest &request, const JobContext &job);

} // namespace core
