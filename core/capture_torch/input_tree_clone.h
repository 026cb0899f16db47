// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/runnable_model.h"

namespace core {

// clone_input_tree of the page: tensors become detached clones that keep requires_grad, lists, tuples and
// dicts are rebuilt, other leaves are the same objects. Tensors that were one object stay one.
c10::IValue cloneInputTree(const c10::IValue &value);
// All inputs of a model in that way, tensors shared between them included.
std::vector<ModelInput> cloneInputs(const std::vector<ModelInput> &inputs);
// Floating tensors of INPUTS become TYPE, as RunnableModel::convertFloating() says.
void convertInputs(std::vector<ModelInput> &inputs, c10::ScalarType type);

} // namespace core
