// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/script_argument.h"
#include "core/capture_torch/shape_guess.h"

#include <map>
#include <string>

namespace core {

class ScriptModel;

// How many items the code of MODEL looks up in each list that forward takes, by argument: constant places, or
// an assignment to so many names. Lists that it only walks through are left out.
std::map<std::string, std::size_t> listLengths(const ScriptModel &model);

// Whether TYPE is a list of numbers or texts.
bool isPlainList(const std::string &type);
// A list of numbers or texts for ARGUMENT beside PRIMARY, with LENGTH items where that is known (0: not).
// ALTERNATIVE counts through the possibilities: 0 goes by the argument's name, others are the sides of an
// image, the places of the dimensions, ones.
GuessedInput plainList(const ScriptArgument &argument, const GuessedInput &primary, std::size_t length,
                       std::size_t alternative);

} // namespace core
