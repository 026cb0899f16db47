// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace core {

// "aten.max_pool2d.default", "aten::max_pool2d", "max_pool2d" -> "max_pool2d"; a name without these parts
// stays.
std::string_view opBaseName(std::string_view op);

// The name that Python's own function has for an operator of our captures, which the rules of reports are
// keyed by: slice, select, index -> __getitem__; div -> true_divide; cross_entropy_loss -> cross_entropy.
// Names recorded by Python pass through. The only table of this kind.
std::string_view pythonFunctionName(std::string_view func);

// The TYPE of a label: lower case without underscores, reflected commutative operators folded into the
// forward ones
// (`__radd__` -> "add").
std::string labelType(std::string_view func);

// An in-place variant: one trailing underscore on a plain name, or `__iadd__` and its like.
bool isInPlaceName(std::string_view func);

// True for calls that make no tensor and stand for bookkeeping (`_assert_*`, `sym_size`, scalar arithmetic):
// rows without FLOPs, never a sink.
bool isScalarBookkeeping(std::string_view func);

// Functions that draw random numbers, trailing underscores ignored.
bool isStochasticName(std::string_view func);

} // namespace core
