// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// A tensor as far as a loss cares before it is computed. A value.
struct TensorKind
{
    std::string name; // as messages call it
    DType dtype = DType::unknown;
    std::vector<std::int64_t> shape;

    // "float32[3,5]"
    std::string text() const;
};

// invalidArgument (no_such_output): none of NAMES, the ways to the model's tensor outputs ("": the only one),
// is PATH. The remedy names the nearest, else all.
Status noSuchOutput(const std::string &path, const std::vector<std::string> &names);

// Whether SCALE can be the scale of a loss: finite and above 0.
Status checkLossScale(double scale);

// Whether RULE (cross_entropy or mse) can compare OUTPUT with TARGET. Cross-entropy takes whole numbers, one
// for each place that holds the classes' scores (dimension 1, or 0 of a single row), or probabilities of
// OUTPUT's shape; mse what broadcasts with OUTPUT. invalidArgument (target_mismatch) names both and says what
// is taken.
Status checkLossTarget(std::string_view rule, const TensorKind &output, const TensorKind &target);

// Whether TARGETS, class indices of cross-entropy, are below CLASSES; -100 is left out of the loss.
// invalidArgument (target_mismatch) names the first that is not, and where it stands.
Status checkClassIndices(std::span<const std::int64_t> targets, std::int64_t classes,
                         const std::string &name);

} // namespace core
