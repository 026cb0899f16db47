// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/color_token.h"

#include <array>

namespace core {

std::string_view colorTokenName(ColorToken token)
{
    static constexpr std::array<std::string_view, kColorTokenCount> kNames = {
        "none",  "window", "panel",       "raised",   "hover",      "input",    "canvas",
        "zebra", "module", "node",        "border",   "strong",     "nodeb",    "edge",
        "text",  "second", "muted",       "disabled", "ontint",     "accent",   "accentbg",
        "nan",   "nanbg",  "inf",         "infbg",    "warn",       "warnbg",   "ok",
        "okbg",  "grad",   "codeKeyword", "codeText", "codeNumber", "codeCall", "codeComment",
    };
    const auto index = static_cast<std::size_t>(token);
    return index < kNames.size() ? kNames[index] : std::string_view("unknown");
}

} // namespace core
