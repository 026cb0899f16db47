// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/color_token.h"

#include <cstdint>

namespace core {

// The three colour schemes a picture can be painted in. High contrast is black and white with five bright
// hues, no tints, and outlines twice as wide.
enum class ThemeScheme : std::uint8_t { dark, light, highContrast };

// 0xRRGGBB of TOKEN in SCHEME; 0 for `none`.
std::uint32_t themeRgb(ThemeScheme scheme, ColorToken token);

// "dark", "light", "high-contrast".
std::string_view themeSchemeName(ThemeScheme scheme);

// The contrast ratio of two 0xRRGGBB colours by WCAG 2.1, from 1 to 21.
double contrastRatio(std::uint32_t first, std::uint32_t second);

} // namespace core
