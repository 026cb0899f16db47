// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/index_schema.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// One member of all rows of a table as numbers of one width: value = base + number, modulo 2^64; width 0
// means that all rows have the base. An id that is none counts as -1, a double as its 64 bits. Internal to
// core/io.
namespace core::index_schema {

// A column as it is stored: a range of the schema is two of these.
struct Stored
{
    std::string name;
    Type type = Type::u8; // never range: its parts are u32
    std::size_t offset = 0;
    Table target = Table::storages;
    std::uint8_t limit = 2;
};
std::vector<Stored> storedColumns(const TableInfo &table);
std::string_view typeName(Type type);

// ROWS rows of STRIDE bytes; the first one's member is at FIRST.
struct Members
{
    const std::byte *first = nullptr;
    std::size_t rows = 0;
    std::size_t stride = 0;
};
struct Bounds
{
    std::int64_t low = 0;
    std::int64_t high = -1; // below low: no rows

    bool isEmpty() const { return high < low; }
    void include(const Bounds &other);
};
Bounds boundsOf(Type type, Members members);
// Bytes a number that holds HIGH - LOW: 0, 1, 2, 4 or 8.
unsigned widthFor(Type type, const Bounds &bounds);

// Writes the numbers of MEMBERS to OUT, rows * WIDTH bytes.
void pack(Type type, Members members, std::int64_t base, unsigned width, std::byte *out);
// Sets the members from numbers at FROM and says between which values they are.
Bounds unpack(Type type, const std::byte *from, std::int64_t base, unsigned width, Members members);

} // namespace core::index_schema
