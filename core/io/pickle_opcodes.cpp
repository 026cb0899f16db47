// SPDX-License-Identifier: GPL-3.0-or-later
// The opcodes of PickleMachine and their table.
#include "core/io/pickle_machine.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

namespace core {
namespace {

void appendUtf8(std::string &out, std::uint32_t code)
{
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0U | (code >> 6U));
        out += static_cast<char>(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0U | (code >> 12U));
        out += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
        out += static_cast<char>(0x80U | (code & 0x3fU));
    } else {
        out += static_cast<char>(0xf0U | ((code >> 18U) & 7U));
        out += static_cast<char>(0x80U | ((code >> 12U) & 0x3fU));
        out += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
        out += static_cast<char>(0x80U | (code & 0x3fU));
    }
}

// Hex digits after \x, \u, \U; what is no escape stays as it is.
std::size_t escapeLength(char kind)
{
    switch (kind) {
    case 'x':
        return 2;
    case 'u':
        return 4;
    case 'U':
        return 8;
    default:
        return 0;
    }
}

char simpleEscape(char kind)
{
    switch (kind) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return kind;
    }
}

// Python's repr escapes (BYTES: \xNN is one byte) or its raw-unicode-escape form (only \u and \U count).
std::string unescape(std::string_view text, bool bytes)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const std::size_t digits = c == '\\' && i + 1 < text.size() ? escapeLength(text[i + 1]) : 0;
        std::uint32_t code = 0;
        const char *first = text.data() + i + 2;
        const bool isHex = digits != 0 && (bytes || text[i + 1] != 'x') && i + 2 + digits <= text.size() &&
                           std::from_chars(first, first + digits, code, 16).ptr == first + digits;
        if (isHex && bytes && digits == 2)
            out += static_cast<char>(code);
        else if (isHex)
            appendUtf8(out, code);
        else if (c == '\\' && bytes && i + 1 < text.size())
            out += simpleEscape(text[++i]);
        else if (!bytes && static_cast<signed char>(c) < 0)
            appendUtf8(out, static_cast<unsigned char>(c));
        else
            out += c;
        i += isHex ? digits + 1 : 0;
    }
    return out;
}

} // namespace

bool PickleMachine::opMark()
{
    if (m_marks.size() >= m_limits.values)
        return failLimit("too_many_values", "too many marks");
    m_marks.push_back(m_stack.size());
    return true;
}

bool PickleMachine::opPop()
{
    if (!m_marks.empty() && m_marks.back() == m_stack.size()) {
        m_marks.pop_back();
        return true;
    }
    Ref ignored = 0;
    return pop(ignored);
}

bool PickleMachine::opPopMark()
{
    std::vector<Ref> ignored;
    return popMark(ignored);
}

bool PickleMachine::opDup()
{
    if (m_stack.empty())
        return fail("stack_underflow", "DUP on an empty stack");
    return pushRef(m_stack.back());
}

// A value of which one node is enough: a bundle holds millions of them.
bool PickleMachine::pushShared(Ref &known, PickleGraph::Node node)
{
    if (known != PickleGraph::kNoValue)
        return pushRef(known);
    if (!push(node))
        return false;
    known = m_stack.back();
    return true;
}

bool PickleMachine::opNone()
{
    return pushShared(m_none, {0, 0, PickleKind::none, 0});
}

bool PickleMachine::opTrue()
{
    return pushShared(m_true, {1, 0, PickleKind::boolean, 0});
}

bool PickleMachine::opFalse()
{
    return pushShared(m_false, {0, 0, PickleKind::boolean, 0});
}

bool PickleMachine::pushDecimal(std::string_view text)
{
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size())
        return push({static_cast<std::uint64_t>(value), 0, PickleKind::integer, 0});
    double real = 0.0; // decimal text beyond 64 bits only exists in protocol 0: its value is kept rounded
    const auto rounded = std::from_chars(text.data(), text.data() + text.size(), real);
    if (rounded.ec != std::errc() || rounded.ptr != text.data() + text.size())
        return fail("bad_pickle", "a number is not one");
    return push({std::bit_cast<std::uint64_t>(real), 0, PickleKind::real, 0});
}

bool PickleMachine::opInt()
{
    std::string_view line;
    if (!takeLine(line))
        return false;
    if (line == "00" || line == "01")
        return line == "01" ? opTrue() : opFalse();
    return pushDecimal(line);
}

bool PickleMachine::opBinInt()
{
    std::int32_t value = 0;
    return takeNumber(value) &&
           push({static_cast<std::uint64_t>(std::int64_t(value)), 0, PickleKind::integer, 0});
}

bool PickleMachine::opBinInt1()
{
    std::uint8_t value = 0;
    return takeNumber(value) && push({value, 0, PickleKind::integer, 0});
}

bool PickleMachine::opBinInt2()
{
    std::uint16_t value = 0;
    return takeNumber(value) && push({value, 0, PickleKind::integer, 0});
}

bool PickleMachine::opLong()
{
    std::string_view line;
    if (!takeLine(line))
        return false;
    if (!line.empty() && line.back() == 'L')
        line.remove_suffix(1);
    return pushDecimal(line);
}

bool PickleMachine::opLong1()
{
    std::uint8_t length = 0;
    return takeNumber(length) && pushBigInteger(length);
}

bool PickleMachine::opLong4()
{
    std::int32_t length = 0;
    if (!takeNumber(length))
        return false;
    return length < 0 ? fail("bad_pickle", "an integer of negative length")
                      : pushBigInteger(static_cast<std::uint64_t>(length));
}

bool PickleMachine::opFloat()
{
    std::string_view line;
    if (!takeLine(line))
        return false;
    double value = 0.0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != line.data() + line.size())
        return fail("bad_pickle", "a number is not one");
    return push({std::bit_cast<std::uint64_t>(value), 0, PickleKind::real, 0});
}

bool PickleMachine::opBinFloat()
{
    std::span<const std::byte> bytes;
    if (!take(sizeof(double), bytes))
        return false;
    std::uint64_t bits = 0;
    for (const std::byte byte : bytes)
        bits = (bits << 8U) | static_cast<std::uint64_t>(byte);
    return push({bits, 0, PickleKind::real, 0});
}

bool PickleMachine::opString()
{
    std::string_view line;
    if (!takeLine(line))
        return false;
    if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"'))
        return fail("bad_pickle", "a string without its quotes");
    return pushText(PickleKind::string, unescape(line.substr(1, line.size() - 2), true));
}

bool PickleMachine::opUnicode()
{
    std::string_view line;
    return takeLine(line) && pushText(PickleKind::string, unescape(line, false));
}

template <class Length, PickleKind Kind>
bool PickleMachine::opCounted()
{
    Length length = 0;
    return takeNumber(length) && pushSpan(Kind, length);
}

template <PickleKind Kind>
bool PickleMachine::opEmpty()
{
    return pushItems(Kind, {});
}

template <PickleKind Kind>
bool PickleMachine::opFromMark()
{
    std::vector<Ref> items;
    if (!popMark(items))
        return false;
    if (Kind == PickleKind::dict && items.size() % 2 != 0)
        return fail("bad_pickle", "a key without a value");
    return pushItems(Kind, items);
}

template <std::size_t Count>
bool PickleMachine::opTuple()
{
    std::array<Ref, Count> items = {};
    for (std::size_t i = Count; i-- > 0;)
        if (!pop(items[i]))
            return false;
    return pushItems(PickleKind::tuple, items);
}

bool PickleMachine::opAppend()
{
    std::array<Ref, 1> item = {};
    return pop(item[0]) && addTo(item, false);
}

bool PickleMachine::opAppends()
{
    std::vector<Ref> items;
    return popMark(items) && addTo(items, false);
}

bool PickleMachine::opSetItem()
{
    std::array<Ref, 2> pair = {};
    return pop(pair[1]) && pop(pair[0]) && addTo(pair, true);
}

bool PickleMachine::opSetItems()
{
    std::vector<Ref> items;
    return popMark(items) && addTo(items, true);
}

bool PickleMachine::opAddItems()
{
    return opAppends();
}

bool PickleMachine::opGlobal()
{
    std::string_view module;
    std::string_view name;
    Ref moduleRef = 0;
    Ref nameRef = 0;
    return takeLine(module) && takeLine(name) && pushText(PickleKind::string, std::string(module)) &&
           pop(moduleRef) && pushText(PickleKind::string, std::string(name)) && pop(nameRef) &&
           pushGlobal(moduleRef, nameRef);
}

bool PickleMachine::opStackGlobal()
{
    Ref module = 0;
    Ref name = 0;
    return pop(name) && pop(module) && pushGlobal(module, name);
}

bool PickleMachine::opReduce()
{
    Ref callable = 0;
    Ref args = 0;
    return pop(args) && pop(callable) && pushInstance(callable, args, false);
}

// A second BUILD of the same instance replaces the first state.
bool PickleMachine::opBuild()
{
    Ref state = 0;
    if (!pop(state))
        return false;
    if (m_stack.empty())
        return fail("stack_underflow", "BUILD without an object");
    const PickleGraph::Node &node = m_graph.m_nodes[m_stack.back()];
    if (node.kind == PickleKind::instance)
        m_graph.m_items[static_cast<std::uint32_t>(node.data) + 2] = state;
    return true;
}

bool PickleMachine::opInst()
{
    Ref callable = 0;
    Ref args = 0;
    std::vector<Ref> items;
    return popMark(items) && opGlobal() && pop(callable) && pushItems(PickleKind::tuple, items) &&
           pop(args) && pushInstance(callable, args, true);
}

bool PickleMachine::opObj()
{
    std::vector<Ref> items;
    if (!popMark(items))
        return false;
    if (items.empty())
        return fail("stack_underflow", "OBJ without a class");
    Ref args = 0;
    return pushItems(PickleKind::tuple, std::span(items).subspan(1)) && pop(args) &&
           pushInstance(items.front(), args, true);
}

bool PickleMachine::opNewObj()
{
    Ref callable = 0;
    Ref args = 0;
    return pop(args) && pop(callable) && pushInstance(callable, args, true);
}

bool PickleMachine::opNewObjEx()
{
    Ref keywords = 0; // kept nowhere: no reader of ours needs them
    return pop(keywords) && opNewObj();
}

bool PickleMachine::opPersId()
{
    std::string_view line;
    std::array<Ref, 1> id = {};
    return takeLine(line) && pushText(PickleKind::string, std::string(line)) && pop(id[0]) &&
           pushItems(PickleKind::persistent, id);
}

bool PickleMachine::opBinPersId()
{
    std::array<Ref, 1> id = {};
    return pop(id[0]) && pushItems(PickleKind::persistent, id);
}

bool PickleMachine::takeMemoIndex(std::uint64_t &out)
{
    std::string_view line;
    if (!takeLine(line))
        return false;
    if (std::from_chars(line.data(), line.data() + line.size(), out).ec != std::errc())
        return fail("bad_memo", "a memo index is no number");
    return true;
}

bool PickleMachine::opPut()
{
    std::uint64_t index = 0;
    return takeMemoIndex(index) && put(index);
}

bool PickleMachine::opBinPut()
{
    std::uint8_t index = 0;
    return takeNumber(index) && put(index);
}

bool PickleMachine::opLongBinPut()
{
    std::uint32_t index = 0;
    return takeNumber(index) && put(index);
}

bool PickleMachine::opMemoize()
{
    return put(m_memo.size() + m_sparseMemo.size());
}

bool PickleMachine::opGet()
{
    std::uint64_t index = 0;
    return takeMemoIndex(index) && get(index);
}

bool PickleMachine::opBinGet()
{
    std::uint8_t index = 0;
    return takeNumber(index) && get(index);
}

bool PickleMachine::opLongBinGet()
{
    std::uint32_t index = 0;
    return takeNumber(index) && get(index);
}

bool PickleMachine::opProto()
{
    std::uint8_t protocol = 0;
    if (!takeNumber(protocol))
        return false;
    return protocol <= 5 ||
           fail("unsupported_opcode", fmt::format("pickle protocol {}, the highest known is 5", protocol));
}

// A frame's length is a hint for reading ahead; what it holds is checked opcode by opcode.
bool PickleMachine::opFrame()
{
    std::uint64_t length = 0;
    return takeNumber(length);
}

bool PickleMachine::opStop()
{
    Ref root = 0;
    if (!pop(root))
        return false;
    m_graph.m_root = root;
    m_stopped = true;
    return true;
}

std::array<PickleMachine::Handler, 256> PickleMachine::makeTable()
{
    using M = PickleMachine;
    using K = PickleKind;
    std::array<Handler, 256> table = {};
    const auto set = [&table](unsigned char code, Handler handler) { table[code] = handler; };
    for (const auto &[code, handler] : std::initializer_list<std::pair<unsigned char, Handler>>{
             {'(', &M::opMark},         {'0', &M::opPop},       {'1', &M::opPopMark},
             {'2', &M::opDup},          {'N', &M::opNone},      {0x88, &M::opTrue},
             {0x89, &M::opFalse},       {'I', &M::opInt},       {'J', &M::opBinInt},
             {'K', &M::opBinInt1},      {'M', &M::opBinInt2},   {'L', &M::opLong},
             {0x8a, &M::opLong1},       {0x8b, &M::opLong4},    {'F', &M::opFloat},
             {'G', &M::opBinFloat},     {'S', &M::opString},    {'V', &M::opUnicode},
             {'a', &M::opAppend},       {'e', &M::opAppends},   {'s', &M::opSetItem},
             {'u', &M::opSetItems},     {0x90, &M::opAddItems}, {'c', &M::opGlobal},
             {0x93, &M::opStackGlobal}, {'R', &M::opReduce},    {'b', &M::opBuild},
             {'i', &M::opInst},         {'o', &M::opObj},       {0x81, &M::opNewObj},
             {0x92, &M::opNewObjEx},    {'P', &M::opPersId},    {'Q', &M::opBinPersId},
             {'p', &M::opPut},          {'q', &M::opBinPut},    {'r', &M::opLongBinPut},
             {0x94, &M::opMemoize},     {'g', &M::opGet},       {'h', &M::opBinGet},
             {'j', &M::opLongBinGet},   {0x80, &M::opProto},    {0x95, &M::opFrame},
             {'.', &M::opStop}})
        set(code, handler);
    set('U', &M::opCounted<std::uint8_t, K::string>);
    set('T', &M::opCounted<std::uint32_t, K::string>);
    set(0x8c, &M::opCounted<std::uint8_t, K::string>);
    set('X', &M::opCounted<std::uint32_t, K::string>);
    set(0x8d, &M::opCounted<std::uint64_t, K::string>);
    set('C', &M::opCounted<std::uint8_t, K::bytes>);
    set('B', &M::opCounted<std::uint32_t, K::bytes>);
    set(0x8e, &M::opCounted<std::uint64_t, K::bytes>);
    set(0x96, &M::opCounted<std::uint64_t, K::bytes>);
    set('}', &M::opEmpty<K::dict>);
    set(']', &M::opEmpty<K::list>);
    set(')', &M::opEmpty<K::tuple>);
    set(0x8f, &M::opEmpty<K::set>);
    set('d', &M::opFromMark<K::dict>);
    set('l', &M::opFromMark<K::list>);
    set('t', &M::opFromMark<K::tuple>);
    set(0x91, &M::opFromMark<K::frozenSet>);
    set(0x85, &M::opTuple<1>);
    set(0x86, &M::opTuple<2>);
    set(0x87, &M::opTuple<3>);
    return table;
}

} // namespace core
