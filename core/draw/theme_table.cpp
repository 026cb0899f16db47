// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/theme_table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace core {

namespace {

struct Row
{
    ColorToken token;
    std::uint32_t dark;
    std::uint32_t light;
    std::uint32_t highContrast;
};

using enum ColorToken;

// Hues derive from Okabe-Ito; the lowest contrast of every pair is checked by tests/draw/tst_theme_table.
constexpr std::array<Row, kColorTokenCount> kRows = {{
    {none, 0x000000, 0x000000, 0x000000},        {window, 0x15181C, 0xF1F3F5, 0x000000},
    {panel, 0x1B1F24, 0xFFFFFF, 0x000000},       {raised, 0x23282F, 0xE9ECEF, 0x000000},
    {hover, 0x2A3038, 0xE1E6EA, 0x000000},       {input, 0x121518, 0xFFFFFF, 0x000000},
    {canvas, 0x14171B, 0xFAFBFC, 0x000000},      {zebra, 0x1E2228, 0xF7F8FA, 0x000000},
    {module, 0x1B2026, 0xF1F4F6, 0x000000},      {node, 0x262C34, 0xFFFFFF, 0x000000},
    {border, 0x2E353D, 0xD4DAE0, 0xFFFFFF},      {strong, 0x6F7B87, 0x7C8792, 0xFFFFFF},
    {nodeb, 0x5C6773, 0x86919C, 0xFFFFFF},       {edge, 0x727E8A, 0x7A8590, 0xFFFFFF},
    {text, 0xE6EAEE, 0x191E23, 0xFFFFFF},        {second, 0xAEB8C2, 0x454F59, 0xFFFFFF},
    {muted, 0x929DA9, 0x5E6873, 0xFFFFFF},       {disabled, 0x5E6872, 0x9AA3AC, 0x8C8C8C},
    {ontint, 0x0E1114, 0xFFFFFF, 0x000000},      {accent, 0x4FA9E6, 0x005FA3, 0x7CC7FF},
    {accentbg, 0x17354A, 0xD9ECF8, 0x000000},    {nan, 0xF27A42, 0x962F00, 0xFF9A5C},
    {nanbg, 0x3E2417, 0xFDE8DC, 0x000000},       {inf, 0xE796CB, 0x8C2A6E, 0xFFA8DE},
    {infbg, 0x3A2233, 0xF8E3EF, 0x000000},       {warn, 0xEFC24A, 0x8B6700, 0xFFD75E},
    {warnbg, 0x382D14, 0xFBF0D2, 0x000000},      {ok, 0x37C49A, 0x00785A, 0x5CE6B8},
    {okbg, 0x133329, 0xDDF3EA, 0x000000},        {grad, 0xC3CCD5, 0x3A444E, 0xFFFFFF},
    {codeKeyword, 0xC792D8, 0x8A2F93, 0xFFA8DE}, {codeText, 0x8FC9A2, 0x1F6B3A, 0x5CE6B8},
    {codeNumber, 0xE3B27A, 0x8A4B00, 0xFFD75E},  {codeCall, 0x7CC0EA, 0x005A8C, 0x7CC7FF},
    {codeComment, 0x87939F, 0x66717C, 0xFFFFFF},
}};

constexpr bool inTokenOrder()
{
    for (std::size_t i = 0; i < kRows.size(); ++i)
        if (static_cast<std::size_t>(kRows[i].token) != i)
            return false;
    return true;
}
static_assert(inTokenOrder());

double channel(std::uint32_t value)
{
    const double share = static_cast<double>(value & 0xffU) / 255.0;
    return share <= 0.03928 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

double luminance(std::uint32_t rgb)
{
    return 0.2126 * channel(rgb >> 16U) + 0.7152 * channel(rgb >> 8U) + 0.0722 * channel(rgb);
}

} // namespace

std::uint32_t themeRgb(ThemeScheme scheme, ColorToken token)
{
    const auto index = static_cast<std::size_t>(token);
    if (index >= kRows.size())
        return 0;
    switch (scheme) {
    case ThemeScheme::dark:
        return kRows[index].dark;
    case ThemeScheme::light:
        return kRows[index].light;
    case ThemeScheme::highContrast:
        return kRows[index].highContrast;
    }
    return 0;
}

std::string_view themeSchemeName(ThemeScheme scheme)
{
    switch (scheme) {
    case ThemeScheme::dark:
        return "dark";
    case ThemeScheme::light:
        return "light";
    case ThemeScheme::highContrast:
        return "high-contrast";
    }
    return "unknown";
}

double contrastRatio(std::uint32_t first, std::uint32_t second)
{
    const double a = luminance(first);
    const double b = luminance(second);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

} // namespace core
