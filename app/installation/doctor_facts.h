// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/doctor.h"
#include "core/base/job_context.h"
#include "core/capture/capture_request.h"

#include <filesystem>

namespace app {

// Asks capture_worker and layout_worker in PROGRAM FOLDER and looks at this process. A worker that is
// missing, dies or does not answer in time is a Status in the facts. REQUEST names a model with its inputs,
// or none (empty path): it is read and not run. Blocks for seconds, at most some minutes.
core::DoctorFacts collectDoctorFacts(const core::CaptureRequest &request,
                                     const std::filesystem::path &programFolder, const core::JobContext &job);

} // namespace app
