// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace_sink.h"

#include <utility>

namespace core {

// A sink that remembers its first failure and takes nothing after it, so that the recorder checks once an op.
// The sink stays the caller's.
class RecordOut
{
public:
    explicit RecordOut(TraceSink &sink) : m_sink(sink) {}

    template <class Record>
    void add(Record &&record)
    {
        if (m_status.isOk())
            note(m_sink.add(std::forward<Record>(record)));
    }
    // Assigned when it failed alone: a status has three texts, and there are thousands of records.
    void note(Status status)
    {
        if (m_status.isOk() && !status.isOk())
            m_status = std::move(status);
    }
    TraceSink &sink() { return m_sink; }
    const Status &status() const { return m_status; }

private:
    TraceSink &m_sink;
    Status m_status;
};

} // namespace core
