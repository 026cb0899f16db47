// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/capture_task.h"

#include <filesystem>

namespace core {

// Task "describe": what the model of REQUEST says about itself, in the outcome's summary: format, inputs
// (name, path, expected, specification, fixed, required), outputs, mode, ops (op, count, refusal), modules,
// parameters, buffers, constants (tensors, elements, bytes), sample_inputs, refusal. With the
// option {"check_inputs": true} its inputs are built too, as a capture would, and listed under
// "built_inputs" (name, origin, value); what is wrong with them is the outcome's error. Nothing of the model
// runs and no file is written, so the status stays unknown.
CaptureOutcome runDescribe(const CaptureRequest &request, const TaskContext &context);

// What a TorchScript file says of itself. Errors: those of ScriptModel::load.
Result<Value> describeScript(const std::filesystem::path &path);
// Opens the model and makes its inputs without a run. Errors: those of RunnableModel.
Result<Value> builtInputs(const CaptureRequest &request);

} // namespace core
