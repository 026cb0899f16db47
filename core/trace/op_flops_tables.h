// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

// The name tables of reports.md section 9. Internal to op_flops.
namespace core::flop_tables {

enum class Formula : std::uint8_t {
    none,
    zero,
    perElement,
    matmul,
    addmm,
    linear,
    convolution,
    transposedConvolution,
    norm,       // 5 per output element
    reduction,  // 1 per input element
    variance,   // 3 per input element
    distance,   // 2 per input element
    softmax,    // 5 per output element
    logSoftmax, // 6 per output element
    pooling,    // kernel elements per output element
    adaptivePooling,
    lookup,        // 0, by a formula
    dropout,       // 2 per output element
    interpolation, // 4 per output element
    sorting,       // n log2 n
    cumulative,    // 1 per output element
    crossEntropy,  // 6 per input element
    elementLoss,   // 3 per input element
    binaryEntropy, // 10 per input element
    einsum,
    attention,
    innerOpsCounted // always unknown: its inner calls are counted
};

struct Rule
{
    Formula formula = Formula::none;
    std::int64_t perElement = 0;
};
Rule ruleOf(std::string_view func);

// Backward cost as a multiple of the forward cost.
double backwardMultiplier(std::string_view func);

} // namespace core::flop_tables
