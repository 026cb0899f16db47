// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace core {

// The formula of PyTorch's flop counter for op NAME ("aten.convolution") with these arguments and results:
// two FLOPs a multiply-accumulate, nothing for bias or masks. None for an op without a formula.
std::optional<std::int64_t> dispatchFlops(const std::string &name, const std::vector<c10::IValue> &inputs,
                                          const std::vector<c10::IValue> &outputs);

} // namespace core
