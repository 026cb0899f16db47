// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_numbers.h"

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace core::pt2 {

namespace {

using c10::IValue;
using Arguments = std::span<const IValue>;

const IValue &argument(Arguments arguments, std::size_t index)
{
    if (index >= arguments.size())
        throw std::runtime_error("takes more than " + std::to_string(arguments.size()) + " arguments");
    return arguments[index];
}

double real(Arguments arguments, std::size_t index)
{
    const IValue &value = argument(arguments, index);
    if (value.isBool())
        return value.toBool() ? 1.0 : 0.0;
    return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
}

std::int64_t whole(Arguments arguments, std::size_t index)
{
    const IValue &value = argument(arguments, index);
    return value.isBool() ? std::int64_t(value.toBool()) : value.toInt();
}

bool truth(Arguments arguments, std::size_t index)
{
    return real(arguments, index) != 0.0;
}

bool allWhole(Arguments arguments)
{
    return std::all_of(arguments.begin(), arguments.end(),
                       [](const IValue &value) { return value.isInt() || value.isBool(); });
}

std::int64_t checked(bool overflowed, std::int64_t value)
{
    if (overflowed)
        throw std::runtime_error("the result does not fit 64 bits");
    return value;
}

IValue add(Arguments a)
{
    if (!allWhole(a))
        return real(a, 0) + real(a, 1);
    std::int64_t result = 0;
    const bool overflowed = __builtin_add_overflow(whole(a, 0), whole(a, 1), &result);
    return checked(overflowed, result);
}

IValue subtract(Arguments a)
{
    if (!allWhole(a))
        return real(a, 0) - real(a, 1);
    std::int64_t result = 0;
    const bool overflowed = __builtin_sub_overflow(whole(a, 0), whole(a, 1), &result);
    return checked(overflowed, result);
}

std::int64_t multiplied(std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    const bool overflowed = __builtin_mul_overflow(a, b, &result);
    return checked(overflowed, result);
}

IValue multiply(Arguments a)
{
    return allWhole(a) ? IValue(multiplied(whole(a, 0), whole(a, 1))) : IValue(real(a, 0) * real(a, 1));
}

void checkDivisor(Arguments a)
{
    if (real(a, 1) == 0.0)
        throw std::runtime_error("division by zero");
    if (allWhole(a) && whole(a, 1) == -1 && whole(a, 0) == INT64_MIN)
        throw std::runtime_error("the result does not fit 64 bits");
}

IValue trueDivide(Arguments a)
{
    checkDivisor(a);
    return real(a, 0) / real(a, 1);
}

IValue floorDivide(Arguments a)
{
    checkDivisor(a);
    if (!allWhole(a))
        return std::floor(real(a, 0) / real(a, 1));
    const std::int64_t x = whole(a, 0);
    const std::int64_t y = whole(a, 1);
    return x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
}

IValue modulo(Arguments a)
{
    checkDivisor(a);
    if (allWhole(a)) {
        const std::int64_t remainder = whole(a, 0) % whole(a, 1);
        return remainder != 0 && (remainder < 0) != (whole(a, 1) < 0) ? remainder + whole(a, 1) : remainder;
    }
    const double remainder = std::fmod(real(a, 0), real(a, 1));
    return remainder != 0.0 && (remainder < 0) != (real(a, 1) < 0) ? remainder + real(a, 1) : remainder;
}

IValue power(Arguments a)
{
    if (!allWhole(a) || whole(a, 1) < 0)
        return std::pow(real(a, 0), real(a, 1));
    std::int64_t result = 1;
    std::int64_t base = whole(a, 0);
    for (std::int64_t rest = whole(a, 1); rest > 0; rest >>= 1U) {
        if ((rest & 1) != 0)
            result = multiplied(result, base);
        if (rest > 1)
            base = multiplied(base, base);
    }
    return result;
}

IValue negate(Arguments a)
{
    return allWhole(a) ? IValue(multiplied(whole(a, 0), -1)) : IValue(-real(a, 0));
}

IValue same(Arguments a)
{
    return argument(a, 0);
}

IValue absolute(Arguments a)
{
    return allWhole(a) ? (whole(a, 0) < 0 ? negate(a) : IValue(whole(a, 0))) : IValue(std::fabs(real(a, 0)));
}

// Whole numbers are compared as such: a double has 53 bits only.
template <class Compare>
IValue compared(Arguments a, Compare compare)
{
    return allWhole(a) ? IValue(compare(whole(a, 0), whole(a, 1))) : IValue(compare(real(a, 0), real(a, 1)));
}

IValue equal(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x == y; });
}
IValue notEqual(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x != y; });
}
IValue less(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x < y; });
}
IValue lessEqual(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x <= y; });
}
IValue greater(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x > y; });
}
IValue greaterEqual(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x >= y; });
}

IValue bitAnd(Arguments a)
{
    return argument(a, 0).isBool() && argument(a, 1).isBool() ? IValue(truth(a, 0) && truth(a, 1))
                                                              : IValue(whole(a, 0) & whole(a, 1));
}
IValue bitOr(Arguments a)
{
    return argument(a, 0).isBool() && argument(a, 1).isBool() ? IValue(truth(a, 0) || truth(a, 1))
                                                              : IValue(whole(a, 0) | whole(a, 1));
}
IValue bitXor(Arguments a)
{
    return argument(a, 0).isBool() && argument(a, 1).isBool() ? IValue(truth(a, 0) != truth(a, 1))
                                                              : IValue(whole(a, 0) ^ whole(a, 1));
}

std::int64_t shiftCount(Arguments a)
{
    const std::int64_t count = whole(a, 1);
    if (count < 0)
        throw std::runtime_error("negative shift count");
    return std::min<std::int64_t>(count, 63);
}
IValue shiftLeft(Arguments a)
{
    return multiplied(whole(a, 0), std::int64_t(1) << std::min<std::int64_t>(shiftCount(a), 62));
}
IValue shiftRight(Arguments a)
{
    return whole(a, 0) >> shiftCount(a);
}

IValue toWhole(double value)
{
    if (!std::isfinite(value) || std::fabs(value) >= 9.2e18)
        throw std::runtime_error("cannot convert " + std::to_string(value) + " to a whole number");
    return static_cast<std::int64_t>(value);
}

IValue truncated(Arguments a)
{
    return allWhole(a) ? IValue(whole(a, 0)) : toWhole(std::trunc(real(a, 0)));
}
IValue floored(Arguments a)
{
    return allWhole(a) ? IValue(whole(a, 0)) : toWhole(std::floor(real(a, 0)));
}
IValue ceiled(Arguments a)
{
    return allWhole(a) ? IValue(whole(a, 0)) : toWhole(std::ceil(real(a, 0)));
}

IValue rounded(Arguments a)
{
    if (a.size() < 2 || a[1].isNone())
        return allWhole(a.first(1)) ? IValue(whole(a, 0)) : toWhole(std::nearbyint(real(a, 0)));
    const double scale = std::pow(10.0, real(a, 1));
    return std::nearbyint(real(a, 0) * scale) / scale;
}

IValue toReal(Arguments a)
{
    return real(a, 0);
}
IValue toTruth(Arguments a)
{
    return truth(a, 0);
}
IValue notTrue(Arguments a)
{
    return !truth(a, 0);
}
IValue ifThenElse(Arguments a)
{
    return truth(a, 0) ? argument(a, 1) : argument(a, 2);
}
IValue maximum(Arguments a)
{
    return allWhole(a) ? IValue(std::max(whole(a, 0), whole(a, 1)))
                       : IValue(std::max(real(a, 0), real(a, 1)));
}
IValue minimum(Arguments a)
{
    return allWhole(a) ? IValue(std::min(whole(a, 0), whole(a, 1)))
                       : IValue(std::min(real(a, 0), real(a, 1)));
}

IValue total(Arguments a)
{
    IValue sum(std::int64_t(0));
    for (const IValue &value : a) {
        const std::array pair = {sum, value};
        sum = add(pair);
    }
    return sum;
}

template <double (*Function)(double)>
IValue realFunction(Arguments a)
{
    return Function(real(a, 0));
}

struct NumberEntry
{
    std::string_view name;
    NumberFunction function;
};

// By the last part of the target: _operator.add, torch.sym_max, math.trunc, torch._sym_sqrt, builtins.round.
constexpr std::array kFunctions = {
    NumberEntry{"add", add},
    NumberEntry{"sub", subtract},
    NumberEntry{"mul", multiply},
    NumberEntry{"truediv", trueDivide},
    NumberEntry{"floordiv", floorDivide},
    NumberEntry{"mod", modulo},
    NumberEntry{"pow", power},
    NumberEntry{"pow_by_natural", power},
    NumberEntry{"neg", negate},
    NumberEntry{"pos", same},
    NumberEntry{"abs", absolute},
    NumberEntry{"eq", equal},
    NumberEntry{"ne", notEqual},
    NumberEntry{"lt", less},
    NumberEntry{"le", lessEqual},
    NumberEntry{"gt", greater},
    NumberEntry{"ge", greaterEqual},
    NumberEntry{"and_", bitAnd},
    NumberEntry{"or_", bitOr},
    NumberEntry{"xor", bitXor},
    NumberEntry{"lshift", shiftLeft},
    NumberEntry{"rshift", shiftRight},
    NumberEntry{"not_", notTrue},
    NumberEntry{"truth", toTruth},
    NumberEntry{"trunc", truncated},
    NumberEntry{"sym_int", truncated},
    NumberEntry{"floor", floored},
    NumberEntry{"ceil", ceiled},
    NumberEntry{"round", rounded},
    NumberEntry{"sym_float", toReal},
    NumberEntry{"sym_not", notTrue},
    NumberEntry{"sym_ite", ifThenElse},
    NumberEntry{"sym_max", maximum},
    NumberEntry{"sym_min", minimum},
    NumberEntry{"sym_sum", total},
    NumberEntry{"sym_sqrt", realFunction<std::sqrt>},
    NumberEntry{"_sym_sqrt", realFunction<std::sqrt>},
    NumberEntry{"sqrt", realFunction<std::sqrt>},
    NumberEntry{"_sym_log2", realFunction<std::log2>},
    NumberEntry{"log2", realFunction<std::log2>},
    NumberEntry{"_sym_exp", realFunction<std::exp>},
    NumberEntry{"_sym_sin", realFunction<std::sin>},
    NumberEntry{"_sym_cos", realFunction<std::cos>},
    NumberEntry{"_sym_tanh", realFunction<std::tanh>},
};

} // namespace

NumberFunction findNumberFunction(std::string_view target)
{
    if (target.starts_with("torch.ops."))
        return nullptr;
    const auto dot = target.find_last_of('.');
    const std::string_view module = target.substr(0, dot == std::string_view::npos ? 0 : dot);
    if (module != "_operator" && module != "operator" && module != "math" && module != "torch" &&
        module != "builtins" && module != "torch.sym_ops")
        return nullptr;
    const std::string_view name = target.substr(dot + 1);
    for (const NumberEntry &entry : kFunctions)
        if (entry.name == name)
            return entry.function;
    return nullptr;
}

} // namespace core::pt2
