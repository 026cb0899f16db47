// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>

namespace views {

// "1 op", "1,184 ops": ONE and MANY are the words for one and for any other number.
QString countedText(std::uint64_t count, const char *one, const char *many);

} // namespace views
