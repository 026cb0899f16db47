// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"

#include <c10/core/ScalarType.h>

#include <optional>

namespace core {

// The same element type in LibTorch's words; none for unknown.
std::optional<c10::ScalarType> toScalarType(DType dtype);
// unknown for the types opscope has no name for.
DType fromScalarType(c10::ScalarType type);

} // namespace core
