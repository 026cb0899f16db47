// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/open_trace.h"

#include "core/io/tensor_file_trace.h"
#include "core/io/trace_registry.h"

namespace app {
namespace {

using OpenedTrace = core::Result<std::shared_ptr<const core::Trace>>;

void tellNotes(const OpenedTrace &trace, Console &console)
{
    if (!trace)
        return;
    for (const core::LoadReport::Note &note : (*trace)->loadReport().notes())
        console.warning(note.message +
                        (note.count > 1 ? " (" + std::to_string(note.count) + " times)" : std::string()));
}

// A file that cannot be read is exit code 3, also when this version only lacks what it needs (encryption, a
// layout).
OpenedTrace asUnreadable(OpenedTrace trace)
{
    if (trace || trace.error().code() != core::ErrorCode::unsupported)
        return trace;
    const core::Status &error = trace.error();
    return core::Status(core::ErrorCode::unreadable, error.message())
        .withDetail(error.detail())
        .withRemedy(error.remedy());
}

} // namespace

OpenedTrace openTraceFile(const std::string &path, CommandContext &context)
{
    OpenedTrace trace = asUnreadable(core::openTrace(path, context.job));
    tellNotes(trace, context.console);
    return trace;
}

OpenedTrace openTraceOrTensorFile(const std::string &path, CommandContext &context)
{
    OpenedTrace trace = asUnreadable(core::openTraceOrTensors(path, context.job));
    tellNotes(trace, context.console);
    return trace;
}

core::Result<ExitCode> answerFromTrace(const Arguments &arguments, CommandContext &context,
                                       TraceAnswer answer)
{
    const OpenedTrace trace = openTraceFile(arguments.operand(0), context);
    if (!trace)
        return trace.error();
    if (core::Status status = answer(**trace, context); !status)
        return status;
    return ExitCode::nothingFound;
}

} // namespace app
