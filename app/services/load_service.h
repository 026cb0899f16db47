// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"
#include "core/trace/trace.h"

#include <QString>

#include <memory>

namespace app {

// What a file turned out to be: a trace, or a model that has to be run to be seen (.pt2 archives,
// TorchScript).
struct LoadedFile
{
    std::shared_ptr<const core::Trace> trace; // null for a model
    bool isModel = false;
};

// Reads PATH, whose format is found by content, never by its name. Runs in a job.
core::Result<LoadedFile> loadFile(const QString &path, core::JobContext &job);

} // namespace app
