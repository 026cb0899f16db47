// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture/input_spec.h"

#include <cstdint>

namespace core {

// ERROR, or in the words of a person when it says in an allocator's words that memory ran out: modelFailed
// (out_of_memory) with LIMIT, the bytes a run may have (0: no limit), and with the bytes asked for last where
// they are told.
Status memoryExplained(Status error, std::uint64_t limit);

// The bytes that are free on the machine and in this process' group; 0: not known.
std::uint64_t freeMemory();
// The bytes that this process can still be given: of those, at most what its own limit leaves. 0: not known.
std::uint64_t memoryThereIs();
// What the elements of a tensor of SPEC take; a number of bytes of any size in words.
double tensorBytes(const TensorSpec &spec);
std::string bytesText(double bytes);

} // namespace core
