// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/graph_marks.h"

#include <algorithm>

namespace views {

core::GraphMarks graphMarks(const core::TraceStatistics &statistics, const core::NonFiniteScan &scan)
{
    const core::Trace &trace = statistics.trace();
    core::BirthEvents events;
    for (const core::NonFiniteEntry &birth : scan.births)
        (birth.byDesign ? events.byDesign : events.births).push_back(birth.op);
    // The first NaN may need an Inf input, then it is no birth of Inf and NaN from finite values, but the
    // origin of NaN it is.
    if (scan.nanBirth && !scan.nanBirth->byDesign &&
        std::find(events.births.begin(), events.births.end(), scan.nanBirth->op) == events.births.end())
        events.births.push_back(scan.nanBirth->op);
    for (const core::NonFiniteEntry &sink : scan.sinks)
        if (!sink.byDesign)
            events.sinks.push_back(sink.op);
    std::unordered_map<core::TensorId, core::TensorStats> measured;
    for (std::size_t i = 0; i < trace.tensors().size(); ++i) {
        const core::TensorId tensor(i);
        if (statistics.isRecorded(tensor))
            continue;
        if (const core::TensorStats *stats = statistics.find(tensor))
            measured.emplace(tensor, *stats);
    }
    return core::marksFromEvents(trace, events, std::move(measured));
}

} // namespace views
