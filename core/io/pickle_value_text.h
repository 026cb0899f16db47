// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/io/pickle.h"

#include <string>
#include <string_view>
#include <vector>

namespace core {

// A pickled value as JSON-like data for display: numbers, strings, lists, dictionaries with text keys; a
// class or function as its dotted name, an object as "<module.Class>" unless it wraps one number. Bounded in
// depth and in items (what is left out is "..."), so that shared and cyclic values are harmless.
Value pickleToValue(PickleValue value);

// Items of a list, tuple, set or frozenset, also of `frozenset([...])` and `OrderedDict` forms that are calls
// in the pickle; empty for anything else.
std::vector<PickleValue> pickleItems(PickleValue value);
std::vector<std::string> pickleStrings(PickleValue value);
// Pairs of a dict, or of an instance that was filled like one (OrderedDict, defaultdict).
std::vector<std::pair<PickleValue, PickleValue>> picklePairs(PickleValue value);
// The attribute of an object: from a dict state, or the slots half of a (dict, slots) state.
PickleValue pickleAttribute(PickleValue object, std::string_view name);
// The number in a wrapper such as Bytes(32) or Duration(0.5), or the number itself; invalid for None.
PickleValue pickleNumber(PickleValue value);
// The value's text; that of an enum or a str subclass is its first argument.
std::string pickleText(PickleValue value);

} // namespace core
