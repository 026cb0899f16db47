// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/capture_torch/runnable_model.h"

namespace core {

// What a run without anybody listening gave, to compare a watched one with. A value.
struct UnwatchedRun
{
    ModelOutputs outputs;
    NamedTensors gradients; // of the last backward pass; undefined: none
    Status forward;
    Status backward;
};

// One such run of MODEL, with the backward passes that REQUEST asks for. The generators are seeded before.
UnwatchedRun runUnwatched(const CaptureRequest &request, const RunnableModel &model);

// The gradients that PARAMETERS and those of INPUTS that require one have now.
NamedTensors gradientsOf(const NamedTensors &parameters, const std::vector<ModelInput> &inputs);

// How many of the outputs of a watched run are those of the plain one, bit for bit: "outputs", "equal", and
// "differing" with each one's path and greatest difference; where the plain run failed its words alone,
// "error". Throws what LibTorch throws.
Value compareOutputs(const ModelOutputs &watched, const UnwatchedRun &plain);
// The same of GRADIENTS, which gradientsOf() gave after a watched run: "gradients" counts those that either
// run has; "error" stands beside what is compared where the plain backward pass failed.
Value compareGradients(const NamedTensors &gradients, const UnwatchedRun &plain);

} // namespace core
