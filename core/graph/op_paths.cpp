// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/op_paths.h"

#include <algorithm>

namespace core {

namespace {

constexpr std::uint32_t kUnseen = 0xffffffffU;

// A walk in breadth that remembers where it came from.
class Walk
{
public:
    Walk(const Trace &trace, OpId from) : m_trace(trace), m_cameFrom(trace.ops().size(), kUnseen)
    {
        m_cameFrom[from.index()] = static_cast<std::uint32_t>(from.index());
        m_queue.push_back(from);
    }

    // WANTED: where to stop. ALLOWED: where to go. FORWARD: towards consumers.
    template <class Wanted, class Allowed>
    OpId find(bool forward, Wanted wanted, Allowed allowed)
    {
        for (std::size_t next = 0; next < m_queue.size(); ++next) {
            const OpId op = m_queue[next];
            if (wanted(op))
                return op;
            OpId maker;
            for (const OpId neighbour : forward ? m_trace.children(op) : inputsOf(m_trace, op, maker)) {
                if (m_cameFrom[neighbour.index()] != kUnseen || !allowed(neighbour))
                    continue;
                m_cameFrom[neighbour.index()] = static_cast<std::uint32_t>(op.index());
                m_queue.push_back(neighbour);
            }
        }
        return {};
    }

    std::vector<OpId> pathTo(OpId end) const
    {
        std::vector<OpId> path = {end};
        while (m_cameFrom[path.back().index()] != path.back().index())
            path.emplace_back(m_cameFrom[path.back().index()]);
        std::reverse(path.begin(), path.end());
        return path;
    }
    const std::vector<OpId> &seen() const { return m_queue; }

private:
    const Trace &m_trace;
    std::vector<std::uint32_t> m_cameFrom;
    std::vector<OpId> m_queue;
};

} // namespace

std::vector<OpId> pathToOrigin(const Trace &trace, const GraphMarks &marks, OpId from)
{
    if (!from.isValid())
        return {};
    const auto isOrigin = [&](OpId op) { return marks.of(op) == NodeState::origin; };
    if (!isOrigin(from)) {
        Walk walk(trace, from);
        const OpId found = walk.find(false, isOrigin, [](OpId) { return true; });
        return found.isValid() ? walk.pathTo(found) : std::vector<OpId>();
    }
    Walk walk(trace, from);
    const auto isBad = [&](OpId op) { return marks.of(op) != NodeState::clean; };
    const OpId reached = walk.find(
        true, [&](OpId op) { return marks.of(op) == NodeState::reached; }, isBad);
    return walk.pathTo(reached.isValid() ? reached : walk.seen().back());
}

std::vector<OpId> connectedOps(const Trace &trace, OpId from)
{
    if (!from.isValid())
        return {};
    std::vector<OpId> ops;
    for (const bool forward : {false, true}) {
        Walk walk(trace, from);
        walk.find(
            forward, [](OpId) { return false; }, [](OpId) { return true; });
        ops.insert(ops.end(), walk.seen().begin() + (forward ? 1 : 0), walk.seen().end());
    }
    return ops;
}

} // namespace core
