// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {

PickleMachine::PickleMachine(PickleGraph &graph, std::size_t offset, std::string name,
                             const PickleLimits &limits)
    : m_graph(graph), m_bytes(*graph.m_bytes), m_name(std::move(name)), m_limits(limits), m_start(offset),
      m_at(std::min(offset, m_bytes.size()))
{
}

Status PickleMachine::run()
{
    static const std::array<Handler, 256> kTable = makeTable();
    if (m_bytes.size() - m_at > m_limits.bytes || m_bytes.size() >= PickleGraph::kNoValue)
        m_bytes = m_bytes.first(std::min<std::size_t>(m_at + m_limits.bytes, PickleGraph::kNoValue - 1));
    m_graph.m_nodes.reserve(std::min<std::size_t>((m_bytes.size() - m_at) / 8, std::size_t(1) << 20U));
    while (!m_stopped) {
        if (m_at >= m_bytes.size()) {
            fail("truncated", "the pickle ends without its STOP opcode");
            break;
        }
        const Handler handler = kTable[static_cast<std::uint8_t>(m_bytes[m_at])];
        if (handler == nullptr) {
            fail("unsupported_opcode", fmt::format("opcode 0x{:02x} is not one that is interpreted",
                                                   static_cast<unsigned>(m_bytes[m_at])));
            break;
        }
        ++m_at;
        if (!(this->*handler)())
            break;
    }
    m_graph.m_end = m_at;
    return m_error;
}

bool PickleMachine::fail(std::string_view token, std::string_view what)
{
    m_error = Status(ErrorCode::corrupt,
                     fmt::format("{}: {} (byte {} of the pickle)", m_name, what, m_at - m_start))
                  .withDetail(std::string(token));
    return false;
}

bool PickleMachine::failLimit(std::string_view token, std::string_view what)
{
    m_error =
        Status(ErrorCode::limitExceeded, fmt::format("{}: {}", m_name, what)).withDetail(std::string(token));
    return false;
}

bool PickleMachine::take(std::size_t length, std::span<const std::byte> &out)
{
    if (length > m_bytes.size() - m_at)
        return fail("truncated",
                    fmt::format("{} bytes are announced, {} are left", length, m_bytes.size() - m_at));
    out = m_bytes.subspan(m_at, length);
    m_at += length;
    return true;
}

bool PickleMachine::takeLine(std::string_view &out)
{
    const std::string_view rest(reinterpret_cast<const char *>(m_bytes.data()) + m_at, m_bytes.size() - m_at);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos)
        return fail("truncated", "a text argument has no end");
    out = rest.substr(0, end);
    m_at += end + 1;
    return true;
}

bool PickleMachine::push(PickleGraph::Node node)
{
    if (m_graph.m_nodes.size() >= m_limits.values)
        return failLimit("too_many_values",
                         fmt::format("the pickle makes more than {} values", m_limits.values));
    m_graph.m_nodes.push_back(node);
    m_stack.push_back(static_cast<Ref>(m_graph.m_nodes.size() - 1));
    return true;
}

// References cost memory without making values: DUP and GET count against the same limit.
bool PickleMachine::pushRef(Ref ref)
{
    if (m_stack.size() >= m_limits.values)
        return failLimit("too_many_values", fmt::format("the stack grows beyond {} values", m_limits.values));
    m_stack.push_back(ref);
    return true;
}

bool PickleMachine::pop(Ref &out)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() <= floor)
        return fail("stack_underflow", "an opcode needs a value and the stack is empty");
    out = m_stack.back();
    m_stack.pop_back();
    return true;
}

bool PickleMachine::popMark(std::vector<Ref> &out)
{
    if (m_marks.empty())
        return fail("stack_underflow", "an opcode needs a mark and there is none");
    out.assign(m_stack.begin() + static_cast<std::ptrdiff_t>(m_marks.back()), m_stack.end());
    m_stack.resize(m_marks.back());
    m_marks.pop_back();
    return true;
}

bool PickleMachine::pushItems(PickleKind kind, std::span<const Ref> items)
{
    PickleGraph::Node node;
    node.kind = kind;
    node.count = static_cast<std::uint32_t>(items.size());
    node.data = m_graph.m_items.size() | (std::uint64_t(items.size()) << 32U);
    if (m_graph.m_items.size() + items.size() >= PickleGraph::kNoValue)
        return failLimit("too_many_values", "the containers hold too many values");
    m_graph.m_items.insert(m_graph.m_items.end(), items.begin(), items.end());
    return push(node);
}

// Items of one container stand together. One that is full and not at the end of the array moves there with
// twice the room.
bool PickleMachine::appendItems(Ref container, std::span<const Ref> items)
{
    auto &all = m_graph.m_items;
    PickleGraph::Node &node = m_graph.m_nodes[container];
    std::size_t first = static_cast<std::uint32_t>(node.data);
    std::size_t room = node.data >> 32U;
    const std::size_t wanted = node.count + items.size();
    if (wanted > room) {
        const std::size_t grown = node.count == 0 ? wanted : std::max(wanted, 2 * room);
        const bool atEnd = first + room == all.size();
        if (all.size() + grown >= PickleGraph::kNoValue || all.size() + grown > 4 * m_limits.values)
            return failLimit("too_many_values", "the containers hold too many values");
        if (!atEnd) {
            first = all.size();
            all.resize(first + grown, PickleGraph::kNoValue);
            std::copy_n(all.begin() + static_cast<std::uint32_t>(node.data), node.count,
                        all.begin() + static_cast<std::ptrdiff_t>(first));
        } else {
            all.resize(first + grown, PickleGraph::kNoValue);
        }
        room = grown;
    }
    std::copy(items.begin(), items.end(), all.begin() + static_cast<std::ptrdiff_t>(first + node.count));
    node.count = static_cast<std::uint32_t>(wanted);
    node.data = first | (std::uint64_t(room) << 32U);
    return true;
}

bool PickleMachine::pushSpan(PickleKind kind, std::uint64_t length)
{
    std::span<const std::byte> bytes;
    const std::size_t start = m_at;
    if (length > m_bytes.size())
        return fail("truncated",
                    fmt::format("{} bytes are announced, {} are left", length, m_bytes.size() - m_at));
    if (!take(length, bytes))
        return false;
    return push({start, static_cast<std::uint32_t>(length), kind, 0});
}

bool PickleMachine::pushText(PickleKind kind, std::string text)
{
    const auto length = static_cast<std::uint32_t>(text.size());
    m_graph.m_texts.push_back(std::move(text));
    return push({m_graph.m_texts.size() - 1, length, kind, 1});
}

bool PickleMachine::pushGlobal(Ref module, Ref name)
{
    if (m_graph.m_nodes[module].kind != PickleKind::string ||
        m_graph.m_nodes[name].kind != PickleKind::string)
        return fail("bad_pickle", "a global is named by values that are no strings");
    const std::array<Ref, 2> parts = {module, name};
    return pushItems(PickleKind::global, parts);
}

bool PickleMachine::pushInstance(Ref callable, Ref args, bool construction)
{
    constexpr Ref kNo = PickleGraph::kNoValue;
    const std::array<Ref, 5> parts = {callable, args, kNo, kNo, kNo};
    if (!pushItems(PickleKind::instance, parts))
        return false;
    m_graph.m_nodes.back().flags = construction ? 1 : 0;
    return true;
}

// ITEMS go to the container on top of the stack, or to the list or dict part of an instance there.
bool PickleMachine::addTo(std::span<const Ref> items, bool pairs)
{
    if (pairs && items.size() % 2 != 0)
        return fail("bad_pickle", "a key without a value");
    if (m_stack.size() <= (m_marks.empty() ? 0 : m_marks.back()))
        return fail("stack_underflow", "items are added and no container is on the stack");
    const Ref container = m_stack.back();
    const PickleKind kind = m_graph.m_nodes[container].kind;
    if (kind == (pairs ? PickleKind::dict : PickleKind::list) || (!pairs && kind == PickleKind::set))
        return appendItems(container, items);
    if (kind != PickleKind::instance)
        return fail("bad_pickle", "items are added to a value that cannot hold them");
    const std::size_t slot = static_cast<std::uint32_t>(m_graph.m_nodes[container].data) + (pairs ? 4 : 3);
    if (m_graph.m_items[slot] == PickleGraph::kNoValue) {
        if (!pushItems(pairs ? PickleKind::dict : PickleKind::list, {}))
            return false;
        m_graph.m_items[slot] = m_stack.back();
        m_stack.pop_back();
    }
    return appendItems(m_graph.m_items[slot], items);
}

bool PickleMachine::put(std::uint64_t index)
{
    if (m_stack.empty())
        return fail("stack_underflow", "a value is remembered and the stack is empty");
    if (index < m_memo.size())
        m_memo[index] = m_stack.back();
    else if (index == m_memo.size())
        m_memo.push_back(m_stack.back());
    else
        m_sparseMemo[index] = m_stack.back();
    return true;
}

bool PickleMachine::get(std::uint64_t index)
{
    if (index < m_memo.size())
        return pushRef(m_memo[index]);
    const auto found = m_sparseMemo.find(index);
    if (found == m_sparseMemo.end())
        return fail("bad_memo", fmt::format("memo entry {} is used and was never written", index));
    return pushRef(found->second);
}

bool PickleMachine::pushBigInteger(std::uint64_t length)
{
    if (length > m_limits.longBytes)
        return failLimit("too_many_values",
                         fmt::format("an integer of {} bytes, the limit is {}", length, m_limits.longBytes));
    std::span<const std::byte> bytes;
    const std::size_t start = m_at;
    if (!take(length, bytes))
        return false;
    if (length > sizeof(std::uint64_t))
        return push({start, static_cast<std::uint32_t>(length), PickleKind::bigInteger, 0});
    std::uint64_t value =
        bytes.empty() || (bytes.back() & std::byte{0x80}) == std::byte{0} ? 0 : ~std::uint64_t(0);
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = (value << 8U) | static_cast<std::uint64_t>(bytes[i]);
    return push({value, 0, PickleKind::integer, 0});
}

} // namespace core
