// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace core {

// The colours of the visual language by name. Draw lists hold tokens, never colours: a theme is the table
// that gives each token a colour, and a picture is repainted in another theme from the same list. `none`
// paints nothing.
enum class ColorToken : std::uint8_t {
    none,
    // Surfaces.
    window,
    panel,
    raised,
    hover,
    input,
    canvas,
    zebra,
    module,
    node,
    // Lines.
    border,
    strong,
    nodeb,
    edge,
    // Text.
    text,
    second,
    muted,
    disabled,
    ontint,
    // Meaning.
    accent,
    accentbg,
    nan,
    nanbg,
    inf,
    infbg,
    warn,
    warnbg,
    ok,
    okbg,
    grad,
    // Source code.
    codeKeyword,
    codeText,
    codeNumber,
    codeCall,
    codeComment,
};
inline constexpr std::size_t kColorTokenCount = static_cast<std::size_t>(ColorToken::codeComment) + 1;

// "nanbg", "codeKeyword": the name in theme files and printed draw lists.
std::string_view colorTokenName(ColorToken token);

} // namespace core
