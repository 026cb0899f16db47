// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/capture_torch/runnable_model.h"

namespace core {

// How many of the outputs of a watched run are those of the plain one, bit for bit: "outputs", "equal", and
// "differing" with each one's path and greatest difference. Throws what LibTorch throws.
Value compareOutputs(const ModelOutputs &watched, const ModelOutputs &plain);

} // namespace core
