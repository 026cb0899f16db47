// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>

namespace core {

// ERROR, or in the words of a person when it says in an allocator's words that memory ran out: modelFailed
// (out_of_memory) with LIMIT, the bytes a run may have (0: no limit), and with the bytes asked for last where
// they are told.
Status memoryExplained(Status error, std::uint64_t limit);

} // namespace core
