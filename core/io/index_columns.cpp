// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/index_columns.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace core::index_schema {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

// A number in memory: how wide it is and what it means.
struct Byte
{
    using Memory = std::uint8_t;
    static std::int64_t load(Memory value) { return value; }
    static Memory store(std::int64_t value) { return static_cast<Memory>(value); }
};
struct SignedByte
{
    using Memory = std::int8_t;
    static std::int64_t load(Memory value) { return value; }
    static Memory store(std::int64_t value) { return static_cast<Memory>(value); }
};
struct Word
{
    using Memory = std::uint32_t;
    static std::int64_t load(Memory value) { return value; }
    static Memory store(std::int64_t value) { return static_cast<Memory>(value); }
};
struct Reference
{
    using Memory = std::uint32_t;
    static std::int64_t load(Memory value) { return value == kNone ? -1 : static_cast<std::int64_t>(value); }
    static Memory store(std::int64_t value) { return static_cast<Memory>(value); }
};
struct Long
{
    using Memory = std::int64_t;
    static std::int64_t load(Memory value) { return value; }
    static Memory store(std::int64_t value) { return value; }
};

template <class Action>
auto withType(Type type, Action action)
{
    switch (type) {
    case Type::u8:
        return action(Byte());
    case Type::i8:
        return action(SignedByte());
    case Type::id:
    case Type::row:
        return action(Reference());
    case Type::u32:
    case Type::range:
        return action(Word());
    case Type::i64:
    case Type::u64:
    case Type::f64:
        break;
    }
    return action(Long());
}

template <class Action>
auto withWidth(unsigned width, Action action)
{
    switch (width) {
    case 1:
        return action(std::uint8_t());
    case 2:
        return action(std::uint16_t());
    case 4:
        return action(std::uint32_t());
    default:
        return action(std::uint64_t());
    }
}

template <class T>
T loadFrom(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::int64_t plus(std::int64_t base, std::uint64_t number)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + number);
}

} // namespace

void Bounds::include(const Bounds &other)
{
    if (other.isEmpty())
        return;
    low = isEmpty() ? other.low : std::min(low, other.low);
    high = std::max(high, other.high);
}

std::vector<Stored> storedColumns(const TableInfo &table)
{
    std::vector<Stored> stored;
    for (const Column &column : table.columns) {
        if (column.type != Type::range) {
            stored.push_back(
                {std::string(column.name), column.type, column.offset, column.target, column.limit});
            continue;
        }
        const std::string name(column.name);
        stored.push_back({name + ".begin", Type::u32, column.offset + offsetof(Range, begin)});
        stored.push_back({name + ".count", Type::u32, column.offset + offsetof(Range, count)});
    }
    return stored;
}

std::string_view typeName(Type type)
{
    switch (type) {
    case Type::u8:
        return "u8";
    case Type::i8:
        return "i8";
    case Type::u32:
    case Type::range:
        return "u32";
    case Type::i64:
        return "i64";
    case Type::u64:
        return "u64";
    case Type::f64:
        return "f64";
    case Type::id:
    case Type::row:
        break;
    }
    return "id";
}

Bounds boundsOf(Type type, Members members)
{
    return withType(type, [&](auto kind) {
        using Kind = decltype(kind);
        Bounds bounds{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
        for (std::size_t i = 0; i < members.rows; ++i) {
            const std::int64_t value =
                Kind::load(loadFrom<typename Kind::Memory>(members.first + i * members.stride));
            bounds.low = std::min(bounds.low, value);
            bounds.high = std::max(bounds.high, value);
        }
        return members.rows == 0 ? Bounds() : bounds;
    });
}

unsigned widthFor(Type type, const Bounds &bounds)
{
    if (bounds.isEmpty() || bounds.low == bounds.high)
        return 0;
    const std::uint64_t span =
        static_cast<std::uint64_t>(bounds.high) - static_cast<std::uint64_t>(bounds.low);
    if (type == Type::f64 || span > std::numeric_limits<std::uint32_t>::max())
        return 8;
    if (span > std::numeric_limits<std::uint16_t>::max())
        return 4;
    return span > std::numeric_limits<std::uint8_t>::max() ? 2 : 1;
}

void pack(Type type, Members members, std::int64_t base, unsigned width, std::byte *out)
{
    if (width == 0)
        return;
    withType(type, [&](auto kind) {
        withWidth(width, [&](auto number) {
            using Kind = decltype(kind);
            using Number = decltype(number);
            for (std::size_t i = 0; i < members.rows; ++i) {
                const std::int64_t value =
                    Kind::load(loadFrom<typename Kind::Memory>(members.first + i * members.stride));
                const auto delta =
                    static_cast<Number>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(base));
                std::memcpy(out + i * sizeof delta, &delta, sizeof delta);
            }
        });
    });
}

Bounds unpack(Type type, const std::byte *from, std::int64_t base, unsigned width, Members members)
{
    if (members.rows == 0)
        return {};
    return withType(type, [&](auto kind) {
        using Kind = decltype(kind);
        using Memory = typename Kind::Memory;
        auto *out = const_cast<std::byte *>(members.first);
        if (width == 0) {
            const Memory value = Kind::store(base);
            for (std::size_t i = 0; i < members.rows; ++i)
                std::memcpy(out + i * members.stride, &value, sizeof value);
            return Bounds{base, base};
        }
        return withWidth(width, [&](auto number) {
            using Number = decltype(number);
            Bounds bounds{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
            for (std::size_t i = 0; i < members.rows; ++i) {
                const std::int64_t value = plus(base, loadFrom<Number>(from + i * sizeof(Number)));
                bounds.low = std::min(bounds.low, value);
                bounds.high = std::max(bounds.high, value);
                const Memory stored = Kind::store(value);
                std::memcpy(out + i * members.stride, &stored, sizeof stored);
            }
            return bounds;
        });
    });
}

} // namespace core::index_schema
