// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/value.h"
#include "core/layout/layout_types.h"

#include <filesystem>

namespace app {

// Places a graph with layout_worker in PROGRAM FOLDER, a process of its own with limits of memory and time.
// A worker that is missing, dies, is silent for 5 s or takes over 10 s is replaced by the layered layout of
// our own: the result is then simplified, with the reason in its note. Blocks. Errors: cancelled, and
// invalidArgument of a request that does not hold together.
core::Result<core::LayoutResult> placeGraph(const core::LayoutRequest &request,
                                            const std::filesystem::path &programFolder,
                                            core::JobContext &job);

// Starts layout_worker and asks what it is: {graphviz_version, milliseconds}. Errors: notFound (no program),
// workerCrashed, workerHung (no answer within 10 s), protocol, cancelled.
core::Result<core::Value> layoutWorkerFacts(const std::filesystem::path &programFolder,
                                            const core::JobContext &job);

} // namespace app
