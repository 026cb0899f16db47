// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// What `convert --to` can make of a trace.
enum class ConvertTarget : std::uint8_t {
    opscope,     // a native file
    json,        // one document: the list of all records, between manifest and final record
    csv,         // the table of op rows
    safetensors, // the saved values by name: parameters and buffers by address, op outputs by label
    sqlite,      // all tables as an SQLite database
    chromeTrace, // ops and module calls as events on a time axis, for Perfetto and chrome://tracing
};
std::optional<ConvertTarget> convertTargetFromName(std::string_view name);

// Writes PATH only when all went well, and says in a sentence each what the format could not take: tensors of
// types it has no word for. unsupported when the trace has nothing of the kind: no durations for a time axis,
// no saved values.
Result<std::vector<std::string>> convertTrace(const Trace &trace, const std::filesystem::path &path,
                                              ConvertTarget target, const JobContext &job);

} // namespace core
