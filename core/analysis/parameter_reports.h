// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

namespace core {

// Whether TRACE is what a file of named tensors (a checkpoint) is opened as: it holds nothing but parameters.
inline bool isTensorFile(const Trace &trace)
{
    return trace.info().attributes.at("tensor_file").toBool();
}

// Both read the parameters and buffers of a trace, or of a file of named tensors; an entry of such a file
// that is no tensor has no tensor row and says in its attributes "type" what it is.
Result<Report> paramHealth(const ReportRequest &request, const JobContext &job);
Result<Report> compareParams(const ReportRequest &request, const JobContext &job);

} // namespace core
