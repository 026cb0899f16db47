// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_request.h"
#include "core/trace/trace_info.h"

namespace core {

// The manifest of a capture as far as it is known before the run: the file, the request, LibTorch's version,
// threads, determinism flags, CPU.
TraceInfo captureInfo(const CaptureRequest &request);

// The seed of a request; 0 when it names none, so that runs repeat.
std::uint64_t effectiveSeed(const CaptureRequest &request);
// Seeds the generators of LibTorch with it.
void seedGenerators(const CaptureRequest &request);
// Changes with every number that the CPU generator gives.
std::uint64_t generatorState();

} // namespace core
