// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_why.h"

#include "core/trace/tensor_reader.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace core {
namespace {

// One value of a tensor, by its saved payload.
std::optional<double> valueAt(const Trace &trace, TensorId tensor, std::int64_t flat)
{
    if (!tensor.isValid() || flat < 0)
        return std::nullopt;
    const auto reader = TensorReader::open(trace, tensor);
    if (!reader || static_cast<std::uint64_t>(flat) >= reader->elementCount())
        return std::nullopt;
    std::vector<std::byte> bytes(reader->itemBytes());
    if (!reader->read(static_cast<std::uint64_t>(flat), bytes))
        return std::nullopt;
    return elementAsDouble(reader->dtype(), bytes, 0);
}

// The element of SMALL that is broadcast to element FLAT of a tensor of shape LARGE; none when it does not
// fit.
std::optional<std::int64_t> broadcastIndex(std::span<const std::int64_t> large, std::int64_t flat,
                                           std::span<const std::int64_t> small)
{
    if (small.size() > large.size())
        return std::nullopt;
    const std::vector<std::int64_t> index = unravelled(flat, large);
    if (index.size() != large.size())
        return std::nullopt;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < small.size(); ++i) {
        const std::size_t from = large.size() - small.size() + i;
        if (small[i] != 1 && small[i] != large[from])
            return std::nullopt;
        at = at * small[i] + (small[i] == 1 ? 0 : index[from]);
    }
    return at;
}

bool is(const std::optional<double> &value, double wanted)
{
    return value && *value == wanted;
}
bool isNan(const std::optional<double> &value)
{
    return value && std::isnan(*value);
}
bool isInfinite(const std::optional<double> &value)
{
    return value && std::isinf(*value);
}

// "SqrtBackward0" -> "Sqrt"
std::string_view baseName(std::string_view className)
{
    const std::size_t at = className.rfind("Backward");
    return at == std::string_view::npos ? className : className.substr(0, at);
}

class Cause
{
public:
    Cause(const GradientTransition &transition, const TraceStatistics &statistics)
        : m_row(transition), m_statistics(statistics), m_trace(statistics.trace())
    {
    }

    Value token()
    {
        findFirst();
        if (!m_emitted.isValid())
            return {};
        const GradNodeRow &node = m_trace.gradNode(m_row.node);
        m_name = baseName(m_trace.string(node.className));
        if (Value value = fixed(); !value.isNull())
            return value;
        if (node.call.isValid())
            gather(node.call);
        if (hasInf(m_row.arriving.kind))
            return m_row.emitted.counts.nan > 0 ? passedOn() : Value();
        if (m_name == "Mm" || m_name == "Addmm" || m_name == "Bmm" || m_name == "Baddbmm")
            if (Value value =
                    product(node.call.isValid() ? m_trace.string(m_trace.call(node.call).func) : "");
                !value.isNull())
                return value;
        if (Value value = pointwise(); !value.isNull())
            return value;
        return saved();
    }

private:
    // The first leaf with a bad value, and where.
    void findFirst()
    {
        const auto leaves = m_trace.tensorIds(m_row.row->emitted);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            const TensorStats *stats = leaves[i].isValid() ? m_statistics.find(leaves[i]) : nullptr;
            if (stats == nullptr || stats->isAllFinite())
                continue;
            m_emitted = leaves[i];
            m_leaf = i;
            for (const std::int64_t at : {stats->firstNan, stats->firstPosInf, stats->firstNegInf})
                if (at >= 0 && (m_at < 0 || at < m_at))
                    m_at = at;
            return;
        }
    }

    // Nodes whose only way to a bad value is known.
    Value fixed() const
    {
        if (m_name == "LinalgSvd" || m_name == "Svd")
            return "equal_singular_values";
        if (m_name == "LinalgEigh" || m_name == "LinalgEig" || m_name == "SymeigBackward")
            return "equal_eigenvalues";
        if (m_name == "ToCopy" && m_trace.tensor(m_emitted).dtype == DType::float16)
            return "overflow_cast_fp16";
        return {};
    }

    void gather(CallId call)
    {
        for (const ArgumentRow &argument : m_trace.arguments(call)) {
            const auto tensors = m_trace.tensorIds(argument.tensors);
            m_operands.push_back(tensors.size() == 1 ? tensors[0] : TensorId());
            const auto number = argument.valueJson.isValid()
                                    ? parseJson(m_trace.string(argument.valueJson), "argument")
                                    : Result<Value>(Value());
            m_numbers.push_back(number && number->isNumber() ? std::optional(number->toDouble())
                                                             : std::nullopt);
        }
        const Range rows = m_trace.call(call).rows;
        for (std::uint32_t i = 0; i < rows.count; ++i)
            m_results.push_back(m_trace.op(OpId(rows.begin + i)).tensor);
        for (const TensorId tensor : m_trace.tensorIds(m_row.row->arriving))
            if (tensor.isValid() && !m_arriving.isValid())
                m_arriving = tensor;
    }

    std::optional<double> at(TensorId tensor) const
    {
        if (!tensor.isValid())
            return std::nullopt;
        const auto index = broadcastIndex(m_trace.shape(m_emitted), m_at, m_trace.shape(tensor));
        return index ? valueAt(m_trace, tensor, *index) : std::nullopt;
    }
    std::optional<double> operand(std::size_t index) const
    {
        if (index >= m_operands.size())
            return std::nullopt;
        return m_operands[index].isValid() ? at(m_operands[index]) : m_numbers[index];
    }
    std::optional<double> result() const { return m_results.empty() ? std::nullopt : at(m_results[0]); }
    std::optional<double> arrived() const { return at(m_arriving); }

    // What a factor that was saved does to the gradient that arrived.
    Value factor(const std::optional<double> &saved) const
    {
        const std::optional<double> gradient = arrived();
        if (isNan(saved))
            return is(gradient, 0.0) ? "zero_times_nan" : "saved_nan";
        if (isInfinite(saved))
            return is(gradient, 0.0) ? "zero_times_inf" : "times_saved_inf";
        return {};
    }

    Value quotient(const std::optional<double> &divisor, const char *otherwise) const
    {
        const bool zero = is(arrived(), 0.0);
        if (is(divisor, 0.0))
            return zero ? "zero_divided_by_zero" : otherwise;
        if (isNan(divisor))
            return zero ? "zero_divided_by_nan" : "saved_nan";
        return {};
    }

    // Which operand the bad leaf is the gradient of: numbers have none.
    std::size_t leafOperand() const
    {
        std::size_t leaves = 0;
        for (std::size_t i = 0; i < m_operands.size(); ++i)
            if (m_operands[i].isValid() && leaves++ == m_leaf)
                return i;
        return m_leaf;
    }

    // The gradient met an infinite slope that is no saved value: a zero times it is NaN.
    Value steep(const char *otherwise) const
    {
        return is(arrived(), 0.0) ? Value("zero_times_inf") : Value(otherwise);
    }

    // Its slope in the exponent is the result times the logarithm of the base.
    Value power() const
    {
        const auto base = operand(0);
        const auto exponent = operand(1);
        if (!base || !exponent)
            return {};
        const bool fractional = *exponent != std::floor(*exponent);
        if (*base < 0.0 && fractional)
            return "negative_base_fractional_exponent";
        const bool ofExponent = leafOperand() == 1;
        if (*base < 0.0 && ofExponent)
            return is(arrived(), 0.0) ? "zero_times_nan" : "log_of_negative";
        if (*base == 0.0 && *exponent < (ofExponent ? 0.0 : 1.0))
            return steep("zero_to_negative_power");
        return factor(ofExponent ? result() : base);
    }

    // a / b: in b the slope is -(a / b) / b.
    Value division() const
    {
        const bool ofDivisor = leafOperand() == 1;
        if (ofDivisor && is(operand(0), 0.0) && is(operand(1), 0.0))
            return "zero_divided_by_zero";
        if (Value value = quotient(operand(1), "divided_by_zero"); !value.isNull() || !ofDivisor)
            return value;
        return factor(operand(0));
    }

    // self + value * a / b
    Value addedQuotient() const
    {
        const bool ofDivisor = leafOperand() == 2;
        if (ofDivisor && is(operand(1), 0.0) && is(operand(2), 0.0))
            return "zero_divided_by_zero";
        return leafOperand() == 0 ? Value() : quotient(operand(2), "divided_by_zero");
    }

    // The logarithm as a factor.
    Value timesLogarithm(const std::optional<double> &of) const
    {
        if (is(of, 0.0))
            return steep("log_of_zero");
        if (of && *of < 0.0)
            return is(arrived(), 0.0) ? "zero_times_nan" : "log_of_negative";
        return factor(of);
    }

    // x log(y) or x log(1 + y)
    Value productWithLogarithm(double shift) const
    {
        const auto y = operand(1) ? std::optional(*operand(1) + shift) : std::nullopt;
        if (leafOperand() == 0)
            return timesLogarithm(y);
        if (is(operand(0), 0.0) && is(y, 0.0))
            return "zero_divided_by_zero";
        return quotient(y, "divided_by_zero");
    }

    Value logarithms() const
    {
        const auto x = operand(0);
        if (m_name == "Log" || m_name == "Log2" || m_name == "Log10")
            return quotient(x, "divided_by_zero");
        if (m_name == "Log1P")
            return quotient(x ? std::optional(*x + 1.0) : std::nullopt, "divided_by_zero");
        if (m_name == "Xlogy")
            return productWithLogarithm(0.0);
        if (m_name == "SpecialXlog1Py")
            return productWithLogarithm(1.0);
        if (m_name == "SpecialEntr")
            return timesLogarithm(x);
        if (m_name == "Logit" && (is(x, 0.0) || is(x, 1.0)))
            return is(arrived(), 0.0) ? "zero_divided_by_zero" : "divided_by_zero";
        if (m_name == "Logit")
            return factor(result());
        // Both shift by their result or by each other: equal infinities cancel.
        if ((m_name == "Logsumexp" || m_name == "Logcumsumexp" || m_name == "Logaddexp" ||
             m_name == "Logaddexp2") &&
            isInfinite(result()))
            return *result() > 0.0 ? "inf_minus_inf" : "neg_inf_minus_neg_inf";
        return {};
    }

    // Inverse functions at the ends of where they are defined.
    Value inverses() const
    {
        const bool atEnd = operand(0) && std::abs(*operand(0)) == 1.0;
        if (m_name == "Atanh" && atEnd)
            return is(arrived(), 0.0) ? "zero_divided_by_zero" : "acos_gradient_at_one";
        const bool steepAtOne =
            m_name == "Acos" || m_name == "Asin" || m_name == "Acosh" || m_name == "Atanh";
        if (steepAtOne && atEnd)
            return steep("acos_gradient_at_one");
        if (steepAtOne || m_name == "Erfinv" || m_name == "SpecialNdtri")
            return factor(result());
        const bool hasPoles =
            m_name == "Lgamma" || m_name == "Digamma" || m_name == "Polygamma" || m_name == "Mvlgamma";
        const auto x = operand(m_name == "Polygamma" ? 1 : 0);
        return hasPoles && x && *x <= 0.0 ? Value("outside_domain") : Value();
    }

    // Functions whose slope is made of their result.
    Value exponentials() const
    {
        static constexpr std::string_view kNames[] = {"Exp",  "Exp2",    "Expm1", "Softmax",     "LogSoftmax",
                                                      "Tanh", "Sigmoid", "Tan",   "SpecialErfcx"};
        if (std::find(std::begin(kNames), std::end(kNames), m_name) != std::end(kNames))
            return factor(result());
        if ((m_name == "Sinh" || m_name == "Cosh") && isInfinite(result()))
            return isInfinite(operand(0)) ? factor(result()) : steep("overflow_exp");
        return {};
    }

    Value pointwise() const
    {
        if (m_name == "Sqrt")
            return quotient(result(), "sqrt_gradient_at_zero");
        if (m_name == "Rsqrt" || m_name == "Reciprocal")
            return is(operand(0), 0.0) ? steep("divided_by_zero") : factor(result());
        if (m_name == "Div")
            return division();
        if (m_name == "Addcdiv")
            return addedQuotient();
        if (m_name == "Mul")
            return factor(operand(leafOperand() == 0 ? 1 : 0));
        if (m_name == "Addcmul")
            return leafOperand() == 0 ? Value() : factor(operand(leafOperand() == 1 ? 2 : 1));
        if (m_name == "Pow")
            return power();
        if (m_name == "Hypot" && is(result(), 0.0))
            return "zero_divided_by_zero";
        // Each slope is the other operand over the sum of squares, by its reciprocal.
        if (m_name == "Atan2" && (isInfinite(operand(0)) || isInfinite(operand(1))))
            return "zero_times_inf";
        if (m_name == "LinalgVectorNorm" || m_name == "Norm")
            return is(result(), 0.0) ? Value("zero_norm_row") : Value();
        for (Value (Cause::*rule)() const : {&Cause::logarithms, &Cause::inverses, &Cause::exponentials})
            if (Value value = (this->*rule)(); !value.isNull())
                return value;
        return spread();
    }

    // Of fewer elements than the divisor takes off.
    Value spread() const
    {
        if (m_name != "Std" && m_name != "Var" && m_name != "StdMean" && m_name != "VarMean")
            return {};
        for (const TensorId tensor : m_operands)
            if (const TensorStats *stats = tensor.isValid() ? m_statistics.find(tensor) : nullptr)
                return stats->isAllFinite() ? Value("divisor_zero") : Value();
        return "divisor_zero";
    }

    // An infinite gradient met a zero, or two of them cancelled.
    Value passedOn() const
    {
        const bool adds =
            m_name == "Sum" || m_name == "Expand" || m_name == "Add" || m_name == "Sub" || m_name == "Mean";
        return adds ? "inf_minus_inf" : "zero_times_inf";
    }

    // A factor of a matrix product as the call took it: leading dimensions run through as rows, or as the
    // batch where the product has one. TRANSPOSED: the weight of linear.
    struct Factor
    {
        TensorId tensor;
        bool transposed = false;
    };

    std::optional<double> element(const Factor &factor, std::int64_t batch, std::int64_t row,
                                  std::int64_t column) const
    {
        const auto shape = m_trace.shape(factor.tensor);
        if (shape.size() < 2)
            return std::nullopt;
        if (factor.transposed)
            return valueAt(m_trace, factor.tensor, column * shape.back() + row);
        return valueAt(m_trace, factor.tensor,
                       (batch * shape[shape.size() - 2] + row) * shape.back() + column);
    }

    // A gradient of a matrix product: the term of the first bad element that is not finite. The gradient of
    // A in A B is G B^T, that of B is A^T G; addmm and baddbmm have their matrices behind the bias, linear's
    // come before it although its node is that of addmm.
    Value product(std::string_view func) const
    {
        const std::size_t leafOffset = m_name == "Addmm" || m_name == "Baddbmm" ? 1 : 0;
        const std::size_t offset = func == "linear" ? 0 : leafOffset;
        if (m_operands.size() < offset + 2 || m_leaf < leafOffset || !m_arriving.isValid())
            return {};
        const bool left = m_leaf == leafOffset;
        const Factor saved = {m_operands[offset + (left ? 1 : 0)], left && func == "linear"};
        const auto sizes = m_trace.shape(m_arriving);
        if (!saved.tensor.isValid() || sizes.size() < 2 || m_trace.shape(m_emitted).size() < 2)
            return {};
        const std::vector<std::int64_t> index = unravelled(m_at, m_trace.shape(m_emitted));
        if (index.size() < 2)
            return {};
        const std::int64_t row = index[index.size() - 2];
        const std::int64_t column = index.back();
        const std::int64_t batch = index.size() > 2 ? index[0] : 0; // bmm: three dimensions
        const std::int64_t terms = left ? sizes.back() : sizes[sizes.size() - 2];
        bool finite = true;
        for (std::int64_t i = 0; i < terms; ++i) {
            const auto gradient =
                left ? element({m_arriving}, batch, row, i) : element({m_arriving}, batch, i, column);
            const auto value = left ? element(saved, batch, column, i) : element(saved, batch, i, row);
            if (!gradient || !value)
                return {};
            if (std::isnan(*value))
                return *gradient == 0.0 ? "zero_times_nan" : "saved_nan";
            if (std::isinf(*value))
                return *gradient == 0.0 ? "zero_times_inf" : "times_saved_inf";
            finite = finite && std::isfinite(*gradient);
        }
        return finite && m_row.emitted.counts.nan == 0 ? overflowToken(m_trace.tensor(m_emitted).dtype)
                                                       : Value();
    }

    // Nothing finer is known: a forward fault that is seen again, else too large a product.
    Value saved() const
    {
        bool nan = false;
        bool inf = false;
        for (const auto *list : {&m_operands, &m_results})
            for (const TensorId tensor : *list)
                if (const TensorStats *stats = tensor.isValid() ? m_statistics.find(tensor) : nullptr) {
                    nan = nan || stats->nan > 0;
                    inf = inf || stats->posInf + stats->negInf > 0;
                }
        if (nan)
            return "saved_nan";
        if (inf)
            return "saved_inf";
        return m_row.emitted.counts.nan == 0 ? overflowToken(m_trace.tensor(m_emitted).dtype) : Value();
    }

    const GradientTransition &m_row;
    const TraceStatistics &m_statistics;
    const Trace &m_trace;
    std::string_view m_name;
    TensorId m_emitted;
    TensorId m_arriving;
    std::size_t m_leaf = 0;
    std::int64_t m_at = -1;
    std::vector<TensorId> m_operands;
    std::vector<std::optional<double>> m_numbers;
    std::vector<TensorId> m_results;
};

} // namespace

Value backwardWhy(const GradientTransition &transition, const TraceStatistics &statistics)
{
    const bool made = hasNan(transition.emitted.kind) ? !hasNan(transition.arriving.kind)
                                                      : transition.arriving.kind == NonFiniteKind::none;
    if (transition.emitted.kind == NonFiniteKind::none || !made)
        return {};
    return Cause(transition, statistics).token();
}

} // namespace core
