// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/gradfn/grad_fn_facts.h"

#include "core/analysis/trace_statistics.h"
#include "core/graph/lineage_picture.h"
#include "views/base/formatting.h"

#include <queue>
#include <unordered_map>
#include <vector>

namespace views {

namespace {

std::string tensorWords(const core::GradFnNode &node)
{
    if (node.shape.isNull())
        return {};
    std::string dtype = node.dtype;
    if (const std::size_t dot = dtype.rfind('.'); dot != std::string::npos)
        dtype.erase(0, dot + 1);
    if (const auto known = core::dtypeFromName(dtype)) // as the graph of ops writes it
        dtype = dtypeText(*known).toStdString();
    return (dtype.empty() ? std::string() : dtype + " ") + core::toJson(node.shape);
}

core::PictureBox boxOf(const core::Trace &trace, const core::GradFnNode &node)
{
    core::PictureBox box;
    box.kind = core::BoxKind::gradient;
    box.gradNode = node.node;
    box.op = node.op;
    box.title = box.fullName = node.name;
    if (node.op.isValid()) {
        box.subtitle = trace.publicLabel(node.op);
        box.place = trace.moduleAddress(node.op);
    }
    if (node.kind == core::GradFnKind::root) {
        box.kind = core::BoxKind::output;
        box.subtitle = tensorWords(node);
        if (node.op.isValid())
            box.title = trace.publicLabel(node.op);
    } else if (node.kind == core::GradFnKind::leaf) {
        box.kind = core::BoxKind::parameter;
        box.subtitle = tensorWords(node);
        if (!node.paramName.empty()) {
            box.title = node.paramName;
            box.place = node.name;
        }
    }
    return box;
}

// The states of the grad functions of the wished pass; of a pass without recorded statistics they are
// measured from the saved gradients.
core::Result<core::GraphPicture> statesOf(const GradFnWish &wish, const core::JobContext &job)
{
    const core::Trace &trace = *wish.trace;
    if (trace.backwards().empty())
        return core::GraphPicture();
    std::vector<core::TensorId> gradients;
    for (const core::GradFireRow &fire : trace.gradFires()) {
        if (wish.backward.isValid() && fire.backward != wish.backward)
            continue;
        for (const core::Range tensors : {fire.arriving, fire.emitted})
            for (const core::TensorId tensor : trace.tensorIds(tensors))
                gradients.push_back(tensor);
    }
    core::TraceStatistics statistics(wish.trace);
    if (core::Status status = statistics.prepare(gradients, job); !status)
        return status;
    return core::gradPicture(trace, wish.backward, trace.gradNodes().size(),
                             [&statistics](core::TensorId tensor) { return statistics.find(tensor); });
}

// Producers before consumers, which a layout without Graphviz goes by; where both ways would do, what the
// walk from the roots saw last comes first. What stands in a circle (no autograd graph has one) comes at the
// end.
std::vector<std::uint32_t> forwardOrder(const core::GradFnSketch &sketch)
{
    const auto count = static_cast<std::uint32_t>(sketch.nodes.size());
    std::vector<std::vector<std::uint32_t>> consumers(count);
    std::vector<std::uint32_t> waits(count, 0);
    for (const auto &[from, to] : sketch.edges)
        if (from != to) {
            consumers[from].push_back(to);
            ++waits[to];
        }
    std::priority_queue<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < count; ++i)
        if (waits[i] == 0)
            ready.push(i);
    std::vector<std::uint32_t> order;
    std::vector<bool> placed(count, false);
    while (!ready.empty()) {
        const std::uint32_t node = ready.top();
        ready.pop();
        placed[node] = true;
        order.push_back(node);
        for (const std::uint32_t consumer : consumers[node])
            if (--waits[consumer] == 0)
                ready.push(consumer);
    }
    for (std::uint32_t i = count; i-- > 0;)
        if (!placed[i])
            order.push_back(i);
    return order;
}

} // namespace

core::GraphPicture sketchPicture(const core::Trace &trace, const core::GradFnSketch &sketch,
                                 const core::GraphPicture &states)
{
    std::unordered_map<core::GradNodeId, const core::PictureBox *> known;
    for (const core::PictureBox &box : states.boxes)
        known[box.gradNode] = &box;
    core::GraphPicture picture;
    picture.totalOps = static_cast<std::uint32_t>(trace.gradNodes().size());
    const std::vector<std::uint32_t> order = forwardOrder(sketch);
    std::vector<std::uint32_t> boxOfNode(sketch.nodes.size());
    for (const std::uint32_t i : order) {
        const core::GradFnNode &node = sketch.nodes[i];
        boxOfNode[i] = static_cast<std::uint32_t>(picture.boxes.size());
        core::PictureBox box = boxOf(trace, node);
        if (const auto found = known.find(node.node); node.node.isValid() && found != known.end()) {
            box.state = found->second->state;
            box.unchecked = found->second->unchecked;
        } else if (node.node.isValid() && !trace.backwards().empty()) {
            // It did not fire in this pass: nobody looked at its gradients.
            box.unchecked = true;
        }
        picture.boxes.push_back(std::move(box));
    }
    for (const auto &[from, to] : sketch.edges) {
        if (from == to)
            continue;
        core::PictureEdge edge;
        edge.from = boxOfNode[from];
        edge.to = boxOfNode[to];
        edge.kind = core::EdgeKind::gradient;
        edge.label = picture.boxes[edge.from].title + " feeds " + picture.boxes[edge.to].title;
        picture.edges.push_back(std::move(edge));
    }
    return picture;
}

GradFnAnswer makeGradFnPicture(const GradFnWish &wish, const core::JobContext &job)
{
    GradFnAnswer answer;
    answer.wish = wish;
    const core::Result<core::GradFnSketch> sketch = core::walkGradFn(*wish.trace, wish.from, wish.nodes);
    if (!sketch) {
        answer.status = sketch.error();
        return answer;
    }
    answer.status = job.checkpoint("the grad_fn sketch");
    if (!answer.status)
        return answer;
    const core::Result<core::GraphPicture> states = statesOf(wish, job);
    if (!states) {
        answer.status = states.error();
        return answer;
    }
    answer.picture = sketchPicture(*wish.trace, *sketch, *states);
    answer.truncated = sketch->truncated;
    return answer;
}

} // namespace views
