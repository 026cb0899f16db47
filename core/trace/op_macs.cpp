// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/op_flops.h"
#include "core/trace/op_flops_tables.h"
#include "core/trace/op_names.h"

namespace core {
namespace {

using flop_tables::Formula;
using Shape = std::span<const std::int64_t>;

// The product of sizes; kUnknown when it does not fit.
std::int64_t elements(Shape shape)
{
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        if (size < 0 || __builtin_mul_overflow(count, size, &count))
            return kUnknown;
    return count;
}

Shape shapeOf(const TraceTables &tables, TensorId id)
{
    const TensorRow &tensor = tables.tensors[id.index()];
    return Shape(tables.integers).subspan(tensor.shape.begin, tensor.shape.count);
}

std::size_t parameterCount(const TraceTables &tables, const CallRow &call)
{
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < call.arguments.count; ++i) {
        const Range range = tables.arguments[call.arguments.begin + i].tensors;
        for (std::uint32_t k = 0; k < range.count; ++k) {
            const TensorId id = tables.tensorIds[range.begin + k];
            count += id.isValid() && tables.tensors[id.index()].role == TensorRole::parameter ? 1 : 0;
        }
    }
    return count;
}

// Scale and softmax of an attention: 6 * B * Sq * Sk of the first two parents, query and key.
std::int64_t attentionOther(const TraceTables &tables, const OpRow &row)
{
    if (row.parents.count < 2)
        return kUnknown;
    const auto tensorOf = [&](std::uint32_t i) {
        return tables.ops[tables.opIds[row.parents.begin + i].index()].tensor;
    };
    if (!tensorOf(0).isValid() || !tensorOf(1).isValid())
        return kUnknown;
    const Shape query = shapeOf(tables, tensorOf(0));
    const Shape key = shapeOf(tables, tensorOf(1));
    if (query.size() < 2 || key.size() < 2)
        return kUnknown;
    const std::int64_t rows = elements(query.first(query.size() - 1));
    std::int64_t other = kUnknown;
    if (rows == kUnknown || __builtin_mul_overflow(rows, 6 * key[key.size() - 2], &other))
        return kUnknown;
    return other;
}

// What of FLOPS is no multiply-accumulate; kUnknown when the row does not tell.
std::int64_t otherFlops(const TraceTables &tables, const OpRow &row, Formula formula)
{
    const std::int64_t output = elements(shapeOf(tables, row.tensor));
    switch (formula) {
    case Formula::matmul:
        return 0;
    case Formula::addmm:
        return output;
    case Formula::linear:
    case Formula::convolution:
    case Formula::transposedConvolution:
        return parameterCount(tables, tables.calls[row.call.index()]) > 1 ? output : 0;
    case Formula::einsum: // a contraction is all of it, a product of elements has none
        return row.flopsForward == output ? row.flopsForward : 0;
    case Formula::attention:
        return attentionOther(tables, row);
    default:
        return row.flopsForward;
    }
}

} // namespace

void deriveMacs(TraceTables &tables)
{
    for (OpRow &row : tables.ops) {
        const bool isPseudo = row.kind == CallKind::input || row.kind == CallKind::output;
        if (isPseudo || row.macsForward != kUnknown || row.flopsForward == kUnknown)
            continue;
        if (row.flopsForward == 0) {
            row.macsForward = 0;
            continue;
        }
        if (!row.tensor.isValid())
            continue;
        const std::string_view func = tables.strings.view(tables.calls[row.call.index()].func);
        const std::int64_t other =
            otherFlops(tables, row, flop_tables::ruleOf(pythonFunctionName(func)).formula);
        if (other != kUnknown && other <= row.flopsForward && (row.flopsForward - other) % 2 == 0)
            row.macsForward = (row.flopsForward - other) / 2;
    }
}

} // namespace core
