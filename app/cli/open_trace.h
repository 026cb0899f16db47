// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"
#include "core/trace/trace.h"

#include <memory>
#include <string>

namespace app {

// Opens a trace of any format; what the reader noticed goes to standard error.
core::Result<std::shared_ptr<const core::Trace>> openTraceFile(const std::string &path,
                                                               CommandContext &context);

// The same for a trace or a file of named tensors, which opens as a trace of parameters.
core::Result<std::shared_ptr<const core::Trace>> openTraceOrTensorFile(const std::string &path,
                                                                       CommandContext &context);

} // namespace app
