// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/finite_watch.h"

#include "core/analysis/tensor_stats.h"
#include "core/capture_torch/tensor_saver.h"
#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <cmath>

namespace core {

namespace {

// No dtype is too narrow for a number up to this.
constexpr double kSmallNumber = 240.0;
// Half of what float16 holds is more.
constexpr double kSmallBound = 1e4;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// Of a number that scales an operand.
double magnitudeOf(const c10::IValue &value)
{
    if (value.isInt())
        return std::abs(static_cast<double>(value.toInt()));
    return value.isDouble() ? std::abs(value.toDouble()) : kNoBound;
}

// Of a parameter or a running statistic; OTHERWISE where there is none.
double largestOf(const c10::IValue &value, double otherwise)
{
    if (!value.isTensor() || !value.toTensor().defined())
        return otherwise;
    const at::Tensor &tensor = value.toTensor();
    const bool plain = hasBytes(tensor) && tensor.is_contiguous() && at::isFloatingType(tensor.scalar_type());
    return plain ? largestMagnitude(fromScalarType(tensor.scalar_type()), tensor.const_data_ptr(),
                                    static_cast<std::size_t>(tensor.numel()))
                 : kNoBound;
}

// The smallest element; minus infinity where that is not read (half types, no elements).
double smallestOf(const at::Tensor &tensor)
{
    const auto least = [&tensor](const auto *data) {
        return tensor.numel() == 0 ? -kNoBound
                                   : static_cast<double>(*std::min_element(data, data + tensor.numel()));
    };
    if (tensor.scalar_type() == c10::ScalarType::Float)
        return least(tensor.const_data_ptr<float>());
    return tensor.scalar_type() == c10::ScalarType::Double ? least(tensor.const_data_ptr<double>())
                                                           : -kNoBound;
}

// y = (x - mean) * weight / sqrt(variance + eps) + bias (torch.nn.BatchNorm2d, evaluation), with the largest
// factor of any channel and |x| up to LARGEST. INPUTS are those of batch_norm, or, one shorter, of
// _native_batch_norm_legit_no_training.
double normalisedBound(double largest, std::span<const c10::IValue> inputs)
{
    const bool hasMode = inputs.size() == 9;
    if ((hasMode && inputs[5].toBool()) || !std::isfinite(largestOf(inputs[4], kNoBound)))
        return kNoBound;
    // Not negative, so that the sum in the kernel's type is no smaller than the larger one.
    const double variance = smallestOf(inputs[4].toTensor()), eps = inputs[hasMode ? 7 : 6].toDouble();
    if (!(variance >= 0.0 && eps >= 0.0))
        return kNoBound;
    const double spread = variance + eps;
    // Far from the limits of float32, in which the kernel has the root's inverse and the factor.
    constexpr double kSmall = 1e-30;
    constexpr double kLarge = 1e30;
    const double factor = spread >= kSmall ? largestOf(inputs[1], 1.0) / std::sqrt(spread) : kNoBound;
    if (!(factor <= kLarge))
        return kNoBound;
    return factor * (largest + largestOf(inputs[3], kNoBound)) + largestOf(inputs[2], 0.0);
}

// How many elements a weighted sum gives: of a convolution about as many positions as the strides leave.
double elementsOfSum(const at::Tensor &input, const at::Tensor &weight, const c10::IValue &strides)
{
    const bool isLinear = weight.dim() == 2;
    const std::int64_t channels = isLinear                      ? input.size(-1)
                                  : input.dim() == weight.dim() ? input.size(1)
                                                                : input.size(0);
    double elements = static_cast<double>(input.numel()) /
                      static_cast<double>(std::max<std::int64_t>(1, channels)) *
                      static_cast<double>(weight.size(0));
    if (isLinear)
        return elements;
    const std::vector<std::int64_t> steps = strides.toIntVector();
    for (std::size_t d = 0; !steps.empty() && d + 2 < static_cast<std::size_t>(weight.dim()); ++d)
        elements /= static_cast<double>(std::max<std::int64_t>(1, steps[std::min(d, steps.size() - 1)]));
    return elements;
}

// y = sum of weight * x over the elements of a row, plus bias (torch.nn.Linear, Conv2d), with |x| up to
// LARGEST and the largest weight at every place. No bound where the weights are more to read than the result.
// INPUTS are those of linear, conv2d, or of the ops that say in the seventh whether they are transposed.
double weightedSumBound(double largest, std::span<const c10::IValue> inputs)
{
    if (!std::isfinite(largest) || !inputs[1].isTensor() || (inputs.size() > 7 && inputs[6].toBool()))
        return kNoBound;
    const at::Tensor &input = inputs[0].toTensor(), &weight = inputs[1].toTensor();
    if (!weight.defined() || weight.dim() < 2 || input.dim() < weight.dim() - 1 || weight.numel() == 0 ||
        static_cast<double>(weight.numel()) >
            elementsOfSum(input, weight, inputs.size() > 3 ? inputs[3] : c10::IValue()))
        return kNoBound;
    const double terms = static_cast<double>(weight.numel() / weight.size(0));
    return terms * largestOf(inputs[1], kNoBound) * largest + largestOf(inputs[2], 0.0);
}

// The elements of TENSOR once each: expanded dimensions show the same ones again and again.
at::Tensor withoutRepetition(const at::Tensor &tensor)
{
    std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (tensor.stride(static_cast<std::int64_t>(d)) == 0 && sizes[d] > 1)
            sizes[d] = 1;
    return tensor.as_strided(sizes, tensor.strides());
}

double largestElement(const at::Tensor &tensor, DType dtype)
{
    const auto largest = [dtype](const at::Tensor &dense) {
        return largestMagnitude(dtype, dense.const_data_ptr(), static_cast<std::size_t>(dense.numel()));
    };
    return tensor.is_contiguous() || tensor.is_non_overlapping_and_dense()
               ? largest(tensor)
               : largest(withoutRepetition(tensor).contiguous());
}

bool isSmallNumber(const c10::IValue &value)
{
    if (value.isDouble())
        return std::abs(value.toDouble()) <= kSmallNumber;
    return !value.isComplexDouble() &&
           (!value.isInt() || std::abs(static_cast<double>(value.toInt())) <= kSmallNumber);
}

bool isSmallNumber(const at::Tensor &wrapped)
{
    switch (wrapped.scalar_type()) {
    case c10::ScalarType::Double:
        return std::abs(*wrapped.const_data_ptr<double>()) <= kSmallNumber;
    case c10::ScalarType::Long:
        return std::abs(static_cast<double>(*wrapped.const_data_ptr<std::int64_t>())) <= kSmallNumber;
    default:
        return wrapped.scalar_type() == c10::ScalarType::Bool;
    }
}

} // namespace

// Half of what DTYPE holds: rounding on the way is far below that.
bool FiniteWatch::Forecast::isBoundedIn(DType dtype) const
{
    return std::isfinite(bound) && bound * headroom < floatLimits(dtype).max / 2.0;
}

FiniteWatch::Forecast FiniteWatch::forecast(const OpFacts &facts,
                                            std::span<const c10::IValue> arguments) const
{
    Forecast forecast;
    if (facts.bound != BoundRule::none)
        forecast.bound = bound(facts.bound, arguments);
    // Fast algorithms of convolution (Winograd's) have sums of larger values on the way.
    if (facts.bound == BoundRule::weightedSum)
        forecast.headroom = 1e4;
    if (facts.keepsFinite && !(forecast.bound < kSmallBound))
        forecast.keeps = kept(facts, arguments);
    return forecast;
}

double FiniteWatch::boundOf(const c10::IValue &value) const
{
    const Known *const known = value.isTensor() ? find(value.toTensor()) : nullptr;
    return known == nullptr ? kNoBound : known->bound;
}

double FiniteWatch::bound(BoundRule rule, std::span<const c10::IValue> arguments) const
{
    double largest = 0.0;
    switch (rule) {
    case BoundRule::largest:
        forEachTensor(arguments.front(), [&](const at::Tensor &tensor) {
            const Known *const known = find(tensor);
            largest = std::max(largest, known == nullptr ? kNoBound : known->bound);
        });
        return largest;
    case BoundRule::sum:
        return boundOf(arguments[0]) + magnitudeOf(arguments[2]) * boundOf(arguments[1]);
    case BoundRule::batchNorm:
        return normalisedBound(boundOf(arguments[0]), arguments);
    case BoundRule::weightedSum:
        return weightedSumBound(boundOf(arguments[0]), arguments);
    case BoundRule::none:
        break;
    }
    return kNoBound;
}

std::optional<c10::ScalarType> FiniteWatch::kept(const OpFacts &facts,
                                                 std::span<const c10::IValue> arguments) const
{
    c10::ScalarType type = c10::ScalarType::Undefined;
    bool keeps = true;
    const auto look = [&](const at::Tensor &tensor) {
        if (!tensor.defined() || tensor.scalar_type() == c10::ScalarType::Bool)
            return;
        if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
            keeps = keeps && isSmallNumber(tensor);
        else if (at::isIntegralType(tensor.scalar_type(), false))
            keeps = keeps && facts.readsIndices;
        else
            keeps = keeps && at::isFloatingType(tensor.scalar_type()) && find(tensor) != nullptr &&
                    (type == c10::ScalarType::Undefined || type == tensor.scalar_type());
        if (at::isFloatingType(tensor.scalar_type()) && !tensor.unsafeGetTensorImpl()->is_wrapped_number())
            type = tensor.scalar_type();
    };
    for (const c10::IValue &argument : arguments) {
        keeps = keeps && isSmallNumber(argument);
        forEachTensor(argument, look);
    }
    return keeps ? std::optional(type) : std::nullopt;
}

bool FiniteWatch::isFinite(const at::Tensor &tensor)
{
    const c10::ScalarType type = tensor.scalar_type();
    if (!(at::isFloatingType(type) || at::isComplexType(type)) || !isReadable(tensor) || tensor.numel() == 0)
        return true;
    const DType dtype = fromScalarType(type);
    if (dtype == DType::unknown || find(tensor) != nullptr)
        return true;
    const double largest = largestElement(resolved(tensor), dtype);
    if (!std::isfinite(largest))
        return false;
    know(tensor, largest);
    return true;
}

bool FiniteWatch::isFinite(const at::Tensor &tensor, const Forecast &forecast, bool first)
{
    const c10::ScalarType type = tensor.scalar_type();
    if (!at::isFloatingType(type))
        return isFinite(tensor);
    if (first && forecast.isBoundedIn(fromScalarType(type))) {
        know(tensor, forecast.bound);
        return true;
    }
    if (forecast.keeps && (*forecast.keeps == type || *forecast.keeps == c10::ScalarType::Undefined)) {
        know(tensor, kNoBound);
        return true;
    }
    return isFinite(tensor);
}

void FiniteWatch::written(const at::Tensor &tensor)
{
    if (!hasBytes(tensor))
        return;
    if (const auto known = m_known.find(tensor.storage().unsafeGetStorageImpl()); known != m_known.end())
        known->second.range = {};
}

const FiniteWatch::Known *FiniteWatch::find(const at::Tensor &tensor) const
{
    if (!hasBytes(tensor))
        return nullptr;
    const auto found = m_known.find(tensor.storage().unsafeGetStorageImpl());
    if (found == m_known.end())
        return nullptr;
    const Known &known = found->second;
    return known.type == tensor.scalar_type() && known.range.end > known.range.begin &&
                   known.range.covers(byteRange(tensor))
               ? &known
               : nullptr;
}

void FiniteWatch::know(const at::Tensor &tensor, double bound)
{
    if (!isReadable(tensor) || !tensor.is_non_overlapping_and_dense())
        return;
    Known &known = m_known.try_emplace(tensor.storage().unsafeGetStorageImpl(), tensor).first->second;
    known.range = byteRange(tensor);
    known.type = tensor.scalar_type();
    known.bound = bound;
}

} // namespace core
