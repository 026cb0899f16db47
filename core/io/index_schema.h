// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/tables.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Which columns the index of a native trace has: one description of every table of TraceTables, from which
// the index is written, read and checked, and from which tests print and compare tables. Internal to core/io.
namespace core::index_schema {

// Tables and pools, in the order of the file. storages: numbers without a table.
enum class Table : std::uint8_t {
    calls,
    ops,
    tensors,
    stats,
    modules,
    moduleCalls,
    params,
    frames,
    stacks,
    sources,
    gradNodes,
    gradFires,
    gradients,
    backwards,
    diagnostics,
    notes,
    arguments,
    gradEdges,
    opIds,
    callIds,
    tensorIds,
    moduleCallIds,
    frameIds,
    stringIds,
    gradNodeIds,
    integers,
    doubles,
    strings,
    storages,
};
inline constexpr std::size_t kTables = static_cast<std::size_t>(Table::strings);

enum class Type : std::uint8_t {
    u8,    // below LIMIT (a bool, an enumeration)
    i8,    // -1 to 1
    u32,   // any number
    i64,   // any number
    u64,   // any number
    f64,   // any number
    id,    // a row of TARGET, or none
    row,   // a row of TARGET, never none
    range, // of the pool TARGET: two 32-bit numbers, begin and count
};

struct Column
{
    std::string_view name;
    Type type = Type::u8;
    std::size_t offset = 0; // in the row
    Table target = Table::storages;
    std::uint8_t limit = 2;
};

struct TableInfo
{
    std::string_view name;
    std::size_t rowSize = 0;
    std::span<const Column> columns;
    std::size_t (*rows)(const TraceTables &tables);
    const std::byte *(*data)(const TraceTables &tables);
    std::byte *(*resize)(TraceTables &tables, std::size_t rows);
};

std::span<const TableInfo> tables(); // kTables, in the order of Table

} // namespace core::index_schema
