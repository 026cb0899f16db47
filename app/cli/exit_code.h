// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string_view>

namespace app {

// What a script learns from opscope-cli without reading its output.
enum class ExitCode : int {
    nothingFound = 0,
    found = 1,      // a finding, a divergence, a dead unit, a flagged gradient
    usage = 2,      // the question cannot be asked so: wrong options, typed refusals
    unreadable = 3, // a file could not be read or written
    notRun = 4,     // the model raised, cannot run here, or the run was cancelled
};

ExitCode exitCodeOf(const core::Status &status);
// The `type` of a JSON error document for a failure that brings none of its own: "InputError", ...
std::string_view errorTypeOf(core::ErrorCode code);

} // namespace app
