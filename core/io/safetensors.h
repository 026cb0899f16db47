// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/dtype.h"
#include "core/base/load_report.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

struct SafetensorsEntry
{
    std::string name;
    std::string dtypeName; // as the file spells it, "BF16"
    DType dtype = DType::unknown;
    std::vector<std::int64_t> shape;
    std::uint64_t offset = 0; // in the file
    std::uint64_t bytes = 0;
};

// The header of a .safetensors file; the values stay in the file. Errors carry a token: header_too_long,
// truncated, bad_utf8, bad_json, duplicate_name, nesting_too_deep, unknown_dtype, size_mismatch,
// overlapping_tensors, gap, tensor_out_of_bounds.
struct Safetensors
{
    std::vector<SafetensorsEntry> tensors; // in the header's order
    std::vector<std::pair<std::string, std::string>> metadata;
    std::uint64_t dataOffset = 0; // where the data section begins in the file
};

// A dtype name that this version does not know is noted in REPORT (unknown_dtype) and kept as DType::unknown
// when its size in the file can be anything.
Result<Safetensors> readSafetensors(const ByteSource &source, LoadReport &report);
// Whether the first 9 bytes can begin such a file of SIZE bytes.
bool looksLikeSafetensors(std::span<const std::byte> head, std::uint64_t size);
DType dtypeFromSafetensors(std::string_view name);

} // namespace core
