// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/nonfinite_scan.h"
#include "core/graph/node_state.h"

namespace views {

// The states of a graph's boxes by what the scan for NaN and Inf found, with the statistics it had to
// measure.
core::GraphMarks graphMarks(const core::TraceStatistics &statistics, const core::NonFiniteScan &scan);

} // namespace views
