// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_why.h"

#include "core/base/number_word.h"
#include "core/trace/tensor_reader.h"

#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

namespace core {
namespace {

using Names = std::unordered_set<std::string_view>;

// What a rule looks at. Operands that are not known are NaN-free absent values.
struct Case
{
    std::string_view func; // without the in-place underscore
    std::optional<double> a;
    std::optional<double> b;
    std::optional<double> c;
    NonFiniteKind made = NonFiniteKind::none;
    DType dtype = DType::unknown;     // of the result
    TensorStats inputs;               // counts over all tensor arguments
    TensorStats first;                // of the first tensor argument
    bool varianceBelowZero = false;   // a running variance that went in
    std::optional<bool> rowHasPosInf; // of that one, along the dimension that b names; not always known
};

bool is(const std::optional<double> &value, double wanted)
{
    return value && *value == wanted;
}

bool isInfinite(const std::optional<double> &value)
{
    return value && std::isinf(*value);
}

bool isBelow(const std::optional<double> &value, double limit)
{
    return value && *value < limit;
}

bool isFractional(const std::optional<double> &value)
{
    return value && std::isfinite(*value) && *value != std::floor(*value);
}

// Outside the domain of a function of one argument: where the function itself is NaN.
bool isOutsideDomain(std::string_view func, double x)
{
    if (func == "acos" || func == "asin" || func == "arccos" || func == "arcsin" || func == "erfinv" ||
        func == "atanh" || func == "arctanh")
        return std::abs(x) > 1.0 || (std::abs(x) == 1.0 && (func.ends_with("tanh") || func == "erfinv"));
    if (func == "ndtri")
        return x <= 0.0 || x >= 1.0;
    if (func == "acosh" || func == "arccosh")
        return x < 1.0;
    if (func == "logit")
        return x < 0.0 || x > 1.0;
    if (func == "entr")
        return x < 0.0;
    if (func == "lgamma" || func == "digamma" || func == "polygamma" || func == "mvlgamma")
        return x <= 0.0;
    return false;
}

Value divisionToken(const Case &at)
{
    if (is(at.b, 0.0))
        return is(at.a, 0.0) ? "zero_divided_by_zero" : "divided_by_zero";
    if (isInfinite(at.a) && isInfinite(at.b))
        return "inf_divided_by_inf";
    return {};
}

Value logarithmToken(std::string_view func, const Case &at)
{
    const double shift = func == "log1p" ? 1.0 : 0.0;
    const std::optional<double> &of = func.starts_with("xlog") ? at.b : at.a;
    if (!of)
        return {};
    const double x = *of + (func == "xlog1py" ? 1.0 : shift);
    return x == 0.0 ? Value("log_of_zero") : x < 0.0 ? Value("log_of_negative") : Value();
}

// The logarithm inside a function of more than one step, and what only a complex operand's zero can be.
Value hiddenLogarithmToken(const Case &at)
{
    if (at.func == "logit" && (is(at.a, 0.0) || is(at.a, 1.0)))
        return is(at.a, 0.0) ? "log_of_zero" : "divided_by_zero";
    const bool finite = at.inputs.isAllFinite();
    if (at.func == "logdet" || at.func == "slogdet" || at.func == "linalg_slogdet") {
        if (finite && hasNan(at.made))
            return "log_of_negative";
        return finite ? Value("log_of_zero") : Value();
    }
    const bool complexLog = isComplex(at.dtype) && at.func.starts_with("log");
    return complexLog && finite && !hasNan(at.made) ? Value("log_of_zero") : Value();
}

// Curves that end in a zero times their argument, and masks of zeros.
Value vanishingFactorToken(const Case &at)
{
    static const Names kCurves = {"gelu", "silu", "mish", "hardswish"};
    static const Names kMasks = {"dropout", "feature_dropout", "alpha_dropout", "native_dropout", "glu"};
    if (!hasNan(at.made))
        return {};
    const bool curve = kCurves.contains(at.func) && isInfinite(at.a);
    const bool mask = kMasks.contains(at.func) && at.inputs.posInf + at.inputs.negInf > 0;
    return curve || mask ? Value("zero_times_inf") : Value();
}

Value powerToken(const Case &at)
{
    if (isBelow(at.a, 0.0) && isFractional(at.b))
        return "negative_base_fractional_exponent";
    if (is(at.a, 0.0) && isBelow(at.b, 0.0))
        return "zero_to_negative_power";
    return {};
}

Value sumToken(const Case &at)
{
    if (!isInfinite(at.a) || !isInfinite(at.b) || !hasNan(at.made))
        return {};
    const bool bothNegative = *at.a < 0.0 && *at.b < 0.0;
    return bothNegative ? Value("neg_inf_minus_neg_inf") : Value("inf_minus_inf");
}

Value productToken(const Case &at)
{
    return (is(at.a, 0.0) && isInfinite(at.b)) || (isInfinite(at.a) && is(at.b, 0.0))
               ? Value("zero_times_inf")
               : Value();
}

// A row gives NaN when it holds +Inf, or nothing but -Inf.
Value softmaxToken(const Case &at)
{
    if (!hasNan(at.made))
        return {};
    if (at.a && !(std::isinf(*at.a) && *at.a < 0.0))
        return "softmax_pos_inf";
    if (at.first.posInf == 0)
        return "softmax_all_neg_inf";
    if (!at.rowHasPosInf)
        return {};
    return *at.rowHasPosInf ? "softmax_pos_inf" : "softmax_all_neg_inf";
}

bool isIn(std::string_view func, const Names &names)
{
    return names.contains(func);
}

// Sums of products: NaN out of infinities.
Value contractionToken(const Case &at)
{
    if (!hasNan(at.made) || at.inputs.posInf + at.inputs.negInf == 0)
        return {};
    return at.inputs.zero > 0 ? "zero_times_inf" : "inf_minus_inf";
}

Value pointwiseToken(const Case &at)
{
    static const Names kDivisions = {"div", "true_divide", "divide", "floor_divide"};
    static const Names kLogarithms = {"log", "log2", "log10", "log1p", "xlogy", "xlog1py"};
    static const Names kExponentials = {"exp", "exp2", "expm1", "sinh", "cosh"};
    if (isIn(at.func, kDivisions))
        return divisionToken(at);
    if (isIn(at.func, kLogarithms) && !isComplex(at.dtype))
        return logarithmToken(at.func, at);
    if (isIn(at.func, kExponentials))
        return at.a && std::isfinite(*at.a) ? Value("overflow_exp") : Value();
    if (at.func == "reciprocal")
        return is(at.a, 0.0) ? Value("divided_by_zero") : Value();
    if (at.func == "remainder" || at.func == "fmod")
        return is(at.b, 0.0) ? Value("divisor_zero") : Value();
    if (at.func == "rsqrt" && is(at.a, 0.0))
        return "rsqrt_of_zero";
    if (at.func == "sqrt" || at.func == "rsqrt")
        return isBelow(at.a, 0.0) ? Value("sqrt_of_negative") : Value();
    if (at.func == "pow" || at.func == "float_power")
        return powerToken(at);
    if (at.func == "mul" || at.func == "multiply")
        return productToken(at);
    if (at.func == "sub" || at.func == "subtract" || at.func == "rsub" || at.func == "add")
        return sumToken(at);
    if (Value token = vanishingFactorToken(at); !token.isNull())
        return token;
    if (Value token = hiddenLogarithmToken(at); !token.isNull())
        return token;
    if (at.func == "addcdiv" && is(at.c, 0.0))
        return is(at.b, 0.0) ? "zero_divided_by_zero" : "divided_by_zero";
    if (at.a && isOutsideDomain(at.func, *at.a))
        return "outside_domain";
    return {};
}

Value reductionToken(const Case &at)
{
    static const Names kSpreads = {"std", "var", "std_mean", "var_mean"};
    static const Names kMeans = {"mean",     "nanmean", "cross_entropy_loss", "nll_loss",  "nll_loss_nd",
                                 "mse_loss", "l1_loss", "nll_loss2d",         "huber_loss"};
    static const Names kNorms = {"layer_norm", "batch_norm",        "group_norm",        "instance_norm",
                                 "rms_norm",   "native_layer_norm", "native_batch_norm", "native_group_norm"};
    static const Names kContractions = {"matmul",
                                        "mm",
                                        "bmm",
                                        "addmm",
                                        "baddbmm",
                                        "linear",
                                        "einsum",
                                        "mv",
                                        "dot",
                                        "conv1d",
                                        "conv2d",
                                        "conv3d",
                                        "addbmm",
                                        "convolution",
                                        "_convolution",
                                        "vdot",
                                        "inner",
                                        "tensordot",
                                        "conv_transpose1d",
                                        "conv_transpose2d",
                                        "conv_transpose3d",
                                        "upsample_linear1d",
                                        "upsample_bilinear2d",
                                        "upsample_bicubic2d",
                                        "upsample_trilinear3d",
                                        "grid_sampler"};
    const bool finite = at.inputs.isAllFinite();
    if (at.func == "softmax" || at.func == "log_softmax" || at.func == "_softmax" ||
        at.func == "_log_softmax")
        return softmaxToken(at);
    if (isIn(at.func, kSpreads) && finite && hasNan(at.made))
        return "unbiased_single_element";
    if (isIn(at.func, kMeans) && finite && hasNan(at.made))
        return "mean_over_nothing";
    if (isIn(at.func, kNorms) && hasNan(at.made) && finite && at.varianceBelowZero)
        return "sqrt_of_negative";
    if (isIn(at.func, kNorms) && hasNan(at.made))
        return finite ? "zero_variance_no_eps" : "inf_minus_inf";
    if (at.func == "ctc_loss" && finite && hasInf(at.made))
        return "target_longer_than_input";
    if (isIn(at.func, kContractions))
        return contractionToken(at);
    const bool adds = at.func == "sum" || at.func == "cumsum" || at.func == "mean" ||
                      at.func.find("avg_pool") != std::string_view::npos;
    if (adds && hasNan(at.made) && !finite)
        return "inf_minus_inf";
    if ((at.func == "prod" || at.func == "cumprod") && hasNan(at.made) && !finite)
        return "zero_times_inf";
    return {};
}

Value castToken(const Case &at)
{
    static const Names kCasts = {"to",      "_to_copy", "half",
                                 "type_as", "copy",     "_autocast_to_reduced_precision"};
    return isIn(at.func, kCasts) && at.dtype == DType::float16 && hasInf(at.made)
               ? Value("overflow_cast_fp16")
               : Value();
}

void addCounts(TensorStats &all, const TensorStats &one)
{
    all.elements += one.elements;
    all.nan += one.nan;
    all.posInf += one.posInf;
    all.negInf += one.negInf;
    all.zero += one.zero;
}

std::optional<double> operand(const Value &values, std::size_t index)
{
    if (!values.isList() || index >= values.toList().size())
        return std::nullopt;
    return numberOrWord(values.toList()[index]);
}

// The operands that the capture kept at element AT; nothing when it kept none.
std::optional<Value> keptOperands(const Trace &trace, const TensorRow &tensor, std::int64_t at)
{
    for (const StringId id : {tensor.operandsAtFirst, tensor.operandsAtFirstNan}) {
        if (!id.isValid())
            continue;
        const auto kept = parseJson(trace.string(id), "operands");
        if (kept && kept->at("at").isInt() && kept->at("at").toInt() == at)
            return kept->at("values");
    }
    return std::nullopt;
}

// A small constant that was added against zero and became zero in a 16-bit type.
bool isUnderflownEps(const Trace &trace, TensorId divisor)
{
    const OpId producer = divisor.isValid() ? trace.producer(divisor) : OpId();
    if (!producer.isValid())
        return false;
    const DType dtype = trace.tensor(divisor).dtype;
    if (trace.string(trace.callOf(producer).func) != "add" ||
        (dtype != DType::float16 && dtype != DType::bfloat16))
        return false;
    for (const ArgumentRow &argument : trace.arguments(trace.op(producer).call)) {
        const auto number = parseJson(trace.string(argument.valueJson), "argument");
        if (number && number->isNumber() && std::abs(number->toDouble()) > 0.0 &&
            std::abs(number->toDouble()) < 1e-6)
            return true;
    }
    return false;
}

TensorId tensorArgument(const Trace &trace, CallId call, std::size_t index)
{
    const auto arguments = trace.arguments(call);
    if (index >= arguments.size() || arguments[index].tensors.count != 1)
        return {};
    return trace.tensorIds(arguments[index].tensors)[0];
}

// Whether the values of TENSOR along DIMENSION through element FLAT hold +Inf; nothing when they were not
// kept.
std::optional<bool> rowHasPosInf(const Trace &trace, TensorId tensor, std::int64_t flat, double dimension)
{
    if (!tensor.isValid() || flat < 0)
        return std::nullopt;
    const auto shape = trace.shape(tensor);
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t axis = static_cast<std::int64_t>(dimension) + (dimension < 0.0 ? rank : 0);
    const auto reader = TensorReader::open(trace, tensor);
    if (!reader || axis < 0 || axis >= rank)
        return std::nullopt;
    std::int64_t stride = 1;
    for (std::int64_t i = rank - 1; i > axis; --i)
        stride *= shape[static_cast<std::size_t>(i)];
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (stride < 1 || size < 1)
        return std::nullopt;
    const std::int64_t begin = flat - flat / stride % size * stride;
    std::vector<std::byte> bytes(reader->itemBytes());
    for (std::int64_t i = 0; i < size; ++i) {
        if (!reader->read(static_cast<std::uint64_t>(begin + i * stride), bytes))
            return std::nullopt;
        if (const double value = elementAsDouble(reader->dtype(), bytes, 0); std::isinf(value) && value > 0.0)
            return true;
    }
    return false;
}

// Of the first tensor argument: how many values each channel has.
std::optional<std::int64_t> valuesPerChannel(const Trace &trace, CallId call)
{
    const TensorId tensor = tensorArgument(trace, call, 0);
    if (!tensor.isValid() || trace.shape(tensor).size() < 2)
        return std::nullopt;
    std::int64_t values = 1;
    for (std::size_t i = 0; i < trace.shape(tensor).size(); ++i)
        values *= i == 1 ? 1 : trace.shape(tensor)[i];
    return values;
}

// Of running statistics, which a normalisation wrote besides its results.
Value runningStatisticsWhy(const NonFiniteEntry &entry, const TraceStatistics &statistics)
{
    const Trace &trace = statistics.trace();
    TensorStats inputs;
    for (const ArgumentRow &argument : trace.arguments(entry.call))
        for (const TensorId id : trace.tensorIds(argument.tensors))
            if (const TensorStats *stats = id.isValid() ? statistics.find(id) : nullptr)
                addCounts(inputs, *stats);
    if (!inputs.isAllFinite())
        return hasNan(entry.kind) && inputs.nan == 0 ? Value("inf_minus_inf") : Value();
    if (!hasNan(entry.kind))
        return overflowToken(trace.tensor(entry.tensor).dtype);
    const std::optional<std::int64_t> values = valuesPerChannel(trace, entry.call);
    return values == 1   ? Value("unbiased_single_element")
           : values == 0 ? Value("mean_over_nothing")
                         : Value();
}

} // namespace

Value overflowToken(DType dtype)
{
    if (dtype == DType::float16)
        return "overflow_fp16";
    return dtype == DType::float32 ? Value("overflow_fp32") : Value();
}

Value forwardWhy(const NonFiniteEntry &entry, const TraceStatistics &statistics)
{
    const Trace &trace = statistics.trace();
    if (entry.byDesign)
        return "deliberate_neg_inf";
    if (entry.tensor != trace.op(entry.op).tensor)
        return runningStatisticsWhy(entry, statistics);
    const TensorRow &tensor = trace.tensor(entry.tensor);
    const std::optional<Value> values = keptOperands(trace, tensor, entry.firstIndex);
    if (!values)
        return {}; // what came in was bad already, or nothing was kept
    Case at;
    at.func = trace.string(trace.call(entry.call).func);
    if (at.func.ends_with('_') && !at.func.ends_with("__"))
        at.func.remove_suffix(1);
    if (at.func.starts_with("special_"))
        at.func.remove_prefix(std::string_view("special_").size());
    at.a = operand(*values, 0);
    at.b = operand(*values, 1);
    at.c = operand(*values, 2);
    at.made = entry.kind;
    at.dtype = tensor.dtype;
    bool first = true;
    for (const ArgumentRow &argument : trace.arguments(entry.call))
        for (const TensorId id : trace.tensorIds(argument.tensors))
            if (const TensorStats *stats = id.isValid() ? statistics.find(id) : nullptr) {
                addCounts(at.inputs, *stats);
                at.varianceBelowZero = at.varianceBelowZero || (stats->hasFinite() && stats->min < 0.0 &&
                                                                trace.string(argument.name) == "running_var");
                if (std::exchange(first, false))
                    at.first = *stats;
            }
    if (at.func.find("softmax") != std::string_view::npos && at.first.posInf > 0 && at.b)
        at.rowHasPosInf = rowHasPosInf(trace, tensorArgument(trace, entry.call, 0), entry.firstIndex, *at.b);
    for (Value (*rule)(const Case &) : {pointwiseToken, reductionToken, castToken})
        if (Value token = rule(at); !token.isNull()) {
            const bool divides = token.toString().ends_with("divided_by_zero");
            return divides && isUnderflownEps(trace, tensorArgument(trace, entry.call, 1))
                       ? Value("eps_underflow")
                       : token;
        }
    // A literal infinity is no overflow; of a list of operands nothing was kept.
    const bool literal = isInfinite(at.a) || isInfinite(at.b) || at.func.starts_with("_foreach_");
    return at.inputs.isAllFinite() && !hasNan(entry.kind) && !literal ? overflowToken(tensor.dtype) : Value();
}

} // namespace core
