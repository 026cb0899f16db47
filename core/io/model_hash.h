// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"

#include <filesystem>
#include <string>

namespace core {

// What tells one model file from another wherever it lies and whatever it is called: "xxh3-128:" and the
// XXH3-128 in hex of the names, sizes and checksums of an archive's entries in the order of its directory, so
// that no values are read; of all bytes where the file is no archive or its writer left the checksums out.
Result<std::string> modelHash(const std::filesystem::path &path, const JobContext &job);

} // namespace core
