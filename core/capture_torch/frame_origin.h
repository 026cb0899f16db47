// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/records.h"

#include <string_view>

namespace core {

// Whose file a Python frame is in, by its recorded name: generated code ("<eval_with_key>.3", TorchScript's
// own "code/__torch__/..."), torch, the standard library, an installed package, else the user's.
FrameOrigin frameOrigin(std::string_view file);

} // namespace core
