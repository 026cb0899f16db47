// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/backward_ledger.h"
#include "core/analysis/nonfinite_scan.h"

#include <optional>
#include <string>

namespace core {

// Why a value became NaN or infinite, as a token ("zero_divided_by_zero", "overflow_fp16", "saved_nan"), from
// the op's name and the operands at the first bad element. Null where the recorded values do not tell: no
// claim is made. The statistics of the call's arguments must have been prepared.
Value forwardWhy(const NonFiniteEntry &entry, const TraceStatistics &statistics);
// The same of a firing that made NaN or Inf out of gradients without; reads saved values at the first bad
// element. Null for a firing that only passed on what arrived.
Value backwardWhy(const GradientTransition &transition, const TraceStatistics &statistics);

// "overflow_fp16", "overflow_fp32"; null for other dtypes.
Value overflowToken(DType dtype);

} // namespace core
