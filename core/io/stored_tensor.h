// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/dtype.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace core {

// A tensor whose values lie in a file: a window with strides on a storage. Element [i...] is at element
// storageOffset + sum(i * stride) of STORAGE. Cheap to copy.
struct StoredTensor
{
    DType dtype = DType::unknown;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; // in elements, one a dimension
    std::int64_t storageOffset = 0;    // in elements
    std::shared_ptr<const ByteSource> storage;
    bool isBigEndian = false;
    bool isConjugate = false; // the values are the conjugates of what is stored
    bool isNegated = false;   // the values are the negatives of what is stored

    // Product of the shape; checkStoredTensor() has made sure that it fits.
    std::uint64_t elementCount() const;
    std::uint64_t byteCount() const { return elementCount() * itemSize(dtype); }
};

std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> shape);
std::vector<std::int64_t> columnMajorStrides(std::span<const std::int64_t> shape);

// Whether every element lies inside the storage, without overflow on the way. corrupt with the token
// tensor_out_of_bounds or bad_stride; NAME is for the message.
Status checkStoredTensor(const StoredTensor &tensor, std::string_view name);

// Elements FIRST .. FIRST + out.size() / itemSize in row-major order, little endian, conjugation and sign
// applied. TENSOR must have passed checkStoredTensor(). Thread safe.
Status readElements(const StoredTensor &tensor, std::uint64_t first, std::span<std::byte> out);

} // namespace core
