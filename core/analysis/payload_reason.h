// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <string_view>

namespace core {

// Why the values of a tensor cannot be read, "ok" when they can: the tokens of reports.md section 8.
std::string_view payloadReason(const Trace &trace, TensorId tensor);

} // namespace core
