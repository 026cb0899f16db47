// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_slice.h"

#include "core/graph/box_text.h"
#include "core/graph/slice_walk.h"

#include <algorithm>
#include <unordered_map>

namespace core {

namespace {

constexpr std::uint32_t kStubRows = 2; // a side

class SliceBuilder
{
public:
    SliceBuilder(const GraphTree &tree, const GraphFolds &folds) : m_tree(tree), m_folds(folds) {}

    GraphSlice build()
    {
        m_out.boxOfPosition.assign(m_tree.calls().size(), kNoBox);
        addItems(rootItem(m_tree), 0);
        collectEdges();
        settleShared();
        for (std::uint32_t i = 0; i < m_out.picture.boxes.size(); ++i)
            addStubs(i);
        for (PictureEdge &edge : m_out.picture.edges)
            label(edge);
        m_out.picture.totalOps = m_tree.group(0).ops;
        return std::move(m_out);
    }

private:
    // A value with many consumers, seen in these boxes.
    struct Shared
    {
        std::uint32_t producer = kNoBox;
        EdgeKind kind = EdgeKind::data;
        std::uint32_t uses = 0;
        std::vector<std::uint32_t> boxes;
    };

    void addItems(const SliceItem &part, std::uint32_t cluster);
    void addBox(const SliceItem &item, std::uint32_t cluster);
    std::uint32_t addCluster(const SliceItem &item, std::uint32_t parent);
    void collectEdges();
    void collect(OpId value, OpId consumer, std::uint32_t target);
    void addEdge(std::uint32_t from, std::uint32_t to, EdgeKind kind, OpId value);
    void settleShared();
    void addStubs(std::uint32_t box);
    void addPill(std::uint32_t box, bool atProducer, const std::vector<OpId> &values,
                 const std::string &text);
    void label(PictureEdge &edge) const;
    std::uint32_t distinctConsumers(OpId value);

    std::pair<std::uint32_t, std::uint32_t> range(const SliceItem &item) const
    {
        const auto entries = m_tree.entries(m_tree.group(item.owner));
        return {m_tree.entryBegin(entries[item.firstEntry]), m_tree.entryEnd(entries[item.pastEntry - 1])};
    }

    const GraphTree &m_tree;
    const GraphFolds &m_folds;
    GraphSlice m_out;
    std::unordered_map<std::uint64_t, std::uint32_t> m_edgeOf;
    std::unordered_map<OpId, Shared> m_shared;
    std::vector<OpId> m_sharedOrder;
    std::unordered_map<OpId, std::uint32_t> m_consumers;
    std::unordered_map<std::uint32_t, std::vector<OpId>> m_stubValues;   // by consumer box
    std::unordered_map<std::uint32_t, std::vector<OpId>> m_stubProducts; // by producer box
};

std::uint32_t SliceBuilder::addCluster(const SliceItem &item, std::uint32_t parent)
{
    PictureCluster cluster;
    cluster.parent = parent;
    std::tie(cluster.begin, cluster.end) = range(item);
    describeCluster(m_tree, item, cluster);
    m_out.picture.clusters.push_back(std::move(cluster));
    return static_cast<std::uint32_t>(m_out.picture.clusters.size() - 1);
}

void SliceBuilder::addBox(const SliceItem &item, std::uint32_t cluster)
{
    PictureBox box;
    box.cluster = cluster;
    std::tie(box.begin, box.end) = range(item);
    describeBox(m_tree, item, box);
    const auto index = static_cast<std::uint32_t>(m_out.picture.boxes.size());
    std::fill(m_out.boxOfPosition.begin() + box.begin, m_out.boxOfPosition.begin() + box.end, index);
    m_out.picture.boxes.push_back(std::move(box));
}

// An explicit stack, the children of an open part being put back in front, keeps execution order without
// recursion.
void SliceBuilder::addItems(const SliceItem &root, std::uint32_t cluster)
{
    struct Waiting
    {
        SliceItem item;
        std::uint32_t cluster;
    };
    std::vector<Waiting> waiting;
    const auto push = [&](const SliceItem &part, std::uint32_t into) {
        std::vector<SliceItem> items = sliceItems(m_tree, m_folds, part);
        for (std::size_t i = items.size(); i-- > 0;)
            waiting.push_back({items[i], into});
    };
    push(root, cluster);
    while (!waiting.empty()) {
        const Waiting next = waiting.back();
        waiting.pop_back();
        const auto [begin, end] = range(next.item);
        if (begin >= end)
            continue; // a module call without leaves
        if (next.item.isOpen)
            push(next.item, addCluster(next.item, next.cluster));
        else
            addBox(next.item, next.cluster);
    }
}

std::uint32_t SliceBuilder::distinctConsumers(OpId value)
{
    const Trace &trace = m_tree.trace();
    const std::span<const OpId> children = trace.children(value);
    if (children.size() <= kMostDrawnConsumers)
        return static_cast<std::uint32_t>(children.size());
    const auto [found, fresh] = m_consumers.try_emplace(value, 0);
    if (fresh) {
        std::vector<CallId> calls;
        for (const OpId child : children)
            calls.push_back(trace.op(child).call);
        std::sort(calls.begin(), calls.end());
        found->second = static_cast<std::uint32_t>(std::unique(calls.begin(), calls.end()) - calls.begin());
    }
    return found->second;
}

void SliceBuilder::addEdge(std::uint32_t from, std::uint32_t to, EdgeKind kind, OpId value)
{
    const std::uint64_t key = (static_cast<std::uint64_t>(from) << 32U) | to;
    const auto [found, fresh] =
        m_edgeOf.try_emplace(key, static_cast<std::uint32_t>(m_out.picture.edges.size()));
    if (fresh) {
        m_out.picture.edges.push_back({from, to, kind, 1, value, {}});
        return;
    }
    PictureEdge &edge = m_out.picture.edges[found->second];
    if (edge.value == value)
        return;
    ++edge.count;
    if (kind > edge.kind) { // the worst tensor stands for all
        edge.kind = kind;
        edge.value = value;
    } else if (kind == EdgeKind::data && edge.kind == EdgeKind::alias) {
        edge.kind = kind;
    }
}

void SliceBuilder::collect(OpId value, OpId consumer, std::uint32_t target)
{
    const Trace &trace = m_tree.trace();
    const std::uint32_t position = m_tree.position(trace.op(value).call);
    const std::uint32_t source = position == GraphTree::kNoPosition ? kNoBox : m_out.boxOfPosition[position];
    if (source == target)
        return;
    const bool isBuffer = source == kNoBox;
    if (!isBuffer &&
        (distinctConsumers(value) <= kMostDrawnConsumers || m_folds.drawnValues.count(value) != 0)) {
        addEdge(source, target, valueEdgeKind(m_tree, value, consumer), value);
        return;
    }
    const auto [found, fresh] = m_shared.try_emplace(value);
    Shared &shared = found->second;
    if (fresh) {
        shared.producer = source;
        m_sharedOrder.push_back(value);
    }
    shared.kind = std::max(shared.kind, valueEdgeKind(m_tree, value, consumer));
    ++shared.uses;
    if (shared.boxes.empty() || shared.boxes.back() != target)
        shared.boxes.push_back(target);
}

void SliceBuilder::collectEdges()
{
    const Trace &trace = m_tree.trace();
    for (std::uint32_t at = 0; at < m_out.boxOfPosition.size(); ++at) {
        const std::uint32_t target = m_out.boxOfPosition[at];
        if (target == kNoBox)
            continue;
        const Range rows = trace.call(m_tree.calls()[at]).rows;
        for (std::uint32_t i = 0; i < rows.count; ++i) {
            const OpId consumer(rows.begin + i);
            OpId maker;
            for (const OpId value : inputsOf(trace, consumer, maker))
                collect(value, consumer, target);
        }
    }
}

// Only now is it known in how many boxes a shared value is seen.
void SliceBuilder::settleShared()
{
    for (const OpId value : m_sharedOrder) {
        Shared &shared = m_shared[value];
        std::sort(shared.boxes.begin(), shared.boxes.end());
        shared.boxes.erase(std::unique(shared.boxes.begin(), shared.boxes.end()), shared.boxes.end());
        if (shared.producer != kNoBox && shared.boxes.size() == 1) {
            addEdge(shared.producer, shared.boxes[0], shared.kind, value);
            continue;
        }
        for (const std::uint32_t box : shared.boxes) {
            // A folded box reads its own buffers: no news.
            if (shared.producer == kNoBox && m_out.picture.boxes[box].kind != BoxKind::op)
                continue;
            m_stubValues[box].push_back(value);
            ++m_out.picture.stubbedEdges;
        }
        if (shared.producer != kNoBox)
            m_stubProducts[shared.producer].push_back(value);
    }
}

void SliceBuilder::addPill(std::uint32_t box, bool atProducer, const std::vector<OpId> &values,
                           const std::string &text)
{
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    for (std::size_t i = m_out.picture.stubs.size(); i-- > 0 && m_out.picture.stubs[i].box == box;)
        ++(m_out.picture.stubs[i].onLeft ? left : right);
    PictureStub stub;
    stub.box = box;
    stub.atProducer = atProducer;
    stub.onLeft = !atProducer && left <= right && left < kStubRows;
    stub.row = stub.onLeft ? left : right;
    stub.text = text;
    stub.values = values;
    m_out.picture.stubs.push_back(std::move(stub));
}

void SliceBuilder::addStubs(std::uint32_t box)
{
    if (const auto products = m_stubProducts.find(box); products != m_stubProducts.end()) {
        std::uint32_t uses = 0;
        for (const OpId value : products->second)
            uses += m_shared[value].uses;
        addPill(box, true, products->second, std::to_string(uses) + " uses");
    }
    const auto found = m_stubValues.find(box);
    if (found == m_stubValues.end())
        return;
    const std::vector<OpId> &values = found->second;
    const std::size_t pills = std::min<std::size_t>(values.size(), 2);
    const std::string first = valueName(m_tree.trace(), values[0]);
    addPill(box, false, {values[0]}, first);
    if (pills < 2)
        return;
    std::string second = valueName(m_tree.trace(), values[1]);
    if (values.size() > 2)
        second += " +" + std::to_string(values.size() - 2);
    addPill(box, false, {values.begin() + 1, values.end()}, second);
}

void SliceBuilder::label(PictureEdge &edge) const
{
    const Trace &trace = m_tree.trace();
    edge.label = trace.publicLabel(edge.value);
    const TensorId tensor = trace.op(edge.value).tensor;
    if (tensor.isValid())
        edge.label += "  " + tensorWords(trace, tensor);
    if (edge.count > 1)
        edge.label += " and " + std::to_string(edge.count - 1) + " more";
}

} // namespace

std::uint32_t GraphSlice::boxOf(const GraphTree &tree, CallId call) const
{
    const std::uint32_t position = tree.position(call);
    return position == GraphTree::kNoPosition ? kNoBox : boxOfPosition[position];
}

EdgeKind valueEdgeKind(const GraphTree &tree, OpId value, OpId consumer)
{
    const Trace &trace = tree.trace();
    const TensorStats *stats = tree.stats(trace.op(value).tensor);
    if (stats != nullptr && stats->nan > 0)
        return EdgeKind::nan;
    if (stats != nullptr && stats->posInf + stats->negInf > 0)
        return EdgeKind::inf;
    return trace.callOf(consumer).view ? EdgeKind::alias : EdgeKind::data;
}

GraphSlice graphSlice(const GraphTree &tree, const GraphFolds &folds)
{
    return SliceBuilder(tree, folds).build();
}

} // namespace core
