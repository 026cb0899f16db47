// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/little_endian.h"
#include "core/io/pickle.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace core {

// The stack machine behind PickleGraph::parse: one method an opcode, found in a table. Lives for one parse on
// one thread and fills the graph it was given.
class PickleMachine
{
public:
    PickleMachine(PickleGraph &graph, std::size_t offset, std::string name, const PickleLimits &limits);

    Status run();

private:
    using Handler = bool (PickleMachine::*)(); // false: an error was noted
    using Ref = std::uint32_t;
    static std::array<Handler, 256> makeTable();

    bool fail(std::string_view token, std::string_view what);
    bool failLimit(std::string_view token, std::string_view what);
    bool take(std::size_t length, std::span<const std::byte> &out);
    template <class T>
    bool takeNumber(T &out)
    {
        std::span<const std::byte> bytes;
        if (!take(sizeof(T), bytes))
            return false;
        out = loadLittle<T>(bytes.data());
        return true;
    }
    bool takeLine(std::string_view &out);
    bool takeMemoIndex(std::uint64_t &out); // of the text opcodes

    bool push(PickleGraph::Node node);
    bool pushRef(Ref ref);
    bool pushShared(Ref &known, PickleGraph::Node node);
    bool pop(Ref &out);
    bool popMark(std::vector<Ref> &out);
    bool pushItems(PickleKind kind, std::span<const Ref> items);
    bool appendItems(Ref container, std::span<const Ref> items);
    bool pushSpan(PickleKind kind, std::uint64_t length);
    bool pushText(PickleKind kind, std::string text);
    bool pushGlobal(Ref module, Ref name);
    bool pushInstance(Ref callable, Ref args, bool construction);
    bool addTo(std::span<const Ref> items, bool pairs);
    bool put(std::uint64_t index);
    bool get(std::uint64_t index);
    bool pushBigInteger(std::uint64_t length);
    bool pushDecimal(std::string_view text);

    // The opcodes, by their names in CPython's pickletools.
    bool opMark();
    bool opPop();
    bool opPopMark();
    bool opDup();
    bool opNone();
    bool opTrue();
    bool opFalse();
    bool opInt();
    bool opBinInt();
    bool opBinInt1();
    bool opBinInt2();
    bool opLong();
    bool opLong1();
    bool opLong4();
    bool opFloat();
    bool opBinFloat();
    bool opString();
    bool opUnicode();
    template <class Length, PickleKind Kind>
    bool opCounted();
    template <PickleKind Kind>
    bool opEmpty();
    template <PickleKind Kind>
    bool opFromMark();
    template <std::size_t Count>
    bool opTuple();
    bool opAppend();
    bool opAppends();
    bool opSetItem();
    bool opSetItems();
    bool opAddItems();
    bool opGlobal();
    bool opStackGlobal();
    bool opReduce();
    bool opBuild();
    bool opInst();
    bool opObj();
    bool opNewObj();
    bool opNewObjEx();
    bool opPersId();
    bool opBinPersId();
    bool opPut();
    bool opBinPut();
    bool opLongBinPut();
    bool opMemoize();
    bool opGet();
    bool opBinGet();
    bool opLongBinGet();
    bool opProto();
    bool opFrame();
    bool opStop();

    PickleGraph &m_graph;
    std::span<const std::byte> m_bytes;
    std::string m_name;
    PickleLimits m_limits;
    std::size_t m_start;
    std::size_t m_at;
    std::vector<Ref> m_stack;
    std::vector<std::size_t> m_marks;
    std::vector<Ref> m_memo;
    std::unordered_map<std::uint64_t, Ref> m_sparseMemo; // indices far beyond the count of memo entries
    Ref m_none = PickleGraph::kNoValue;
    Ref m_true = PickleGraph::kNoValue;
    Ref m_false = PickleGraph::kNoValue;
    Status m_error;
    bool m_stopped = false;
};

} // namespace core
