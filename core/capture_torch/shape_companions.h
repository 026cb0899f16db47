// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/script_argument.h"
#include "core/capture_torch/shape_priors.h"

namespace core {

// What stands beside the input that is looked for when forward takes several: a sample rate, a mask over the
// same positions, lengths, the state of a recurrent layer, or a second input of its own. ALTERNATIVE counts
// through the possibilities: 0 goes by the argument's name, 1 is another tensor like PRIMARY, the others
// follow PRIORS. The value of a number is filled; a tensor's is not.
GuessedInput companionInput(const ScriptArgument &argument, const GuessedInput &primary,
                            const ShapeFacts &facts, const std::vector<ShapePrior> &priors,
                            std::size_t alternative);
std::size_t companionAlternatives(std::size_t priors);

} // namespace core
