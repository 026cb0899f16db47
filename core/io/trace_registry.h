// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <memory>

namespace core {

// Opens a trace of any format that is known, found by content: the one entrance for the window, the command
// line and the tests. Notes of the reader are in the trace's loadReport(). A file that is no trace gives
// unknownFormat with what it looks like and, in remedy(), what would work with it.
Result<std::shared_ptr<const Trace>> openTrace(const std::filesystem::path &path, const JobContext &job);

} // namespace core
