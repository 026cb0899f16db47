// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/io/native_output.h"

#include <filesystem>

namespace core {

class ZipArchive;

// The last steps for a file whose records are complete and whose writer is not there any more. Internal to
// core/io.

// What an archive holds already; records are not counted.
NativeCounts countEntries(const ZipArchive &archive);

// Index from the records that are now in PATH (unless there is one), final record as ENDED says, directory.
Status finishNative(const std::filesystem::path &path, NativeOutput &output, const TraceInfo &ended,
                    const JobContext &job);

} // namespace core
