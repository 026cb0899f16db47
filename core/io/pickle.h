// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

class PickleGraph;

enum class PickleKind : std::uint8_t {
    none,
    boolean,
    integer,
    bigInteger, // beyond 64 bits, kept as its two's complement bytes
    real,
    string,
    bytes,
    list,
    tuple,
    dict,
    set,
    frozenSet,
    global,     // a name that the pickle would import: "module", "name"
    instance,   // what a call or a construction would give: callable, arguments, state, items
    persistent, // a persistent id: one value in it
};

// One value of an unpickled graph: a cheap handle, valid as long as the graph. Reading a wrong kind gives an
// empty or zero answer, never an error. The graph may be cyclic and may share values many times over: who
// walks it bounds depth and count.
class PickleValue
{
public:
    PickleValue() = default;
    PickleValue(const PickleGraph *graph, std::uint32_t index) : m_graph(graph), m_index(index) {}

    bool isValid() const { return m_graph != nullptr; } // false for what was looked up and is not there
    std::uint32_t index() const { return m_index; }     // the same number for the same shared value
    PickleKind kind() const;
    bool is(PickleKind wanted) const { return isValid() && kind() == wanted; }
    bool isNone() const { return !isValid() || kind() == PickleKind::none; }
    bool isNumber() const;

    bool toBool(bool fallback = false) const;
    std::int64_t toInt(std::int64_t fallback = 0) const; // booleans too; a real when it is whole
    double toDouble(double fallback = 0.0) const;
    std::string_view text() const;            // of a string; bytes as the pickle has them
    std::span<const std::byte> bytes() const; // of bytes, strings and big integers

    // list, tuple, set: the items. dict: the number of pairs. persistent: 1. Else 0.
    std::size_t size() const;
    PickleValue item(std::size_t i) const; // list, tuple, set, persistent
    PickleValue key(std::size_t i) const;  // dict
    PickleValue value(std::size_t i) const;
    PickleValue find(std::string_view key) const; // the last pair with that string key; invalid when none
    PickleValue find(std::int64_t key) const;

    std::string_view module() const; // of a global
    std::string_view name() const;
    std::string fullName() const; // "module.name" of a global, or of an instance's callable

    // Of an instance: the global or value that would be called, its arguments (a tuple), what BUILD would
    // hand over, what was appended and set on it. Invalid when there is no such thing.
    PickleValue callable() const { return part(0); }
    PickleValue args() const { return part(1); }
    PickleValue state() const { return part(2); }
    PickleValue listItems() const { return part(3); }
    PickleValue dictItems() const { return part(4); }
    bool isConstruction() const; // NEWOBJ, OBJ or INST: an object of a class, not a function's result

private:
    PickleValue part(std::size_t i) const;

    const PickleGraph *m_graph = nullptr;
    std::uint32_t m_index = 0;
};

struct PickleLimits
{
    std::uint64_t bytes = std::uint64_t(1) << 30U;
    std::uint64_t values = std::uint64_t(64) << 20U;
    std::uint64_t longBytes = 4096; // of one integer
};

// What a pickle (protocols 0 to 5) describes, without doing it: no name is imported, nothing is called. A
// global becomes a pair of names, REDUCE, NEWOBJ and BUILD become instance values. Owns the pickle's bytes;
// immutable and thread safe. Errors carry a token: truncated, bad_memo, stack_underflow, unsupported_opcode,
// too_many_values, bad_pickle.
class PickleGraph
{
public:
    // One pickle from OFFSET of BYTES; end() tells where it stopped. NAME is for messages.
    static Result<std::shared_ptr<const PickleGraph>>
    parse(std::shared_ptr<const std::vector<std::byte>> bytes, std::size_t offset, std::string_view name,
          const PickleLimits &limits = {});

    PickleValue root() const { return {this, m_root}; }
    std::size_t end() const { return m_end; } // the first byte behind the STOP opcode
    std::size_t valueCount() const { return m_nodes.size(); }
    // Every distinct global that the pickle names, in order of appearance.
    std::vector<PickleValue> globals() const;

private:
    friend class PickleValue;
    friend class PickleMachine;

    static constexpr std::uint32_t kNoValue = 0xffffffffU;
    // data: integer, bits of a real, offset of text or bytes, or of the first item (low half; the high half
    // is the room for items). count: length or number of items.
    struct Node
    {
        std::uint64_t data = 0;
        std::uint32_t count = 0;
        PickleKind kind = PickleKind::none;
        std::uint8_t flags = 0; // text that stands in m_texts; instances that are constructions
    };

    PickleGraph() = default;
    std::span<const std::uint32_t> items(const Node &node) const;

    std::shared_ptr<const std::vector<std::byte>> m_bytes;
    std::vector<Node> m_nodes;
    std::vector<std::uint32_t> m_items;
    std::deque<std::string> m_texts; // unescaped text of protocol 0
    std::uint32_t m_root = 0;
    std::size_t m_end = 0;
};

} // namespace core
