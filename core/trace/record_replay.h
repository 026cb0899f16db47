// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/record_sink.h"
#include "core/trace/tables.h"

#include <functional>

namespace core {

// Changes a record on its way; false leaves it out.
struct ReplayEdits
{
    std::function<bool(TensorRecord &)> tensor;
    std::function<bool(SourceRecord &)> source;
    std::function<bool(FrameRecord &)> frame;
    std::function<bool(CallRecord &)> call;
};

// Gives SINK the records that TraceBuilder would make TABLES of: record ids are row numbers. What the builder
// derives is left out for own captures and given as imported rows for all others, so that nothing an imported
// bundle says of itself is lost.
Status replayRecords(const TraceTables &tables, RecordSink &sink, const JobContext &job,
                     const ReplayEdits &edits = {});

} // namespace core
