// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace core {

// "model.py:12 in forward"; without the last words where FUNCTION is not known.
inline std::string frameText(const std::string &file, std::uint32_t line, const std::string &function)
{
    return file + ':' + std::to_string(line) + (function.empty() ? "" : " in " + function);
}

} // namespace core
