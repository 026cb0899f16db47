// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace core {

// How far the rotated FIRST [N, 5] and SECOND [M, 5] boxes (centre x and y, width, height, degrees) cover the
// same area: the common part of what both cover together, [N, M] in float32, whatever type the boxes have.
// Throws c10::Error for other shapes, as ops do.
at::Tensor rotatedOverlap(const at::Tensor &first, const at::Tensor &second);

} // namespace core
