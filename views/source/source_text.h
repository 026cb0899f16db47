// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"

#include <QString>

#include <memory>

namespace views {

// The text of one source file as the source pane shows it, and where it came from.
struct SourceText
{
    enum class Origin { trace, disk, missing };
    Origin origin = Origin::missing;
    QString text;
    // In words: "embedded in the trace, identical on disk", "from disk; the trace has no text to compare
    // with".
    QString note;
    bool differs = false; // trace and disk do not hold the same text
};

// Reads the text of FILE (a name as frames give it): from the trace where it is embedded, else from disk, and
// compares the two where both exist. Reads files: for a job.
SourceText readSourceText(const core::Trace &trace, core::StringId file, const core::JobContext &job);

} // namespace views
