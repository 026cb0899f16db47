// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace_sink.h"

namespace test {

// A small run with at least one record of every kind and every member set somewhere: input, two linear-like
// ops, an in-place op, an op without tensor, an output, one backward pass. Payloads only into a TraceSink.
void addEveryKind(core::RecordSink &sink, core::TraceSink *payloads = nullptr);
// The same shape as an imported bundle has it: rows with labels of their own.
void addImported(core::RecordSink &sink);
core::TraceInfo sampleInfo();

} // namespace test
