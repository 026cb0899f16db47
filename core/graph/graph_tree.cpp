// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_tree.h"

#include <algorithm>
#include <utility>

namespace core {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value)
{
    return (hash ^ (value + 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL + (hash >> 31U);
}

} // namespace

GraphTree::GraphTree(std::shared_ptr<const Trace> trace, GraphMarks marks)
    : m_trace(std::move(trace)), m_marks(std::move(marks))
{
    m_positions.assign(m_trace->calls().size(), kNoPosition);
    m_groupOf.assign(m_trace->calls().size(), 0);
    m_groupOfCall.assign(m_trace->moduleCalls().size(), kNoPosition);
    m_groups.emplace_back();
    m_building.emplace_back();
    addLeaves();
    number();
    summarise();
}

// The group of a module call, made (with those around it) as the next child of its parent when it is new. A
// root module call is group 0.
std::uint32_t GraphTree::ensureGroup(ModuleCallId call)
{
    std::vector<ModuleCallId> missing;
    ModuleCallId at = call;
    while (at.isValid() && m_groupOfCall[at.index()] == kNoPosition &&
           missing.size() <= m_trace->moduleCalls().size()) {
        missing.push_back(at);
        at = m_trace->moduleCall(at).parent;
    }
    std::uint32_t parent = at.isValid() ? m_groupOfCall[at.index()] : 0;
    while (!missing.empty()) {
        const ModuleCallId next = missing.back();
        missing.pop_back();
        const ModuleCallRow &row = m_trace->moduleCall(next);
        const bool isRoot =
            row.module.isValid() && m_trace->string(m_trace->module(row.module).address).empty();
        if (isRoot && !row.parent.isValid()) {
            m_groupOfCall[next.index()] = 0;
            m_groups[0].call = m_groups[0].call.isValid() ? m_groups[0].call : next;
            parent = 0;
            continue;
        }
        const auto index = static_cast<std::uint32_t>(m_groups.size());
        GraphGroup group;
        group.call = next;
        group.parent = parent;
        group.depth = m_groups[parent].depth + 1;
        m_groups.push_back(group);
        m_building.emplace_back();
        m_building[parent].push_back({index, true});
        m_groupOfCall[next.index()] = index;
        parent = index;
    }
    return parent;
}

// The calls that are shown, in execution order. The rows of all buffers come first in a trace, also those
// that hold what an op wrote: they follow their op.
std::vector<CallId> GraphTree::leaves() const
{
    std::vector<bool> seen(m_trace->calls().size(), false);
    std::vector<CallId> order;
    std::vector<OpId> written;
    std::vector<std::size_t> place(m_trace->calls().size(), 0); // behind how many of ORDER a call stands
    for (const OpId op : m_trace->orderedOps()) {
        const CallId id = m_trace->op(op).call;
        if (seen[id.index()])
            continue;
        seen[id.index()] = true;
        if (m_trace->call(id).kind == CallKind::buffer) {
            if (!m_trace->parents(op).empty())
                written.push_back(op);
            continue;
        }
        order.push_back(id);
        place[id.index()] = order.size();
    }
    std::vector<std::pair<std::size_t, CallId>> behind;
    for (const OpId op : written) {
        std::size_t last = 0;
        for (const OpId parent : m_trace->parents(op))
            last = std::max(last, place[m_trace->op(parent).call.index()]);
        behind.emplace_back(last, m_trace->op(op).call);
    }
    std::stable_sort(behind.begin(), behind.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<CallId> all;
    all.reserve(order.size() + behind.size());
    auto next = behind.begin();
    for (std::size_t i = 0; i <= order.size(); ++i) {
        for (; next != behind.end() && next->first == i; ++next)
            all.push_back(next->second);
        if (i < order.size())
            all.push_back(order[i]);
    }
    return all;
}

void GraphTree::addLeaves()
{
    for (const CallId id : leaves()) {
        const CallRow &call = m_trace->call(id);
        const std::uint32_t group = call.moduleCall.isValid() ? ensureGroup(call.moduleCall) : 0;
        m_building[group].push_back({id.value(), false});
        m_groupOf[id.index()] = group;
    }
}

// Depth-first numbering without recursion: a file may nest modules as deep as it likes.
void GraphTree::number()
{
    for (std::size_t i = 0; i < m_groups.size(); ++i) {
        m_groups[i].entries = {static_cast<std::uint32_t>(m_entries.size()),
                               static_cast<std::uint32_t>(m_building[i].size())};
        m_entries.insert(m_entries.end(), m_building[i].begin(), m_building[i].end());
    }
    m_building.clear();
    struct Visit
    {
        std::uint32_t group;
        std::uint32_t next;
    };
    std::vector<Visit> path = {{0, 0}};
    while (!path.empty()) {
        Visit &visit = path.back();
        GraphGroup &group = m_groups[visit.group];
        if (visit.next == 0)
            group.begin = static_cast<std::uint32_t>(m_calls.size());
        if (visit.next == group.entries.count) {
            group.end = static_cast<std::uint32_t>(m_calls.size());
            path.pop_back();
            continue;
        }
        const GraphEntry entry = m_entries[group.entries.begin + visit.next++];
        if (entry.isGroup) {
            path.push_back({entry.value, 0});
        } else {
            m_positions[entry.value] = static_cast<std::uint32_t>(m_calls.size());
            m_calls.push_back(entry.call());
        }
    }
}

std::uint64_t GraphTree::callHash(CallId id) const
{
    const CallRow &call = m_trace->call(id);
    std::uint64_t hash = mix(static_cast<std::uint64_t>(call.kind), call.op.value());
    for (std::uint32_t i = 0; i < call.rows.count; ++i) {
        const TensorId tensor = m_trace->op(OpId(call.rows.begin + i)).tensor;
        if (!tensor.isValid())
            continue;
        hash = mix(hash, static_cast<std::uint64_t>(m_trace->tensor(tensor).dtype));
        for (const std::int64_t size : m_trace->shape(tensor))
            hash = mix(hash, static_cast<std::uint64_t>(size));
    }
    return hash;
}

// Children come after their parents, so one walk from the back sums up everything.
void GraphTree::summarise()
{
    for (std::size_t i = m_groups.size(); i-- > 0;) {
        GraphGroup &group = m_groups[i];
        std::uint64_t hash = 1;
        if (group.call.isValid() && m_trace->moduleCall(group.call).module.isValid())
            hash = mix(hash, m_trace->module(m_trace->moduleCall(group.call).module).className.value());
        for (const GraphEntry &entry : entries(group)) {
            if (entry.isGroup) {
                const GraphGroup &inner = m_groups[entry.value];
                hash = mix(hash, inner.structureHash);
                group.ops += inner.ops;
                group.state = std::max(group.state, inner.state);
                group.unchecked = group.unchecked || inner.unchecked;
                group.bornInBackward = group.bornInBackward || inner.bornInBackward;
            } else {
                hash = mix(hash, callHash(entry.call()));
                group.ops += m_trace->call(entry.call()).kind == CallKind::compute ? 1 : 0;
                group.state = std::max(group.state, stateOf(entry.call()));
                group.unchecked = group.unchecked || isUnchecked(entry.call());
                group.bornInBackward = group.bornInBackward || isBornInBackward(entry.call());
            }
        }
        group.structureHash = hash;
    }
}

NodeState GraphTree::stateOf(CallId id) const
{
    const Range rows = m_trace->call(id).rows;
    NodeState state = NodeState::clean;
    for (std::uint32_t i = 0; i < rows.count; ++i)
        state = std::max(state, m_marks.of(OpId(rows.begin + i)));
    return state;
}

bool GraphTree::isUnchecked(CallId id) const
{
    const Range rows = m_trace->call(id).rows;
    for (std::uint32_t i = 0; i < rows.count; ++i)
        if (core::isUnchecked(*m_trace, OpId(rows.begin + i)))
            return true;
    return false;
}

bool GraphTree::isBornInBackward(CallId id) const
{
    const Range rows = m_trace->call(id).rows;
    for (std::uint32_t i = 0; i < rows.count; ++i)
        if (m_marks.bornBackwardOf(OpId(rows.begin + i)) != nullptr)
            return true;
    return false;
}

std::uint32_t GraphTree::entryBegin(const GraphEntry &entry) const
{
    return entry.isGroup ? m_groups[entry.value].begin : m_positions[entry.value];
}

std::uint32_t GraphTree::entryEnd(const GraphEntry &entry) const
{
    return entry.isGroup ? m_groups[entry.value].end : m_positions[entry.value] + 1;
}

} // namespace core
