// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/value.h"
#include "core/trace/trace.h"

namespace core {

// The op a person means by KEY (reports.md section 8.1): a label with or without pass, its short form, the
// raw label of a bundle, a position in the op list (negative from the end), a module address with or without
// call number, an input or output by its name ("input.x"), a buffer address; then the same without regard to
// case, then a part of the names of exactly one op. A bundle's own list of names is used where it has one.
// Modules, parameters and buffers are no ops. Refusals are notFound (with near labels) or invalidArgument
// with detail() "ambiguous", "recurrent", "unresolved".
Result<OpId> lookUpOp(const Trace &trace, const Value &key);

} // namespace core
