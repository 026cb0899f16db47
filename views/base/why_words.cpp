// SPDX-License-Identifier: GPL-3.0-or-later
// The words for the tokens of core/analysis/nonfinite_why.h.
#include "views/base/nan_trail.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <string_view>

namespace views {

namespace {

struct Entry
{
    std::string_view token;
    const char *rule;
    const char *formula;
    const char *remedy;
};

constexpr std::array kWords = {
    Entry{"zero_divided_by_zero", "Zero divided by zero is NaN", "0 / 0 = NaN",
          "Divide only where the divisor is not zero: torch.where(d != 0, x / torch.where(d != 0, d, 1), 0). "
          "Both wheres are needed, else the gradient is NaN still."},
    Entry{"divided_by_zero", "A number divided by zero is infinite", "x / 0 = ±Inf",
          "Keep the divisor away from zero before the division: x / d.clamp_min(eps) where d is a norm or a "
          "count."},
    Entry{"eps_underflow", "The small constant against zero is itself zero in 16 bits",
          "fp16(1e-8) = 0, so d + eps = d",
          "Use an eps the type can hold (1e-4 for fp16), or divide in float32."},
    Entry{"inf_divided_by_inf", "Infinity divided by infinity is NaN", "Inf / Inf = NaN",
          "Scale both sides before the division, so that neither overflows."},
    Entry{
        "log_of_zero", "The logarithm of zero is −Inf", "log(0) = −Inf",
        "Use the function made for it (log_softmax, logsumexp, log1p, BCEWithLogits) instead of a log of its "
        "result."},
    Entry{"log_of_negative", "The logarithm of a negative number is NaN", "log(x) for x < 0 = NaN",
          "Find out why the input is negative; a clamp hides it from the gradient."},
    Entry{"sqrt_of_negative", "The square root of a negative number is NaN", "√x for x < 0 = NaN",
          "A variance or distance that rounds below zero: clamp_min(0) before the root, and an eps for the "
          "gradient."},
    Entry{"rsqrt_of_zero", "One over the root of zero is infinite", "1 / √0 = Inf",
          "Add eps inside the root: torch.rsqrt(x + eps)."},
    Entry{"negative_base_fractional_exponent", "A negative base has no real fractional power",
          "x^y for x < 0, y not whole = NaN", "Take the power of the magnitude, or a whole exponent."},
    Entry{"zero_to_negative_power", "Zero to a negative power is infinite", "0^(−y) = Inf",
          "Keep the base away from zero before the power."},
    Entry{"inf_minus_inf", "Infinity minus infinity is NaN", "Inf − Inf = NaN",
          "The infinity came before: look at the op that made it."},
    Entry{"neg_inf_minus_neg_inf", "−Inf minus −Inf is NaN", "−Inf − (−Inf) = NaN",
          "Two masks added or subtracted: combine them as booleans and fill once."},
    Entry{"zero_times_inf", "Zero times infinity is NaN", "0 × Inf = NaN",
          "A mask by multiplication does not remove an infinity: use torch.where or masked_fill."},
    Entry{"softmax_all_neg_inf", "A softmax row without a finite value is NaN",
          "exp(xᵢ − max x) / Σ exp(xⱼ − max x), max x = −Inf: −Inf − (−Inf) = NaN",
          "Let every query see at least one key, itself for example, or fill with the smallest finite value "
          "and "
          "zero the rows afterwards."},
    Entry{"softmax_pos_inf", "A softmax row with +Inf is NaN", "exp(Inf − Inf) = NaN",
          "The scores overflowed before: scale the queries, or compute the scores in float32."},
    Entry{"overflow_exp", "The exponential is larger than the type can hold",
          "exp(x) for x > 88.7 (fp32) = Inf",
          "Subtract the maximum first, or use logsumexp, softplus or sigmoid instead of exp."},
    Entry{"divisor_zero", "The divisor is zero", "x mod 0 = NaN", "Keep the divisor away from zero."},
    Entry{"outside_domain", "The argument lies outside the function's domain", "",
          "Rounding pushes values just outside: clamp to the domain, a little inside it for the gradient."},
    Entry{"unbiased_single_element", "The unbiased spread of one element is NaN",
          "Σ(x − mean)² / (n − 1), n = 1",
          "Use unbiased=False, or see that the dimension has more than one element."},
    Entry{"mean_over_nothing", "The mean over nothing is NaN", "0 / 0 = NaN",
          "All targets are ignored or the mask is empty: divide by the count clamped to 1."},
    Entry{"zero_variance_no_eps", "A group without spread was divided by its own standard deviation",
          "(x − mean) / √0", "Give the normalisation an eps the type can hold."},
    Entry{"target_longer_than_input", "The target is longer than its input", "no alignment: loss = Inf",
          "Use zero_infinity=True, or drop such samples."},
    Entry{"overflow_fp16", "The value is beyond the fp16 limit of 65,504", "|x| > 65,504 = Inf",
          "Compute in bfloat16 or float32, or scale before."},
    Entry{"overflow_fp32", "The value is beyond the fp32 limit of 3.4e38", "|x| > 3.4e38 = Inf",
          "Scale before, or work with logarithms."},
    Entry{"overflow_cast_fp16", "The cast does not fit the fp16 limit of 65,504", "fp16(|x| > 65,504) = Inf",
          "Keep this value in float32, or scale it before the cast."},
    Entry{"deliberate_neg_inf", "A constant fill with −Inf, which softmax absorbs", "exp(−Inf) = 0", ""},
    Entry{"sqrt_gradient_at_zero", "The root's slope at zero is infinite", "d√x/dx = 1 / (2√x), x = 0",
          "Add eps inside the root, or leave zeros out before it (where before, not after)."},
    Entry{"zero_norm_row", "The norm of a zero row has no slope", "x / ‖x‖, ‖x‖ = 0",
          "Use F.normalize with its eps, or leave empty rows out before the norm."},
    Entry{"acos_gradient_at_one", "The slope at the end of the domain is infinite", "1 / √(1 − x²), x = ±1",
          "Clamp a little inside the domain."},
    Entry{"equal_singular_values", "Equal singular values have no gradient", "1 / (σᵢ² − σⱼ²)",
          "Do not differentiate the singular vectors, or perturb the input."},
    Entry{"equal_eigenvalues", "Equal eigenvalues have no gradient", "1 / (λᵢ − λⱼ)",
          "Do not differentiate the eigenvectors, or perturb the input."},
    Entry{"saved_nan", "The forward pass saved a NaN that the backward pass reads", "g × NaN = NaN",
          "Mend the forward pass: where() after the fact does not protect the gradient."},
    Entry{"saved_inf", "The forward pass saved an infinity that the backward pass reads", "g × Inf",
          "Mend the forward pass: where() after the fact does not protect the gradient."},
    Entry{"times_saved_inf", "The gradient is multiplied by a saved infinity", "g × Inf",
          "Mend the forward pass: where() after the fact does not protect the gradient."},
    Entry{"zero_times_nan", "Zero times NaN is NaN", "0 × NaN = NaN",
          "A zero gradient does not stop a NaN: keep the NaN out of the forward pass."},
    Entry{"zero_divided_by_nan", "Zero divided by NaN is NaN", "0 / NaN = NaN",
          "A zero gradient does not stop a NaN: keep the NaN out of the forward pass."},
};

QString translated(const char *text)
{
    return text[0] == '\0' ? QString() : QCoreApplication::translate("views::WhyWords", text);
}

} // namespace

WhyWords whyWords(const std::string &token)
{
    const auto found =
        std::find_if(kWords.begin(), kWords.end(), [&](const Entry &entry) { return entry.token == token; });
    if (found == kWords.end())
        return {};
    return {translated(found->rule), translated(found->formula), translated(found->remedy)};
}

} // namespace views
