// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace core {

// An argument of a TorchScript model's forward.
struct ScriptArgument
{
    std::string name;
    std::string type; // "Tensor", "Dict[str, Tensor]"
    bool hasDefault = false;
    std::size_t index = 0; // 0 is the first after self
};

} // namespace core
