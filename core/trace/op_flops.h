// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/tables.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace core {

// One positional argument of a call as the rules see it: a tensor's shape, a list of tensors' shapes, or JSON
// text.
struct FlopArgument
{
    std::optional<std::span<const std::int64_t>> shape;
    std::vector<std::span<const std::int64_t>> list;
    std::string_view json;
};

// What the rules of reports.md section 9 look at.
struct FlopQuery
{
    std::string_view func;                                      // Python's function name
    std::optional<std::span<const std::int64_t>> output;        // of the row asked about
    std::vector<std::span<const std::int64_t>> parameterShapes; // parameters the call consumed, in order
    std::vector<FlopArgument> arguments;                        // positional, in order
};

enum class FlopEvidence : std::uint8_t { unknown, estimated, formulaExact };

// flops = 2 * macs + other by the convention fma2. Unknown is kUnknown, never 0.
struct FlopCount
{
    std::int64_t forward = kUnknown;
    std::int64_t backward = kUnknown;
    std::int64_t macs = kUnknown;
    FlopEvidence evidence = FlopEvidence::unknown;
};
FlopCount countFlops(const FlopQuery &query);

// Names whose cost is zero by rule (layout, views, queries, constructions without arithmetic).
bool isZeroCost(std::string_view func);
// True when some rule knows the name, whatever it needs besides.
bool hasFlopRule(std::string_view func);

// Fills flopsForward, flopsBackward and macsForward of all rows of an own capture where its maker did not
// say.
void deriveFlops(TraceTables &tables);
// Splits the FLOPs that an imported row brought into multiply-accumulates and the rest, by its function,
// output shape and parameters (reports.md section 9.6). A split that does not come out even stays unknown.
void deriveMacs(TraceTables &tables);

} // namespace core
