// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/tables.h"

#include <cstdint>
#include <vector>

namespace core {

// Which rows of an own capture are "the same logical layer executed again" (reports.md section 4): for each
// row the first row of its group, itself when it is alone. Two rows belong together when they are equivalent
// (same function, same non-tensor arguments, same output slot, same module path) and
//   - they use the same parameters, or stand next to such rows in bodies that stay equivalent, or
//   - they are in bodies that repeat one directly after the other: bodies of at least two ops, or single ops
//   inside a
//     named module, or buffer reads.
// Reads ops, calls, parents, children, arguments and module calls. Near linear in the number of rows for
// models whose bodies repeat.
std::vector<std::uint32_t> groupPasses(const TraceTables &tables);

} // namespace core
