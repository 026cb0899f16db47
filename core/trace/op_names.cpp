// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/op_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

namespace core {
namespace {

const std::unordered_map<std::string_view, std::string_view> &aliases()
{
    static const std::unordered_map<std::string_view, std::string_view> kAliases = {
        {"slice", "__getitem__"},
        {"select", "__getitem__"},
        {"index", "__getitem__"},
        {"div", "true_divide"},
        {"div_", "true_divide_"},
        {"cross_entropy_loss", "cross_entropy"},
        {"linalg_vector_norm", "vector_norm"},
        {"linalg_matrix_norm", "matrix_norm"},
        {"_to_copy", "to"},
        {"_autocast_to_reduced_precision", "to"},
        {"_autocast_to_full_precision", "to"},
        {"alias", "detach"},
        {"lift_fresh", "detach"},
        {"lift_fresh_copy", "detach"},
        {"_unsafe_view", "view"},
        {"_reshape_alias", "reshape"},
        {"_unsafe_index", "__getitem__"},
        {"unsafe_chunk", "chunk"},
        {"unsafe_split", "split"},
        {"special_expit", "expit"},
        {"special_erf", "erf"},
        {"special_xlog1py", "xlog1py"},
        {"special_i0e", "i0e"},
        {"linalg_norm", "norm"},
        {"_native_batch_norm_legit", "native_batch_norm"},
        {"_native_batch_norm_legit_functional", "native_batch_norm"},
        {"cudnn_batch_norm", "batch_norm"},
        {"grid_sampler_2d", "grid_sampler_2d"},
        {"linalg_multi_dot", "multi_dot"},
        {"upsample_nearest1d", "interpolate"},
        {"upsample_nearest2d", "interpolate"},
        {"upsample_nearest3d", "interpolate"},
        {"_upsample_nearest_exact1d", "interpolate"},
        {"_upsample_nearest_exact2d", "interpolate"},
        {"_upsample_nearest_exact3d", "interpolate"},
        {"upsample_linear1d", "interpolate"},
        {"upsample_bilinear2d", "interpolate"},
        {"upsample_bicubic2d", "interpolate"},
        {"upsample_trilinear3d", "interpolate"},
        {"_upsample_bilinear2d_aa", "interpolate"},
        {"_upsample_bicubic2d_aa", "interpolate"},
    };
    return kAliases;
}

std::string_view withoutTrailingUnderscores(std::string_view name)
{
    while (name.ends_with('_'))
        name.remove_suffix(1);
    return name;
}

bool isDunder(std::string_view name)
{
    return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

} // namespace

std::string_view opBaseName(std::string_view op)
{
    if (const auto colons = op.find("::"); colons != std::string_view::npos) {
        op.remove_prefix(colons + 2);
        return op.substr(0, op.find('.'));
    }
    const auto first = op.find('.');
    if (first == std::string_view::npos)
        return op;
    op.remove_prefix(first + 1);
    return op.substr(0, op.find('.'));
}

std::string_view pythonFunctionName(std::string_view func)
{
    const auto found = aliases().find(func);
    return found == aliases().end() ? func : found->second;
}

std::string labelType(std::string_view func)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kReflected = {{
        {"__radd__", "add"},
        {"__rmul__", "mul"},
        {"__rand__", "and"},
        {"__ror__", "or"},
        {"__rxor__", "xor"},
    }};
    for (const auto &[reflected, forward] : kReflected)
        if (func == reflected)
            return std::string(forward);
    std::string type;
    for (const char c : func)
        if (c != '_')
            type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return type;
}

bool isInPlaceName(std::string_view func)
{
    if (isDunder(func)) {
        static const std::unordered_set<std::string_view> kInPlace = {
            "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__",   "__ipow__",
            "__iand__", "__ior__",  "__ixor__", "__ilshift__",  "__irshift__",   "__setitem__"};
        return kInPlace.contains(func);
    }
    return func.size() > 1 && func.ends_with('_') && !func.ends_with("__");
}

bool isScalarBookkeeping(std::string_view func)
{
    static const std::unordered_set<std::string_view> kNames = {"item",
                                                                "_local_scalar_dense",
                                                                "is_nonzero",
                                                                "is_complex",
                                                                "is_floating_point",
                                                                "is_same_size",
                                                                "size",
                                                                "stride",
                                                                "numel",
                                                                "dim",
                                                                "storage_offset",
                                                                "Bool",
                                                                "Int",
                                                                "Float",
                                                                "IntImplicit",
                                                                "FloatImplicit",
                                                                "ScalarImplicit",
                                                                "len",
                                                                "__contains__",
                                                                "__range_length",
                                                                "__derive_index"};
    return func.starts_with("_assert") || func.starts_with("sym_") || func.starts_with("_check") ||
           kNames.contains(func);
}

bool isStochasticName(std::string_view func)
{
    static const std::unordered_set<std::string_view> kNames = {
        "alpha_dropout",   "bernoulli",        "binomial",
        "dropout",         "dropout1d",        "dropout2d",
        "dropout3d",       "exponential",      "feature_alpha_dropout",
        "feature_dropout", "geometric",        "multinomial",
        "normal",          "poisson",          "rand",
        "rand_like",       "randint",          "randint_like",
        "randn",           "randn_like",       "randperm",
        "rrelu",           "rrelu_with_noise", "uniform",
        "native_dropout"};
    return kNames.contains(withoutTrailingUnderscores(func));
}

} // namespace core
