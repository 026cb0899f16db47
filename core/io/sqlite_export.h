// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"

#include <filesystem>

namespace core {

// Writes everything a trace says as an SQLite database of one table a kind of record (docs/command-line.md
// lists them), for questions in SQL. Values of tensors are not copied: `tensors` says where they are in the
// trace file. Replaces PATH only when all went well. unreadable when the file cannot be written.
Status writeSqlite(const Trace &trace, const std::filesystem::path &path, const JobContext &job);

} // namespace core
