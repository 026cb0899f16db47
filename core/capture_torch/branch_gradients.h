// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace torch::autograd {
struct Node;
}

namespace core {

// To autograd, PyTorch's control flow (cond, while_loop, map, scan) is one function of its operands: one that
// the taken branch does not use has the gradient zero, not none, and the results need a gradient as soon as
// any operand does. Here the ops of the branch are differentiated as they stand, so that is added: when
// RESULTS do not depend on every one of OPERANDS that requires a gradient, the floating results come back as
// aliases behind one more node, which hands their gradient on and zeros to the operands left out. Otherwise
// RESULTS come back as they are. KIND is "cond", "while_loop", "scan" or "map" and names the node as PyTorch
// does ("CondAutogradOpBackward").
std::vector<c10::IValue> withOperandGradients(const std::vector<c10::IValue> &operands,
                                              std::vector<c10::IValue> results, std::string_view kind);

// Whether NODE is such a node, which belongs to no op of the model.
bool isBranchNode(const torch::autograd::Node &node);

} // namespace core
