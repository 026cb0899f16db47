// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/capture/capture_messages.h"
#include "core/capture/capture_request.h"

namespace core {

// What this LibTorch is and can do, each fact found by trying it, for doctor(): torch_version,
// cpu_capability, threads, determinism, cuda {available, devices}, build, flags {HAS_*: true or false, null
// where nothing was tried}, interception {checked, missed, examples}, fingerprint. Takes some milliseconds;
// leaves generators and settings as they were. Throws what LibTorch throws.
Value probeTorch();

// What the model file of REQUEST and its inputs need, without running it: kind, model_type, mode, tied,
// missing_ops, unsupported, quantized, fp8, devices, dtypes, cuda_constants, vmap, inputs, inputs_error,
// parameters {count, bytes}, notes (core/analysis/doctor.h says how they are judged). Reads the weights.
Result<Value> probeModel(const CaptureRequest &request);

// The task "doctor": {torch: ...} and, when the request names a model, {model: ...} or {model_error: {code,
// message, detail, remedy}} in the outcome's summary.
CaptureOutcome runDoctor(const CaptureRequest &request);

} // namespace core
