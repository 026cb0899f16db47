// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"

#include <span>
#include <string_view>

namespace core::pt2 {

// Computes one Python-number node from its int, float and bool arguments, by Python's rules (floor division,
// sign of the remainder, whole powers). Throws std::runtime_error with Python's words (division by zero): the
// executor turns it into the node's failure.
using NumberFunction = RunNumber (*)(std::span<const RunNumber>);

// The function behind a target such as "_operator.floordiv", "torch.sym_max", "math.trunc"; nullptr when
// there is none.
NumberFunction findNumberFunction(std::string_view target);

} // namespace core::pt2
