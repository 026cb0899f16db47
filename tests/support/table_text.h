// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/tables.h"

#include <string>

namespace test {

// All rows of all tables as text, one row a line, with strings and pool ranges spelled out: two traces that
// differ only in how their pools are laid out print the same.
std::string tableText(const core::TraceTables &tables);

} // namespace test
