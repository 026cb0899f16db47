// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/shape_facts.h"
#include "core/capture_torch/shape_guess.h"

#include <string>
#include <vector>

namespace core {

// One idea of what the input may be, from one module or parameter.
struct ShapePrior
{
    enum class Kind { embedding, recurrent, conv, transformer, groupNorm, linear, waveform, norm };
    Kind kind = Kind::linear;
    std::vector<std::int64_t> shape;
    DType dtype = DType::float32;
    ValueRange range;
    std::vector<std::int64_t> flexible; // dimensions that may change, to be tried
    std::string strategy = "introspection";
    std::string module; // path of the module; empty: the root or none
    std::string op;     // class name, or "parameter:weight"
    std::int64_t minSide = 1;

    std::size_t rank() const { return shape.size() > 2 ? shape.size() - 2 : 0; }
    bool isSequence() const { return kind == Kind::recurrent || kind == Kind::transformer; }
};

// All ideas in the order in which they are tried: the first layer that decides, every module in definition
// order, the parameters by their ranks (reports.md section 11.17). Ours beside them: transposed convolutions
// over a small image, which their parameters' ranks would take for plain ones; norms, for models that have
// nothing else; for networks that start with a convolution over one channel plain waveforms; and tokens
// without a sequence. Each (shape, dtype, kind) once.
std::vector<ShapePrior> shapePriors(const ShapeFacts &facts, const GuessOptions &options);

} // namespace core
