// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/lineage_picture.h"

#include "core/graph/box_text.h"
#include "core/graph/graph_slice.h"

#include <algorithm>
#include <unordered_map>

namespace core {

namespace {

class LineageWalk
{
public:
    LineageWalk(const GraphTree &tree, const LineageOptions &options)
        : m_tree(tree), m_trace(tree.trace()), m_options(options)
    {
    }

    Lineage run()
    {
        const CallId start = m_trace.op(m_options.start).call;
        if (m_tree.position(start) == GraphTree::kNoPosition)
            return {};
        m_depth[start] = 0;
        spread(start, true, m_options.up);
        spread(start, false, m_options.down);
        std::vector<CallId> calls;
        for (const auto &[call, depth] : m_depth)
            calls.push_back(call);
        std::sort(calls.begin(), calls.end(),
                  [this](CallId a, CallId b) { return m_tree.position(a) < m_tree.position(b); });
        for (const CallId call : calls)
            addBox(call);
        for (const CallId call : calls)
            addEdges(call);
        m_out.startBox = m_boxes[start];
        m_out.picture.totalOps = m_tree.group(0).ops;
        return std::move(m_out);
    }

private:
    void spread(CallId start, bool up, std::uint32_t depth)
    {
        std::vector<CallId> front = {start};
        for (std::uint32_t step = 1; step <= depth && !front.empty(); ++step) {
            std::vector<CallId> next;
            for (const CallId call : front) {
                const Range rows = m_trace.call(call).rows;
                for (std::uint32_t i = 0; i < rows.count; ++i) {
                    const OpId op(rows.begin + i);
                    for (const OpId other : up ? m_trace.parents(op) : m_trace.children(op))
                        reach(m_trace.op(other).call, step, next);
                }
            }
            front = std::move(next);
        }
    }

    void reach(CallId call, std::uint32_t step, std::vector<CallId> &next)
    {
        if (m_tree.position(call) == GraphTree::kNoPosition || m_depth.count(call) != 0)
            return;
        if (m_depth.size() >= m_options.boxes) {
            m_out.truncated = true;
            return;
        }
        m_depth[call] = step;
        next.push_back(call);
    }

    void addBox(CallId call)
    {
        SliceItem item;
        item.call = call;
        PictureBox box;
        box.begin = m_tree.position(call);
        box.end = box.begin + 1;
        describeBox(m_tree, item, box);
        m_boxes[call] = static_cast<std::uint32_t>(m_out.picture.boxes.size());
        m_out.picture.boxes.push_back(std::move(box));
    }

    void addEdges(CallId call)
    {
        const std::uint32_t target = m_boxes[call];
        const Range rows = m_trace.call(call).rows;
        std::vector<std::uint32_t> seen;
        for (std::uint32_t i = 0; i < rows.count; ++i) {
            const OpId consumer(rows.begin + i);
            for (const OpId value : m_trace.parents(consumer)) {
                const auto source = m_boxes.find(m_trace.op(value).call);
                if (source == m_boxes.end() || source->second == target ||
                    std::find(seen.begin(), seen.end(), source->second) != seen.end())
                    continue;
                seen.push_back(source->second);
                PictureEdge edge;
                edge.from = source->second;
                edge.to = target;
                edge.kind = valueEdgeKind(m_tree, value, consumer);
                edge.value = value;
                edge.label = m_trace.publicLabel(value);
                m_out.picture.edges.push_back(std::move(edge));
            }
        }
    }

    const GraphTree &m_tree;
    const Trace &m_trace;
    const LineageOptions &m_options;
    std::unordered_map<CallId, std::uint32_t> m_depth;
    std::unordered_map<CallId, std::uint32_t> m_boxes;
    Lineage m_out;
};

class GradWalk
{
public:
    GradWalk(const Trace &trace, BackwardId backward, const GradientStatistics &statistics)
        : m_trace(trace), m_backward(backward), m_statistics(statistics)
    {
        m_fires.assign(trace.gradNodes().size(), nullptr);
        for (const GradFireRow &fire : trace.gradFires())
            if (!backward.isValid() || fire.backward == backward)
                m_fires[fire.node.index()] = &fire;
    }

    GraphPicture run(std::size_t most)
    {
        std::vector<GradNodeId> front;
        for (std::size_t i = 0; i < m_trace.backwards().size(); ++i)
            if (!m_backward.isValid() || m_backward.index() == i)
                for (const GradNodeId root : m_trace.gradNodeIds(m_trace.backwards()[i].roots))
                    reach(root, most, front);
        for (std::size_t at = 0; at < front.size(); ++at) {
            const GradNodeId node = front[at];
            for (const GradEdgeRow &edge : m_trace.nextEdges(node)) {
                reach(edge.node, most, front);
                if (const auto found = m_boxes.find(edge.node); found != m_boxes.end())
                    addEdge(m_boxes[node], found->second, edge.node);
            }
        }
        m_picture.totalOps = static_cast<std::uint32_t>(m_trace.gradNodes().size());
        return std::move(m_picture);
    }

private:
    void reach(GradNodeId node, std::size_t most, std::vector<GradNodeId> &front)
    {
        if (!node.isValid() || m_boxes.count(node) != 0 || m_boxes.size() >= most)
            return;
        m_boxes[node] = static_cast<std::uint32_t>(m_picture.boxes.size());
        m_picture.boxes.push_back(describe(node));
        front.push_back(node);
    }

    const TensorStats *statsOf(TensorId tensor) const
    {
        if (!tensor.isValid())
            return nullptr;
        return m_statistics ? m_statistics(tensor) : m_trace.stats(tensor);
    }

    bool anyBad(Range tensors, bool &measured) const
    {
        bool bad = false;
        for (const TensorId tensor : m_trace.tensorIds(tensors)) {
            const TensorStats *stats = statsOf(tensor);
            measured = measured || stats != nullptr;
            bad = bad || (stats != nullptr && !stats->isAllFinite());
        }
        return bad;
    }

    PictureBox describe(GradNodeId node) const
    {
        const GradNodeRow &row = m_trace.gradNode(node);
        PictureBox box;
        box.kind = BoxKind::gradient;
        box.gradNode = node;
        box.title = m_trace.string(row.className);
        box.fullName = box.title;
        if (row.call.isValid()) {
            box.op = OpId(m_trace.call(row.call).rows.begin);
            box.subtitle = m_trace.publicLabel(box.op);
            box.place = m_trace.moduleAddress(box.op);
        } else {
            box.subtitle = m_trace.string(row.parameter);
        }
        const GradFireRow *fire = m_fires[node.index()];
        if (fire == nullptr)
            return box;
        bool measuredIn = false;
        bool measuredOut = false;
        const bool in = anyBad(fire->arriving, measuredIn);
        const bool out = anyBad(fire->emitted, measuredOut);
        box.unchecked = !measuredIn && !measuredOut;
        if (out)
            box.state = in ? NodeState::propagated : NodeState::origin;
        else if (in)
            box.state = measuredOut ? NodeState::healed : NodeState::propagated;
        return box;
    }

    void addEdge(std::uint32_t from, std::uint32_t to, GradNodeId target)
    {
        PictureEdge edge;
        edge.from = from;
        edge.to = to;
        edge.kind = EdgeKind::gradient;
        edge.label = m_trace.string(m_trace.gradNode(target).className);
        if (from != to)
            m_picture.edges.push_back(std::move(edge));
    }

    const Trace &m_trace;
    BackwardId m_backward;
    const GradientStatistics &m_statistics;
    std::vector<const GradFireRow *> m_fires;
    std::unordered_map<GradNodeId, std::uint32_t> m_boxes;
    GraphPicture m_picture;
};

} // namespace

Lineage lineagePicture(const GraphTree &tree, const LineageOptions &options)
{
    return LineageWalk(tree, options).run();
}

GraphPicture gradPicture(const Trace &trace, BackwardId backward, std::size_t boxes,
                         const GradientStatistics &statistics)
{
    return GradWalk(trace, backward, statistics).run(boxes);
}

} // namespace core
