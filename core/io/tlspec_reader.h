// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/io/tlspec_files.h"
#include "core/trace/trace.h"

#include <memory>

namespace core {

// A TorchLens bundle (versions 1 to 9, newer ones as far as they are understood) as a trace. Nothing in the
// bundle is executed; tensors are read when they are asked for. REPORT's notes are those that opening FILES
// gave; they become the trace's own.
Result<std::shared_ptr<const Trace>> readTlspec(std::shared_ptr<const TlspecFiles> files, LoadReport report,
                                                const JobContext &job);

} // namespace core
