// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/table_text.h"

#include "core/base/value.h"
#include "core/io/index_schema.h"

#include <cstring>

using namespace core;
using namespace core::index_schema;

namespace test {
namespace {

template <class T>
T load(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

bool isPool(Table table)
{
    return table >= Table::opIds;
}

std::string member(const TraceTables &from, const Column &column, const std::byte *row);

std::string items(const TraceTables &from, Table target, Range range)
{
    const TableInfo &table = tables()[static_cast<std::size_t>(target)];
    std::string out = "[";
    for (std::uint32_t i = 0; i < range.count; ++i) {
        const std::byte *row = table.data(from) + (range.begin + i) * table.rowSize;
        out += i == 0 ? "" : " ";
        for (const Column &column : table.columns)
            out += member(from, column, row) + (table.columns.size() > 1 ? "," : "");
    }
    return out + "]";
}

std::string member(const TraceTables &from, const Column &column, const std::byte *row)
{
    const std::byte *at = row + column.offset;
    switch (column.type) {
    case Type::u8:
        return std::to_string(load<std::uint8_t>(at));
    case Type::i8:
        return std::to_string(load<std::int8_t>(at));
    case Type::u32:
        return std::to_string(load<std::uint32_t>(at));
    case Type::i64:
        return std::to_string(load<std::int64_t>(at));
    case Type::u64:
        return std::to_string(load<std::uint64_t>(at));
    case Type::f64:
        return formatDouble(load<double>(at));
    case Type::range: {
        const auto range = load<Range>(at);
        if (isPool(column.target) || column.target == Table::arguments || column.target == Table::gradEdges)
            return items(from, column.target, range);
        return std::to_string(range.begin) + "+" + std::to_string(range.count);
    }
    case Type::id:
    case Type::row:
        break;
    }
    const auto id = load<std::uint32_t>(at);
    if (id == 0xffffffffU)
        return "-";
    return column.target == Table::strings ? jsonQuoted(from.strings.view(StringId(id))) : std::to_string(id);
}

} // namespace

std::string tableText(const TraceTables &from)
{
    std::string out;
    for (std::size_t t = 0; t < kTables; ++t) {
        const TableInfo &table = tables()[t];
        if (isPool(static_cast<Table>(t)) || t == static_cast<std::size_t>(Table::arguments) ||
            t == static_cast<std::size_t>(Table::gradEdges))
            continue;
        for (std::size_t i = 0; i < table.rows(from); ++i) {
            out += std::string(table.name) + " " + std::to_string(i) + ":";
            for (const Column &column : table.columns)
                out += " " + std::string(column.name) + "=" +
                       member(from, column, table.data(from) + i * table.rowSize);
            out += '\n';
        }
    }
    return out;
}

} // namespace test
