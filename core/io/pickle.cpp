// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/pickle.h"

#include "core/io/pickle_machine.h"

#include <bit>
#include <cmath>
#include <unordered_set>

namespace core {
namespace {

constexpr double kWholeLimit = 9.2e18; // doubles below convert to int64

} // namespace

Result<std::shared_ptr<const PickleGraph>>
PickleGraph::parse(std::shared_ptr<const std::vector<std::byte>> bytes, std::size_t offset,
                   std::string_view name, const PickleLimits &limits)
{
    std::shared_ptr<PickleGraph> graph(new PickleGraph);
    graph->m_bytes = std::move(bytes);
    PickleMachine machine(*graph, offset, std::string(name), limits);
    if (Status status = machine.run(); !status)
        return status;
    return std::shared_ptr<const PickleGraph>(std::move(graph));
}

std::span<const std::uint32_t> PickleGraph::items(const Node &node) const
{
    return std::span(m_items).subspan(static_cast<std::uint32_t>(node.data), node.count);
}

std::vector<PickleValue> PickleGraph::globals() const
{
    std::vector<PickleValue> found;
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        const PickleValue value(this, static_cast<std::uint32_t>(i));
        if (m_nodes[i].kind == PickleKind::global && seen.insert(value.fullName()).second)
            found.push_back(value);
    }
    return found;
}

PickleKind PickleValue::kind() const
{
    return isValid() ? m_graph->m_nodes[m_index].kind : PickleKind::none;
}

bool PickleValue::isNumber() const
{
    return is(PickleKind::integer) || is(PickleKind::real) || is(PickleKind::bigInteger);
}

bool PickleValue::toBool(bool fallback) const
{
    return is(PickleKind::boolean) || is(PickleKind::integer) ? m_graph->m_nodes[m_index].data != 0
                                                              : fallback;
}

std::int64_t PickleValue::toInt(std::int64_t fallback) const
{
    if (is(PickleKind::integer) || is(PickleKind::boolean))
        return static_cast<std::int64_t>(m_graph->m_nodes[m_index].data);
    if (!is(PickleKind::real))
        return fallback;
    const double real = toDouble();
    return std::floor(real) == real && std::fabs(real) < kWholeLimit ? static_cast<std::int64_t>(real)
                                                                     : fallback;
}

double PickleValue::toDouble(double fallback) const
{
    if (is(PickleKind::real))
        return std::bit_cast<double>(m_graph->m_nodes[m_index].data);
    if (is(PickleKind::integer))
        return static_cast<double>(static_cast<std::int64_t>(m_graph->m_nodes[m_index].data));
    if (!is(PickleKind::bigInteger))
        return fallback;
    const auto raw = bytes();
    double value = raw.empty() || (raw.back() & std::byte{0x80}) == std::byte{0} ? 0.0 : -1.0;
    for (std::size_t i = raw.size(); i-- > 0;)
        value = value * 256.0 + static_cast<double>(raw[i]);
    return value;
}

std::string_view PickleValue::text() const
{
    if (!is(PickleKind::string))
        return {};
    const auto raw = bytes();
    return {reinterpret_cast<const char *>(raw.data()), raw.size()};
}

std::span<const std::byte> PickleValue::bytes() const
{
    if (!is(PickleKind::string) && !is(PickleKind::bytes) && !is(PickleKind::bigInteger))
        return {};
    const auto &node = m_graph->m_nodes[m_index];
    if (node.flags != 0)
        return std::as_bytes(std::span(m_graph->m_texts[node.data]));
    return std::span(*m_graph->m_bytes).subspan(node.data, node.count);
}

std::size_t PickleValue::size() const
{
    switch (kind()) {
    case PickleKind::list:
    case PickleKind::tuple:
    case PickleKind::set:
    case PickleKind::frozenSet:
    case PickleKind::persistent:
        return m_graph->m_nodes[m_index].count;
    case PickleKind::dict:
        return m_graph->m_nodes[m_index].count / 2;
    default:
        return 0;
    }
}

PickleValue PickleValue::item(std::size_t i) const
{
    if (is(PickleKind::dict) || i >= size())
        return {};
    return {m_graph, m_graph->items(m_graph->m_nodes[m_index])[i]};
}

PickleValue PickleValue::key(std::size_t i) const
{
    if (!is(PickleKind::dict) || i >= size())
        return {};
    return {m_graph, m_graph->items(m_graph->m_nodes[m_index])[2 * i]};
}

PickleValue PickleValue::value(std::size_t i) const
{
    if (!is(PickleKind::dict) || i >= size())
        return {};
    return {m_graph, m_graph->items(m_graph->m_nodes[m_index])[2 * i + 1]};
}

PickleValue PickleValue::find(std::string_view wanted) const
{
    for (std::size_t i = is(PickleKind::dict) ? size() : 0; i-- > 0;)
        if (key(i).is(PickleKind::string) && key(i).text() == wanted)
            return value(i);
    return {};
}

PickleValue PickleValue::find(std::int64_t wanted) const
{
    for (std::size_t i = is(PickleKind::dict) ? size() : 0; i-- > 0;)
        if (key(i).is(PickleKind::integer) && key(i).toInt() == wanted)
            return value(i);
    return {};
}

std::string_view PickleValue::module() const
{
    if (!is(PickleKind::global))
        return {};
    return PickleValue(m_graph, m_graph->items(m_graph->m_nodes[m_index])[0]).text();
}

std::string_view PickleValue::name() const
{
    if (!is(PickleKind::global))
        return {};
    return PickleValue(m_graph, m_graph->items(m_graph->m_nodes[m_index])[1]).text();
}

std::string PickleValue::fullName() const
{
    if (is(PickleKind::instance))
        return callable().is(PickleKind::global) ? callable().fullName() : std::string();
    if (!is(PickleKind::global))
        return {};
    return std::string(module()) + '.' + std::string(name());
}

PickleValue PickleValue::part(std::size_t i) const
{
    if (!is(PickleKind::instance))
        return {};
    const std::uint32_t index = m_graph->items(m_graph->m_nodes[m_index])[i];
    return index == PickleGraph::kNoValue ? PickleValue() : PickleValue(m_graph, index);
}

bool PickleValue::isConstruction() const
{
    return is(PickleKind::instance) && m_graph->m_nodes[m_index].flags != 0;
}

} // namespace core
