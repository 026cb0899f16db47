// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace_info.h"

namespace core {

// Why a run stopped short, a word for programs beside the message for people: "out_of_memory", "no_room" (on
// a disk), "time_limit"; empty: none is known. An attribute of the trace.
const std::string &failureCause(const TraceInfo &info);
// Leaves INFO alone when CAUSE is empty.
void setFailureCause(TraceInfo &info, const std::string &cause);

} // namespace core
