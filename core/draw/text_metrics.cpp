// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/text_metrics.h"

#include <array>
#include <cstddef>
#include <vector>

namespace core {

namespace {

constexpr std::size_t kTableSize = 127 - 32;
constexpr double kMonoAdvance = 0.6;
constexpr double kWideAdvance = 0.96;
constexpr std::string_view kEllipsis = "\u2026";

// Advances of Inter 4.0 in thousandths of the size, for the characters from blank to tilde.
constexpr std::array<std::uint16_t, kTableSize> kRegular = {
    281, 278, 403, 631, 638, 813, 639, 222, 362, 362, 500, 659, 280, 460, 276, 357, 625, 464, 605,
    636, 642, 608, 624, 571, 616, 624, 276, 280, 659, 659, 659, 507, 936, 676, 651, 727, 719, 598,
    587, 743, 740, 264, 543, 652, 563, 889, 753, 761, 635, 761, 639, 638, 642, 741, 676, 949, 642,
    665, 625, 362, 357, 362, 469, 452, 497, 564, 621, 558, 621, 582, 361, 609, 591, 237, 237, 544,
    237, 869, 585, 597, 609, 609, 372, 523, 364, 581, 557, 813, 540, 557, 541, 362, 327, 362, 659};
constexpr std::array<std::uint16_t, kTableSize> kMedium = {
    265, 294, 400, 637, 643, 828, 651, 217, 378, 378, 522, 666, 288, 463, 283, 368, 646, 473, 613,
    644, 654, 620, 636, 579, 631, 636, 283, 288, 666, 666, 666, 526, 968, 700, 654, 735, 722, 603,
    586, 749, 742, 270, 552, 664, 564, 898, 747, 768, 639, 768, 645, 643, 651, 738, 700, 978, 666,
    685, 639, 378, 368, 378, 475, 460, 497, 569, 626, 568, 626, 587, 369, 617, 602, 249, 249, 556,
    249, 884, 597, 602, 617, 617, 384, 536, 372, 594, 566, 825, 551, 566, 551, 378, 342, 378, 666};
constexpr std::array<std::uint16_t, kTableSize> kSemibold = {
    248, 309, 396, 643, 649, 844, 663, 213, 393, 393, 543, 673, 295, 466, 290, 379, 667, 481,  621,
    652, 666, 632, 648, 587, 646, 648, 290, 295, 673, 673, 673, 544, 999, 724, 657, 744, 724,  608,
    586, 755, 744, 275, 561, 677, 566, 906, 741, 775, 643, 776, 651, 649, 660, 734, 724, 1007, 690,
    705, 653, 393, 379, 393, 481, 468, 497, 575, 630, 577, 630, 593, 377, 625, 613, 261, 261,  569,
    261, 898, 610, 608, 625, 625, 397, 549, 380, 608, 576, 837, 563, 576, 562, 393, 358, 393,  673};

// Length in bytes of the UTF-8 character at POSITION; a stray byte is one character.
std::size_t characterLength(std::string_view text, std::size_t position)
{
    const auto lead = static_cast<unsigned char>(text[position]);
    const std::size_t length = lead < 0xc0U ? 1 : lead < 0xe0U ? 2 : lead < 0xf0U ? 3 : 4;
    return position + length <= text.size() ? length : 1;
}

double characterWidth(std::string_view character, TextStyle style)
{
    if (style.family == FontFamily::mono)
        return kMonoAdvance * style.size;
    const auto lead = static_cast<unsigned char>(character[0]);
    if (lead >= 32 && lead < 127) {
        const auto &table = style.weight == FontWeight::regular  ? kRegular
                            : style.weight == FontWeight::medium ? kMedium
                                                                 : kSemibold;
        return table[lead - 32U] * style.size / 1000.0;
    }
    if (character == "\u00b7")
        return 0.29 * style.size;
    if (character == "\u2013" || character == "\u2212" || character == "\u00d7")
        return 0.67 * style.size;
    if (character == kEllipsis)
        return 0.82 * style.size;
    return kWideAdvance * style.size;
}

} // namespace

double textWidth(std::string_view text, TextStyle style)
{
    double width = 0.0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = characterLength(text, at);
        width += characterWidth(text.substr(at, length), style);
        at += length;
    }
    return width;
}

std::string elidedRight(std::string_view text, TextStyle style, double width)
{
    if (textWidth(text, style) <= width)
        return std::string(text);
    double used = textWidth(kEllipsis, style);
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = characterLength(text, at);
        used += characterWidth(text.substr(at, length), style);
        if (used > width)
            break;
        at += length;
    }
    if (at == 0)
        return {};
    return std::string(text.substr(0, at)) + std::string(kEllipsis);
}

std::string elidedMiddle(std::string_view text, TextStyle style, double width)
{
    if (textWidth(text, style) <= width)
        return std::string(text);
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = characterLength(text, at);
        characters.push_back(text.substr(at, length));
        at += length;
    }
    double used = textWidth(kEllipsis, style);
    std::size_t front = 0;
    std::size_t back = 0;
    while (front + back < characters.size()) {
        const bool fromFront = front <= back;
        const std::string_view next =
            fromFront ? characters[front] : characters[characters.size() - 1 - back];
        used += characterWidth(next, style);
        if (used > width)
            break;
        ++(fromFront ? front : back);
    }
    if (front == 0)
        return {};
    std::string result;
    for (std::size_t i = 0; i < front; ++i)
        result += characters[i];
    result += kEllipsis;
    for (std::size_t i = characters.size() - back; i < characters.size(); ++i)
        result += characters[i];
    return result;
}

} // namespace core
