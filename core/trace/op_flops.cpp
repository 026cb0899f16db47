// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/op_flops.h"

#include "core/base/value.h"
#include "core/trace/op_flops_tables.h"
#include "core/trace/op_names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace core {
namespace {

using flop_tables::Formula;
using flop_tables::Rule;
using Shape = std::span<const std::int64_t>;

// Products and sums that stay unknown once anything is unknown or does not fit.
class Count
{
public:
    Count(std::int64_t value) : m_value(value < 0 ? kUnknown : value) {}

    std::int64_t value() const { return m_value; }

    friend Count operator*(Count a, Count b)
    {
        std::int64_t product = kUnknown;
        if (a.m_value == kUnknown || b.m_value == kUnknown ||
            __builtin_mul_overflow(a.m_value, b.m_value, &product))
            return kUnknown;
        return product;
    }
    friend Count operator+(Count a, Count b)
    {
        std::int64_t sum = kUnknown;
        if (a.m_value == kUnknown || b.m_value == kUnknown ||
            __builtin_add_overflow(a.m_value, b.m_value, &sum))
            return kUnknown;
        return sum;
    }

private:
    std::int64_t m_value;
};

Count product(Shape shape)
{
    Count count = 1;
    for (const std::int64_t size : shape)
        count = count * size;
    return count;
}

Shape front(Shape shape, std::size_t withoutLast)
{
    return shape.first(shape.size() - std::min(shape.size(), withoutLast));
}

// A formula's answer: MACS and what is not a multiply-accumulate.
struct Terms
{
    Count macs = kUnknown;
    Count other = kUnknown;
    bool exact = false;
};

Count outputElements(const FlopQuery &query)
{
    return query.output ? product(*query.output) : Count(kUnknown);
}

// Elements of the first argument; unknown without a shape or for a scalar.
Count inputElements(const FlopQuery &query)
{
    if (query.arguments.empty() || !query.arguments[0].shape || query.arguments[0].shape->empty())
        return kUnknown;
    return product(*query.arguments[0].shape);
}

// Shapes of the leading tensors: the arguments themselves, or the tensors of a first list (multi_dot).
std::vector<Shape> tensorShapes(const FlopQuery &query)
{
    std::vector<Shape> shapes;
    for (const FlopArgument &argument : query.arguments) {
        if (argument.shape)
            shapes.push_back(*argument.shape);
        shapes.insert(shapes.end(), argument.list.begin(), argument.list.end());
    }
    return shapes;
}

Terms matmulTerms(const FlopQuery &query)
{
    const std::vector<Shape> shapes = tensorShapes(query);
    if (shapes.size() < 2 || shapes[0].empty() || shapes[1].empty())
        return {};
    const Shape a = shapes[0];
    const Shape b = shapes[1];
    const Count inner = a.back();
    if (a.size() == 1 && b.size() == 1)
        return {inner, 0, true};
    if (a.size() == 1)
        return {product(front(b, 2)) * inner * b.back(), 0, true};
    if (b.size() == 1)
        return {product(front(a, 2)) * a[a.size() - 2] * inner, 0, true};
    if (!query.output)
        return {};
    return {product(front(*query.output, 2)) * a[a.size() - 2] * inner * b.back(), 0, true};
}

Terms addmmTerms(const FlopQuery &query)
{
    const std::vector<Shape> shapes = tensorShapes(query);
    if (shapes.size() < 3 || shapes[1].size() < 2 || shapes[2].size() < 2)
        return {};
    const Shape a = shapes[1];
    return {product(front(a, 2)) * a[a.size() - 2] * a.back() * shapes[2].back(), outputElements(query),
            true};
}

Terms linearTerms(const FlopQuery &query)
{
    if (query.parameterShapes.empty() || query.parameterShapes[0].size() < 2)
        return {};
    const Shape weight = query.parameterShapes[0];
    const Count out = outputElements(query);
    if (out.value() == kUnknown || weight[0] <= 0)
        return {};
    const Count rows = out.value() / weight[0];
    return {rows * weight[1] * weight[0], query.parameterShapes.size() > 1 ? out : Count(0), true};
}

Terms convolutionTerms(const FlopQuery &query, bool transposed)
{
    if (query.parameterShapes.empty() || query.parameterShapes[0].size() < 3)
        return {};
    const Shape weight = query.parameterShapes[0];
    const Count out = outputElements(query);
    const Count places = transposed ? inputElements(query) : out;
    return {places * weight[1] * product(weight.subspan(2)),
            query.parameterShapes.size() > 1 ? out : Count(0), true};
}

// The general convolution says itself whether it is transposed, by its seventh argument.
bool saysTransposed(const FlopQuery &query)
{
    return query.func.ends_with("convolution") && query.arguments.size() > 6 &&
           query.arguments[6].json == "true";
}

Terms attentionTerms(const FlopQuery &query)
{
    const std::vector<Shape> shapes = tensorShapes(query);
    if (shapes.size() < 3 || shapes[0].size() < 2 || shapes[1].size() < 2 || shapes[2].size() < 2)
        return {};
    const Shape q = shapes[0];
    const Count scores = product(front(q, 2)) * q[q.size() - 2] * shapes[1][shapes[1].size() - 2];
    return {scores * q.back() + scores * shapes[2].back(), Count(6) * scores, false};
}

// Elements of a pooling kernel: an int counts once, a list its product, a missing one 1.
Count kernelElements(const FlopQuery &query)
{
    if (query.arguments.size() < 2 || query.arguments[1].shape || query.arguments[1].json.empty())
        return 1;
    const auto kernel = parseJson(query.arguments[1].json, "kernel_size");
    if (!kernel)
        return 1;
    if (kernel->isInt())
        return kernel->toInt();
    Count count = 1;
    for (const Value &size : kernel->toList())
        count = count * (size.isInt() ? size.toInt() : kUnknown);
    return count;
}

Count sortCost(const FlopQuery &query)
{
    const Count out = outputElements(query);
    if (out.value() <= 0)
        return out;
    const auto n = static_cast<double>(out.value());
    return static_cast<std::int64_t>(std::floor(n * std::log2(std::max(n, 2.0))));
}

Terms plain(Count total)
{
    return {total.value() == kUnknown ? Count(kUnknown) : Count(0), total, false};
}

std::string withoutBlanks(const std::string &text)
{
    std::string out;
    for (const char c : text)
        if (c != ' ')
            out += c;
    return out;
}

bool isLetters(std::string_view term)
{
    return std::all_of(term.begin(), term.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

std::string implicitOutput(std::string_view terms)
{
    std::string letters;
    for (const char c : terms)
        if (c != ',' && std::count(terms.begin(), terms.end(), c) == 1)
            letters += c;
    std::sort(letters.begin(), letters.end());
    return letters;
}

Terms einsumTerms(const FlopQuery &query)
{
    if (query.arguments.empty() || query.arguments[0].json.empty())
        return {};
    const auto parsed = parseJson(query.arguments[0].json, "equation");
    const std::vector<Shape> shapes = tensorShapes(query);
    if (!parsed || !parsed->isString() || shapes.size() != 2)
        return {};
    const std::string equation = withoutBlanks(parsed->toString());
    const auto arrow = equation.find("->");
    const std::string inputs = equation.substr(0, arrow);
    const std::string result =
        arrow == std::string::npos ? implicitOutput(inputs) : equation.substr(arrow + 2);
    const auto comma = inputs.find(',');
    if (comma == std::string::npos)
        return {};
    const std::array<std::string, 2> terms = {inputs.substr(0, comma), inputs.substr(comma + 1)};
    std::array<std::int64_t, 128> sizes{};
    sizes.fill(kUnknown);
    for (std::size_t operand = 0; operand < 2; ++operand) {
        const std::string &term = terms[operand];
        if (!isLetters(term) || !isLetters(result) || term.size() != shapes[operand].size())
            return {};
        for (std::size_t d = 0; d < term.size(); ++d) {
            auto &size = sizes[static_cast<unsigned char>(term[d])];
            if (term.find(term[d]) != d || (size != kUnknown && size != shapes[operand][d]))
                return {};
            size = shapes[operand][d];
        }
    }
    Count contracted = 1;
    bool any = false;
    for (char c = 'A'; c <= 'z'; ++c)
        if (sizes[static_cast<unsigned char>(c)] != kUnknown && result.find(c) == std::string::npos) {
            contracted = contracted * sizes[static_cast<unsigned char>(c)];
            any = true;
        }
    const Count out = outputElements(query);
    if (!any)
        return {0, out, true};
    return {out * contracted, 0, true};
}

Terms termsOf(const FlopQuery &query, const Rule &rule)
{
    const Count out = outputElements(query);
    switch (rule.formula) {
    case Formula::none:
    case Formula::innerOpsCounted:
        return {};
    case Formula::zero:
        return {0, 0, true};
    case Formula::lookup:
        return {0, 0, false};
    case Formula::perElement: {
        Terms terms = plain(out * rule.perElement);
        terms.exact = rule.perElement == 1;
        return terms;
    }
    case Formula::matmul:
        return matmulTerms(query);
    case Formula::addmm:
        return addmmTerms(query);
    case Formula::linear:
        return linearTerms(query);
    case Formula::convolution:
        return convolutionTerms(query, saysTransposed(query));
    case Formula::transposedConvolution:
        return convolutionTerms(query, true);
    case Formula::norm:
    case Formula::softmax:
        return plain(Count(5) * out);
    case Formula::logSoftmax:
        return plain(Count(6) * out);
    case Formula::reduction:
        return plain(inputElements(query));
    case Formula::variance:
    case Formula::elementLoss:
        return plain(Count(3) * inputElements(query));
    case Formula::distance:
        return plain(Count(2) * inputElements(query));
    case Formula::crossEntropy:
        return plain(Count(6) * inputElements(query));
    case Formula::binaryEntropy:
        return plain(Count(10) * inputElements(query));
    case Formula::pooling:
        return plain(out * kernelElements(query));
    case Formula::adaptivePooling:
        return plain(inputElements(query).value() == kUnknown ? out : inputElements(query));
    case Formula::dropout:
        return plain(Count(2) * out);
    case Formula::interpolation:
        return plain(Count(4) * out);
    case Formula::sorting:
        return plain(sortCost(query));
    case Formula::cumulative:
        return plain(out);
    case Formula::einsum:
        return einsumTerms(query);
    case Formula::attention:
        return attentionTerms(query);
    }
    return {};
}

} // namespace

FlopCount countFlops(const FlopQuery &query)
{
    const Terms terms = termsOf(query, flop_tables::ruleOf(query.func));
    const Count total = Count(2) * terms.macs + terms.other;
    FlopCount count;
    if (total.value() == kUnknown)
        return count;
    count.forward = total.value();
    count.macs = terms.macs.value();
    count.evidence = terms.exact ? FlopEvidence::formulaExact : FlopEvidence::estimated;
    const double backward = static_cast<double>(count.forward) * flop_tables::backwardMultiplier(query.func);
    if (backward < 9.0e18)
        count.backward = static_cast<std::int64_t>(backward);
    return count;
}

bool isZeroCost(std::string_view func)
{
    return flop_tables::ruleOf(func).formula == Formula::zero;
}

bool hasFlopRule(std::string_view func)
{
    return flop_tables::ruleOf(func).formula != Formula::none;
}

namespace {

Shape shapeOf(const TraceTables &tables, TensorId id)
{
    const Range range = tables.tensors[id.index()].shape;
    return Shape(tables.integers).subspan(range.begin, range.count);
}

FlopQuery queryOf(const TraceTables &tables, const CallRow &call)
{
    FlopQuery query;
    query.func = pythonFunctionName(tables.strings.view(call.func));
    for (std::uint32_t i = 0; i < call.arguments.count; ++i) {
        const ArgumentRow &row = tables.arguments[call.arguments.begin + i];
        FlopArgument argument;
        argument.json = tables.strings.view(row.valueJson);
        for (std::uint32_t k = 0; k < row.tensors.count; ++k) {
            const TensorId id = tables.tensorIds[row.tensors.begin + k];
            if (!id.isValid())
                continue;
            const TensorRow &tensor = tables.tensors[id.index()];
            if (tensor.role == TensorRole::parameter)
                query.parameterShapes.push_back(shapeOf(tables, id));
            if (!tensor.shapeKnown)
                continue;
            if (row.isTensorList)
                argument.list.push_back(shapeOf(tables, id));
            else
                argument.shape = shapeOf(tables, id);
        }
        query.arguments.push_back(std::move(argument));
    }
    return query;
}

} // namespace

void deriveFlops(TraceTables &tables)
{
    for (const CallRow &call : tables.calls) {
        const bool scalar = isScalarBookkeeping(tables.strings.view(call.func));
        FlopQuery query;
        if (call.kind == CallKind::compute && !scalar)
            query = queryOf(tables, call);
        for (std::uint32_t i = 0; i < call.rows.count; ++i) {
            OpRow &row = tables.ops[call.rows.begin + i];
            if (call.kind == CallKind::input || call.kind == CallKind::buffer) {
                row.flopsForward = row.flopsBackward = 0;
                row.macsForward = call.kind == CallKind::buffer ? 0 : kUnknown;
                continue;
            }
            if (call.kind == CallKind::output || scalar || !row.tensor.isValid() ||
                row.flopsForward != kUnknown)
                continue;
            if (tables.tensors[row.tensor.index()].shapeKnown)
                query.output = shapeOf(tables, row.tensor);
            else
                query.output.reset();
            const FlopCount count = countFlops(query);
            row.flopsForward = count.forward;
            row.flopsBackward = count.backward;
            row.macsForward = count.macs;
        }
    }
}

} // namespace core
