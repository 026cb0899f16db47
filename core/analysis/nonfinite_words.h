// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/trace_statistics.h"

#include <string_view>

namespace core {

// How sentences spell it: "NaN", "Inf", "NaN and Inf", "finite values". Answers that are compared have
// nonFiniteKindName().
constexpr std::string_view nonFiniteKindWords(NonFiniteKind kind)
{
    switch (kind) {
    case NonFiniteKind::nan:
        return "NaN";
    case NonFiniteKind::inf:
        return "Inf";
    case NonFiniteKind::nanAndInf:
        return "NaN and Inf";
    case NonFiniteKind::none:
        break;
    }
    return "finite values";
}

} // namespace core
