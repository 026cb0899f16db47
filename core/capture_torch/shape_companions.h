// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/script_argument.h"
#include "core/capture_torch/shape_priors.h"
#include "core/capture_torch/shape_probe.h"

#include <functional>
#include <map>

namespace core {

// What stands beside the input that is looked for when forward takes several: a sample rate, a mask over the
// same positions, lengths, the state of a recurrent layer, or a second input of its own. ALTERNATIVE counts
// through the possibilities: 0 goes by the argument's name, 1 is another tensor like PRIMARY, the others
// follow PRIORS. The value of a number is filled; a tensor's is not.
GuessedInput companionInput(const ScriptArgument &argument, const GuessedInput &primary,
                            const ShapeFacts &facts, const std::vector<ShapePrior> &priors,
                            std::size_t alternative);
std::size_t companionAlternatives(std::size_t priors);
// Whether a NAME of an argument is that of the step of a diffusion.
bool isTimeStep(const std::string &name);
bool hasTimeStep(const std::vector<ScriptArgument> &arguments);
// Networks that take such a step work on small latents: sizes that nobody chose begin with theirs.
void preferLatents(const std::vector<ScriptArgument> &arguments, GuessOptions &options);
// The tensors of ARGUMENTS beside PRIMARY that their names say nothing about.
std::vector<std::string> unnamedCompanions(const ShapeFacts &facts, const GuessedInput &primary);

// What runs have told about inputs beside the first one.
struct CompanionForm
{
    std::vector<std::int64_t> shape;
    DType dtype = DType::unknown;
    ValueRange range;
};
using CompanionForms = std::map<std::string, CompanionForm>;
// What FORMS say of INPUT, which stays as it is where they say nothing.
void applyForms(const CompanionForms &forms, GuessedInput &input);

// Vectors, or rows of them, that stand beside an input and have a width of their own: each of NAMES is tried
// with one number of DTYPE, and what the layer that then fails wanted says how many there are to be. PROBE
// runs the model with FORMS, which keeps what was found out; true when a run went through.
bool searchWidths(const std::vector<std::string> &names, const CompanionForm &single, CompanionForms &forms,
                  const std::function<const ProbeResult &()> &probe);

// Steps, classes and tokens beside PRIMARY that are looked up in tables of their own, which the op that
// refused them in LAST tells: one for each item of the batch, or a row of them. Where PRIMARY itself is, an
// input beside it is the image or the sound. As searchWidths().
bool searchIndices(const GuessedInput &primary, ProbeResult last, CompanionForms &forms,
                   const std::function<const ProbeResult &()> &probe);

} // namespace core
