// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace core {

bool isUtf8(std::string_view text);
// Length in bytes of the UTF-8 sequence at the start of TEXT, which is not empty; 0 when it is not a valid
// one.
std::size_t utf8SequenceLength(std::string_view text);

// TEXT as valid UTF-8: every byte that belongs to no sequence is replaced by U+FFFD.
std::string cleanUtf8(std::string_view text);

} // namespace core
