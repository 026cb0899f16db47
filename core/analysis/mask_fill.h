// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace core {

// Whether calls of FUNC put a constant into a tensor: -Inf from one of these is how attention masks are made
// (own-traces.md section 3).
bool fillsConstants(std::string_view func);

} // namespace core
