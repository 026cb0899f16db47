// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utf8.h"

#include <simdjson.h>

namespace core {

bool isUtf8(std::string_view text)
{
    return simdjson::validate_utf8(text.data(), text.size());
}

std::size_t utf8SequenceLength(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return length <= text.size() && isUtf8(text.substr(0, length)) ? length : 0;
}

std::string cleanUtf8(std::string_view text)
{
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    if (isUtf8(text))
        return std::string(text);
    std::string out;
    while (!text.empty()) {
        const std::size_t length = utf8SequenceLength(text);
        out += length == 0 ? kReplacement : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

} // namespace core
