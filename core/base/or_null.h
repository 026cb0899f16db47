// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <cstdint>
#include <optional>

namespace core {

// What is not known is null in documents and reports.
inline Value orNull(std::string_view text)
{
    return text.empty() ? Value() : Value(text);
}
inline Value orNull(const std::optional<double> &value)
{
    return value ? Value(*value) : Value();
}
inline Value orNull(const std::optional<std::uint64_t> &value)
{
    return value ? Value(*value) : Value();
}

} // namespace core
