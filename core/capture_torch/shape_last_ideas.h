// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/shape_priors.h"

#include <functional>

namespace core {

// Ideas that the page does not have, for models that rearrange what they are given before their first layer.
// Each calls ADD with one idea after another; the order is the order in which they are worth a run.
using AddPrior = std::function<void(ShapePrior)>;

// A second of sound at 16 kHz for a model that takes a spectrum itself: to be tried before its layers, which
// see the spectrum.
void addSpectrumIdeas(const ShapeFacts &facts, const GuessOptions &options, const AddPrior &add);

// After everything else: longer sounds, sequences whose features come last, images with channels last or
// without a batch, tokens in one row, vectors for parameters of one dimension.
void addLastIdeas(const ShapeFacts &facts, const GuessOptions &options, const AddPrior &add);

} // namespace core
