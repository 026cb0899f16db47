// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/tables.h"

namespace core {

// Gives every row of an own capture its step, type, numbers, pass and labels (reports.md sections 2 to 4;
// names by the alias table of op_names.h). Reads calls, ops, parents, stacks and module calls; imported
// traces are never labelled here.
void labelOwnCapture(TraceTables &tables);

} // namespace core
