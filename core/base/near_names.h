// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// The names a person may have meant by NAME: at most LIMIT of KNOWN, nearest first, those in which a third of
// the letters or less differ (optimal string alignment distance) or that contain NAME whole. Views into
// KNOWN.
std::vector<std::string_view> nearNames(std::string_view name, std::span<const std::string_view> known,
                                        std::size_t limit = 3);

// The question after the NEAR names: "did you mean a, b or c?", each between OPENING and CLOSING; "" for
// none.
std::string didYouMean(std::span<const std::string_view> near, std::string_view opening = {},
                       std::string_view closing = {});

// Says which names there are instead of NAME: "did you mean a? LEAD a, b, c and 4 more".
std::string knownNamesText(std::string_view name, std::span<const std::string_view> known,
                           std::string_view lead);

} // namespace core
