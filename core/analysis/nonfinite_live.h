// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

#include <memory>

// The live forms of find_nan and nonfinite_origin: what they say of a trace whose run stopped at the first
// row with NaN or Inf (or had none). Such a trace has statistics of the row it stopped at, of that op's
// inputs and of the last ops only.
namespace core {

Result<Report> findNanLive(const std::shared_ptr<const Trace> &trace, const JobContext &job);
Result<Report> nonfiniteOriginLive(const std::shared_ptr<const Trace> &trace, const JobContext &job);

} // namespace core
