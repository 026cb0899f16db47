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

// What a command says of a trace: the JSON document and the text, in the form that is asked for.
using TraceAnswer = core::Status (*)(const core::Trace &trace, CommandContext &context);
// Opens the operand as a trace and answers.
core::Result<ExitCode> answerFromTrace(const Arguments &arguments, CommandContext &context,
                                       TraceAnswer answer);

} // namespace app
