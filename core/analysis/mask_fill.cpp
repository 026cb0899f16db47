// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/mask_fill.h"

#include <unordered_set>

namespace core {

bool fillsConstants(std::string_view func)
{
    static const std::unordered_set<std::string_view> kFills = {
        "full",       "full_like",       "new_full",     "fill",           "masked_fill",
        "where",      "scalar_tensor",   "tensor",       "index_fill",     "index_put",
        "scatter",    "constant_pad_nd", "pad",          "masked_scatter", "lift_fresh_copy",
        "lift_fresh", "select_scatter",  "slice_scatter"};
    if (func.ends_with('_') && !func.ends_with("__"))
        func.remove_suffix(1);
    return func == "__setitem__" || kFills.contains(func);
}

} // namespace core
