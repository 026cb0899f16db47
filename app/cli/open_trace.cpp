// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/open_trace.h"

#include "core/io/trace_registry.h"

namespace app {

core::Result<std::shared_ptr<const core::Trace>> openTraceFile(const std::string &path,
                                                               CommandContext &context)
{
    core::Result<std::shared_ptr<const core::Trace>> trace = core::openTrace(path, context.job);
    if (!trace)
        return trace;
    for (const core::LoadReport::Note &note : (*trace)->loadReport().notes())
        context.console.warning(
            note.message + (note.count > 1 ? " (" + std::to_string(note.count) + " times)" : std::string()));
    return trace;
}

} // namespace app
