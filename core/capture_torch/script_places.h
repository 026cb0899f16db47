// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/script_frames.h"

namespace torch::jit {
struct Node;
}

namespace core {

// The place of NODE, which stands in a function called FUNCTION. Some operators (1 / x, 1 - x, x // 2.0) are
// compiled from small functions of LibTorch's own, whose nodes have no place in the user's file: theirs is
// the place of the statement they stand in, as far as its constants, the op that takes their result or the
// name it is given to tell which one that is. Throws c10::Error.
ScriptPlace placeOf(torch::jit::Node *node, const std::string &function);

} // namespace core
