// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace core::pt2 {

namespace {

using Arguments = std::span<const RunNumber>;

bool isBool(const RunNumber &value)
{
    return std::holds_alternative<bool>(value);
}

bool isWhole(const RunNumber &value)
{
    return !std::holds_alternative<double>(value);
}

const RunNumber &argument(Arguments arguments, std::size_t index)
{
    if (index >= arguments.size())
        throw std::runtime_error("takes more than " + std::to_string(arguments.size()) + " arguments");
    return arguments[index];
}

double real(Arguments arguments, std::size_t index)
{
    return std::visit([](auto value) { return static_cast<double>(value); }, argument(arguments, index));
}

std::int64_t whole(Arguments arguments, std::size_t index)
{
    return std::visit([](auto value) { return static_cast<std::int64_t>(value); },
                      argument(arguments, index));
}

bool truth(Arguments arguments, std::size_t index)
{
    return real(arguments, index) != 0.0;
}

bool allWhole(Arguments arguments)
{
    return std::all_of(arguments.begin(), arguments.end(), isWhole);
}

std::int64_t checked(bool overflowed, std::int64_t value)
{
    if (overflowed)
        throw std::runtime_error("the result does not fit 64 bits");
    return value;
}

RunNumber add(Arguments a)
{
    if (!allWhole(a))
        return real(a, 0) + real(a, 1);
    std::int64_t result = 0;
    const bool overflowed = __builtin_add_overflow(whole(a, 0), whole(a, 1), &result);
    return checked(overflowed, result);
}

RunNumber subtract(Arguments a)
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

RunNumber multiply(Arguments a)
{
    return allWhole(a) ? RunNumber(multiplied(whole(a, 0), whole(a, 1))) : RunNumber(real(a, 0) * real(a, 1));
}

void checkDivisor(Arguments a)
{
    if (real(a, 1) == 0.0)
        throw std::runtime_error("division by zero");
    if (allWhole(a) && whole(a, 1) == -1 && whole(a, 0) == INT64_MIN)
        throw std::runtime_error("the result does not fit 64 bits");
}

RunNumber trueDivide(Arguments a)
{
    checkDivisor(a);
    return real(a, 0) / real(a, 1);
}

RunNumber floorDivide(Arguments a)
{
    checkDivisor(a);
    if (!allWhole(a))
        return std::floor(real(a, 0) / real(a, 1));
    const std::int64_t x = whole(a, 0);
    const std::int64_t y = whole(a, 1);
    return x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
}

RunNumber modulo(Arguments a)
{
    checkDivisor(a);
    if (allWhole(a)) {
        const std::int64_t remainder = whole(a, 0) % whole(a, 1);
        return remainder != 0 && (remainder < 0) != (whole(a, 1) < 0) ? remainder + whole(a, 1) : remainder;
    }
    const double remainder = std::fmod(real(a, 0), real(a, 1));
    return remainder != 0.0 && (remainder < 0) != (real(a, 1) < 0) ? remainder + real(a, 1) : remainder;
}

RunNumber power(Arguments a)
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

RunNumber negate(Arguments a)
{
    return allWhole(a) ? RunNumber(multiplied(whole(a, 0), -1)) : RunNumber(-real(a, 0));
}

RunNumber same(Arguments a)
{
    return argument(a, 0);
}

RunNumber absolute(Arguments a)
{
    return allWhole(a) ? (whole(a, 0) < 0 ? negate(a) : RunNumber(whole(a, 0)))
                       : RunNumber(std::fabs(real(a, 0)));
}

// Whole numbers are compared as such: a double has 53 bits only.
template <class Compare>
RunNumber compared(Arguments a, Compare compare)
{
    return allWhole(a) ? RunNumber(compare(whole(a, 0), whole(a, 1)))
                       : RunNumber(compare(real(a, 0), real(a, 1)));
}

RunNumber equal(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x == y; });
}
RunNumber notEqual(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x != y; });
}
RunNumber less(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x < y; });
}
RunNumber lessEqual(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x <= y; });
}
RunNumber greater(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x > y; });
}
RunNumber greaterEqual(Arguments a)
{
    return compared(a, [](auto x, auto y) { return x >= y; });
}

RunNumber bitAnd(Arguments a)
{
    return isBool(argument(a, 0)) && isBool(argument(a, 1)) ? RunNumber(truth(a, 0) && truth(a, 1))
                                                            : RunNumber(whole(a, 0) & whole(a, 1));
}
RunNumber bitOr(Arguments a)
{
    return isBool(argument(a, 0)) && isBool(argument(a, 1)) ? RunNumber(truth(a, 0) || truth(a, 1))
                                                            : RunNumber(whole(a, 0) | whole(a, 1));
}
RunNumber bitXor(Arguments a)
{
    return isBool(argument(a, 0)) && isBool(argument(a, 1)) ? RunNumber(truth(a, 0) != truth(a, 1))
                                                            : RunNumber(whole(a, 0) ^ whole(a, 1));
}

std::int64_t shiftCount(Arguments a)
{
    const std::int64_t count = whole(a, 1);
    if (count < 0)
        throw std::runtime_error("negative shift count");
    return std::min<std::int64_t>(count, 64);
}
RunNumber shiftLeft(Arguments a)
{
    std::int64_t value = whole(a, 0);
    for (std::int64_t count = shiftCount(a); count > 0 && value != 0; --count)
        value = multiplied(value, 2);
    return value;
}
RunNumber shiftRight(Arguments a)
{
    return whole(a, 0) >> std::min<std::int64_t>(shiftCount(a), 63);
}

RunNumber toWhole(double value)
{
    if (!std::isfinite(value) || std::fabs(value) >= 9.2e18)
        throw std::runtime_error("cannot convert " + std::to_string(value) + " to a whole number");
    return static_cast<std::int64_t>(value);
}

RunNumber truncated(Arguments a)
{
    return allWhole(a) ? RunNumber(whole(a, 0)) : toWhole(std::trunc(real(a, 0)));
}
RunNumber floored(Arguments a)
{
    return allWhole(a) ? RunNumber(whole(a, 0)) : toWhole(std::floor(real(a, 0)));
}
RunNumber ceiled(Arguments a)
{
    return allWhole(a) ? RunNumber(whole(a, 0)) : toWhole(std::ceil(real(a, 0)));
}

RunNumber rounded(Arguments a)
{
    if (a.size() < 2)
        return allWhole(a) ? RunNumber(whole(a, 0)) : toWhole(std::nearbyint(real(a, 0)));
    if (allWhole(a) && whole(a, 1) >= 0)
        return whole(a, 0);
    const double scale = std::pow(10.0, real(a, 1));
    return std::nearbyint(real(a, 0) * scale) / scale;
}

RunNumber toReal(Arguments a)
{
    return real(a, 0);
}
RunNumber toTruth(Arguments a)
{
    return truth(a, 0);
}
RunNumber notTrue(Arguments a)
{
    return !truth(a, 0);
}
RunNumber ifThenElse(Arguments a)
{
    return truth(a, 0) ? argument(a, 1) : argument(a, 2);
}
RunNumber maximum(Arguments a)
{
    return allWhole(a) ? RunNumber(std::max(whole(a, 0), whole(a, 1)))
                       : RunNumber(std::max(real(a, 0), real(a, 1)));
}
RunNumber minimum(Arguments a)
{
    return allWhole(a) ? RunNumber(std::min(whole(a, 0), whole(a, 1)))
                       : RunNumber(std::min(real(a, 0), real(a, 1)));
}

RunNumber total(Arguments a)
{
    RunNumber sum(std::int64_t(0));
    for (const RunNumber &value : a) {
        const std::array pair = {sum, value};
        sum = add(pair);
    }
    return sum;
}

template <double (*Function)(double)>
RunNumber realFunction(Arguments a)
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
