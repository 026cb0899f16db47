// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/base/result.h"
#include "core/trace/tables.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace core {

inline constexpr std::string_view kIndexEntry = "index.bin";

// What stands in the index beside the tables.
struct IndexFacts
{
    std::uint64_t segments = 0; // record segments it was made from
    LoadReport notes;           // of the builder
};

// The index of a native trace: every table as columns of fixed-width little-endian numbers, so that opening
// parses nothing (core/trace/FORMAT.md has the bytes). info is not in it but for failure.call, failure.stack,
// failure.label and hasBackward.
std::vector<std::byte> encodeIndex(const TraceTables &tables, const IndexFacts &facts);

// The tables, every number checked: ids and ranges point into their tables, enumerations are known, modules
// do not contain themselves. unsupportedVersion when the columns are those of another version; corrupt naming
// the column otherwise. INFO of the result has only the members that encodeIndex() names.
Result<TraceTables> decodeIndex(std::span<const std::byte> bytes, std::string_view name, IndexFacts &facts);

} // namespace core
