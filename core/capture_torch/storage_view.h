// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"

#include <cstdint>
#include <vector>

namespace core {

// How a tensor lies in its storage.
struct StorageView
{
    DType dtype = DType::unknown;
    std::int64_t offset = 0; // in elements
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides; // empty: row-major
};

} // namespace core
