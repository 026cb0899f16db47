// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/records.h"

#include <string_view>
#include <vector>

namespace core {

struct RunFrame; // run_observer.h

// Whose file a Python frame is in, by its recorded name: generated code ("<eval_with_key>.3", TorchScript's
// own "code/__torch__/..."), torch, the standard library, an installed package, else the user's.
FrameOrigin frameOrigin(std::string_view file);

// The innermost frame of the user's own code, else of an installed package; nullptr when none is left.
const RunFrame *userFrame(const std::vector<RunFrame> &frames);

} // namespace core
