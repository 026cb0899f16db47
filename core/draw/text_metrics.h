// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace core {

// Words are set in Inter, names and numbers in JetBrains Mono; both are bundled.
enum class FontFamily : std::uint8_t { words, mono };
enum class FontWeight : std::uint8_t { regular, medium, semibold };

// A text's font: family, weight, size in pixels.
struct TextStyle
{
    FontFamily family = FontFamily::words;
    FontWeight weight = FontWeight::regular;
    float size = 12.0F;

    bool operator==(const TextStyle &) const = default;
};

// Width of UTF-8 TEXT in pixels, from the advances of the bundled fonts without kerning: the same on every
// machine, so that pictures made without a window are too. Characters outside the table count as a wide
// letter, which errs on the safe side.
double textWidth(std::string_view text, TextStyle style);

// TEXT, or as much of it as fits WIDTH with an ellipsis; empty when not even one letter does. The middle form
// keeps both ends ("layers.0…attn").
std::string elidedRight(std::string_view text, TextStyle style, double width);
std::string elidedMiddle(std::string_view text, TextStyle style, double width);

} // namespace core
