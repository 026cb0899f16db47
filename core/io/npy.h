// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/dtype.h"
#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// The header of a numpy array file, version 1: magic, length, a dictionary; a multiple of 64 bytes, so that
// the data of an aligned entry are aligned too. Types that numpy lacks (bfloat16, the float8 kinds,
// complex32) are named as the unsigned integer of the same width.
std::string npyHeader(DType dtype, std::span<const std::int64_t> shape);

// What a header says. dtype is that of numpy's own types; unknown for others (itemBytes then says the width
// where it is known), such as texts and dates.
struct NpyInfo
{
    DType dtype = DType::unknown;
    std::string descr; // numpy's word for it: "<f4", "<U5"
    std::uint64_t itemBytes = 0;
    bool bigEndian = false;
    bool fortranOrder = false;
    std::vector<std::int64_t> shape;
    std::uint64_t dataOffset = 0;
    std::uint64_t dataBytes = 0;
};
// Versions 1 to 3. corrupt with detail bad_header when it is no such header (an expression), truncated when
// the data are not all there, tensor_out_of_bounds; unsupported for arrays of Python objects (object_dtype)
// and of records (structured_dtype).
Result<NpyInfo> readNpyHeader(const ByteSource &source);

} // namespace core
