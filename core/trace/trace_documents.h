// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/trace/trace.h"

namespace core {

// What a trace holds, as JSON documents: the answers of the command line and of the JSON export. Not
// available is null; sizes are bytes, durations ns. The ids must be of this trace.

// One row of the op table: label, op, func, kind, call, output, shape, dtype, parents, children, module,
// module_call, source_line, source, flops_forward, statistics and where the values are.
Value opDocument(const Trace &trace, OpId id);
// {"ops": [...]} in execution order, pseudo rows included.
Value opsDocument(const Trace &trace);
// {"outputs": [...]}: path, shape, dtype, sum over finite values, the first 16 values.
Value outputsDocument(const Trace &trace);
// What was run and how it ended: model, request, environment, counts, notes of the reader.
Value infoDocument(const Trace &trace);
Value statsDocument(const TensorStats &stats);

} // namespace core
