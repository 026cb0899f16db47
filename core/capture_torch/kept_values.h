// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace core {

// A member of CaptureRequest::options that a helper sets for runs of its own: every value is kept, whatever
// the request says, and the trace records the request as it was without it.
inline constexpr std::string_view kKeepsAll = "keeps_all";

} // namespace core
