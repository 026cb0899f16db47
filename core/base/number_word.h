// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <limits>
#include <optional>

namespace core {

// A number as JSON text gives it: the number, or what the strings "NaN", "Infinity" and "-Infinity" stand
// for; none for anything else.
inline std::optional<double> numberOrWord(const Value &value)
{
    if (value.isNumber())
        return value.toDouble();
    if (value.toString() == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    if (value.toString() == "Infinity")
        return std::numeric_limits<double>::infinity();
    if (value.toString() == "-Infinity")
        return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

} // namespace core
