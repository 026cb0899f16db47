// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/hierarchy_layout.h"

#include "core/layout/layered_layouter.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace core {

namespace {

constexpr std::size_t kKeptLimit = 512;
constexpr double kPortWidth = 8.0;
constexpr double kPortHeight = 2.0;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29U);
}

std::uint64_t hashOf(const FlatGraph &graph)
{
    std::uint64_t hash = mix(1, graph.nodes.size());
    for (const FlatGraph::Node &node : graph.nodes) {
        hash = mix(hash, std::bit_cast<std::uint64_t>(node.width));
        hash = mix(hash, std::bit_cast<std::uint64_t>(node.height) + static_cast<std::uint64_t>(node.pin));
    }
    for (const FlatGraph::Edge &edge : graph.edges)
        hash = mix(hash, (static_cast<std::uint64_t>(edge.from) << 32U) | edge.to);
    return hash;
}

} // namespace

// One call of HierarchyLayout::layout.
class HierarchyRun
{
public:
    HierarchyRun(HierarchyLayout &owner, const LayoutRequest &request, JobContext &context)
        : m_owner(owner), m_request(request), m_context(context)
    {
    }

    Result<LayoutResult> run();

private:
    enum class ItemKind : std::uint8_t { node, cluster, inlet, outlet };
    // A box of one cluster's flat graph. ID: the node, the cluster, or the node whose value passes the frame.
    struct Item
    {
        ItemKind kind = ItemKind::node;
        std::uint32_t id = 0;
    };
    struct Scope
    {
        std::vector<Item> items;
        std::unordered_map<std::uint64_t, std::uint32_t> itemOf;
        std::unordered_map<std::uint64_t, std::uint32_t> edgeOf;
        FlatGraph graph;
        FlatLayout layout;
        double width = 0.0;
        double height = 0.0;
        double shiftX = 0.0; // of the flat layout inside the frame
        double shiftY = 0.0;
        Point origin; // of the frame in the picture
    };
    // One stretch of an edge: a flat edge of a cluster.
    struct Stretch
    {
        std::uint32_t cluster = 0;
        std::uint32_t flatEdge = 0;
    };

    void measureDepths();
    std::uint32_t itemFor(std::uint32_t cluster, ItemKind kind, std::uint32_t id);
    void addStretch(std::vector<Stretch> &route, std::uint32_t cluster, std::uint32_t from, std::uint32_t to);
    void routeEdge(std::uint32_t edge);
    Status placeCluster(std::uint32_t cluster);
    double portOffset(std::uint32_t cluster, ItemKind kind, std::uint32_t source) const;
    LayoutResult collect();
    std::vector<Point> line(std::uint32_t edge) const;

    HierarchyLayout &m_owner;
    const LayoutRequest &m_request;
    JobContext &m_context;
    std::vector<std::uint32_t> m_depth;
    std::vector<Scope> m_scopes;
    std::vector<std::vector<Stretch>> m_routes;
    std::string m_note;
};

void HierarchyRun::measureDepths()
{
    m_depth.assign(m_request.clusters.size(), 0);
    for (std::size_t i = 1; i < m_depth.size(); ++i)
        m_depth[i] = m_depth[m_request.clusters[i].parent] + 1;
}

std::uint32_t HierarchyRun::itemFor(std::uint32_t cluster, ItemKind kind, std::uint32_t id)
{
    Scope &scope = m_scopes[cluster];
    const std::uint64_t key = (static_cast<std::uint64_t>(kind) << 32U) | id;
    const auto [found, fresh] = scope.itemOf.try_emplace(key, static_cast<std::uint32_t>(scope.items.size()));
    if (fresh) {
        scope.items.push_back({kind, id});
        FlatGraph::Node node;
        if (kind == ItemKind::node) {
            node.width = m_request.nodes[id].width;
            node.height = m_request.nodes[id].height;
        } else if (kind != ItemKind::cluster) {
            node = {kPortWidth, kPortHeight,
                    kind == ItemKind::inlet ? FlatGraph::Pin::top : FlatGraph::Pin::bottom};
        }
        scope.graph.nodes.push_back(node);
    }
    return found->second;
}

void HierarchyRun::addStretch(std::vector<Stretch> &route, std::uint32_t cluster, std::uint32_t from,
                              std::uint32_t to)
{
    Scope &scope = m_scopes[cluster];
    const std::uint64_t key = (static_cast<std::uint64_t>(from) << 32U) | to;
    const auto [found, fresh] =
        scope.edgeOf.try_emplace(key, static_cast<std::uint32_t>(scope.graph.edges.size()));
    if (fresh)
        scope.graph.edges.push_back({from, to});
    route.push_back({cluster, found->second});
}

// Up from the producer to the cluster that holds both ends, then down to the consumer. The value leaves and
// enters each frame at one port, however many consumers it has there.
void HierarchyRun::routeEdge(std::uint32_t edge)
{
    const std::uint32_t source = m_request.edges[edge].from;
    const std::uint32_t target = m_request.edges[edge].to;
    std::uint32_t up = m_request.nodes[source].cluster;
    std::uint32_t down = m_request.nodes[target].cluster;
    std::uint32_t fromItem = itemFor(up, ItemKind::node, source);
    std::uint32_t toItem = itemFor(down, ItemKind::node, target);
    std::vector<Stretch> &route = m_routes[edge];
    std::vector<Stretch> tail;
    while (up != down) {
        if (m_depth[up] >= m_depth[down]) {
            addStretch(route, up, fromItem, itemFor(up, ItemKind::outlet, source));
            fromItem = itemFor(m_request.clusters[up].parent, ItemKind::cluster, up);
            up = m_request.clusters[up].parent;
        } else {
            addStretch(tail, down, itemFor(down, ItemKind::inlet, source), toItem);
            toItem = itemFor(m_request.clusters[down].parent, ItemKind::cluster, down);
            down = m_request.clusters[down].parent;
        }
    }
    addStretch(route, up, fromItem, toItem);
    route.insert(route.end(), tail.rbegin(), tail.rend());
}

double HierarchyRun::portOffset(std::uint32_t cluster, ItemKind kind, std::uint32_t source) const
{
    const Scope &scope = m_scopes[cluster];
    const auto found = scope.itemOf.find((static_cast<std::uint64_t>(kind) << 32U) | source);
    if (found == scope.itemOf.end())
        return 0.0;
    return scope.layout.centers[found->second].x + scope.shiftX - scope.width / 2.0;
}

Status HierarchyRun::placeCluster(std::uint32_t cluster)
{
    Scope &scope = m_scopes[cluster];
    for (std::size_t i = 0; i < scope.items.size(); ++i) {
        if (scope.items[i].kind == ItemKind::cluster) {
            scope.graph.nodes[i].width = m_scopes[scope.items[i].id].width;
            scope.graph.nodes[i].height = m_scopes[scope.items[i].id].height;
        }
    }
    const auto flat = m_owner.flat(scope.graph, m_context);
    if (!flat)
        return flat.error();
    scope.layout = (*flat)->layout;
    if (!(*flat)->note.empty())
        m_note = (*flat)->note;
    const double inner = scope.layout.width;
    if (cluster == 0) {
        scope.width = std::max(inner, 1.0);
        scope.height = std::max(scope.layout.height, 1.0);
        return Status::ok();
    }
    scope.width = std::max(inner + 2 * kClusterPadding, m_request.clusters[cluster].minimumWidth);
    scope.shiftX = (scope.width - inner) / 2.0;
    scope.shiftY = kClusterHeader;
    scope.height = scope.layout.height + kClusterHeader + kClusterPadding;
    return Status::ok();
}

std::vector<Point> HierarchyRun::line(std::uint32_t edge) const
{
    std::vector<Point> points;
    const std::uint32_t source = m_request.edges[edge].from;
    for (const Stretch &stretch : m_routes[edge]) {
        const Scope &scope = m_scopes[stretch.cluster];
        const FlatGraph::Edge &flat = scope.graph.edges[stretch.flatEdge];
        const double dx = scope.origin.x + scope.shiftX;
        const double dy = scope.origin.y + scope.shiftY;
        std::vector<Point> piece = scope.layout.lines[stretch.flatEdge];
        for (Point &point : piece)
            point = {point.x + dx, point.y + dy};
        // A piece meets an inner frame at the port of its own value.
        const Item &from = scope.items[flat.from];
        const Item &to = scope.items[flat.to];
        if (from.kind == ItemKind::cluster) {
            const Scope &inner = m_scopes[from.id];
            piece.front().x =
                inner.origin.x + inner.width / 2.0 + portOffset(from.id, ItemKind::outlet, source);
            piece.front().y = inner.origin.y + inner.height;
        }
        if (to.kind == ItemKind::cluster) {
            const Scope &inner = m_scopes[to.id];
            piece.back().x = inner.origin.x + inner.width / 2.0 + portOffset(to.id, ItemKind::inlet, source);
            piece.back().y = inner.origin.y;
        }
        for (const Point &point : piece)
            if (points.empty() || !(points.back() == point))
                points.push_back(point);
    }
    if (points.size() == 1)
        points.push_back(points.front());
    return points;
}

LayoutResult HierarchyRun::collect()
{
    LayoutResult result;
    result.id = m_request.id;
    result.nodes.resize(m_request.nodes.size());
    result.clusters.resize(m_scopes.size());
    for (std::uint32_t cluster = 0; cluster < m_scopes.size(); ++cluster) {
        const Scope &scope = m_scopes[cluster];
        result.clusters[cluster] = {scope.origin.x, scope.origin.y, scope.width, scope.height};
        for (std::size_t i = 0; i < scope.items.size(); ++i) {
            const FlatGraph::Node &box = scope.graph.nodes[i];
            const Point corner = {scope.origin.x + scope.shiftX + scope.layout.centers[i].x - box.width / 2.0,
                                  scope.origin.y + scope.shiftY + scope.layout.centers[i].y -
                                      box.height / 2.0};
            if (scope.items[i].kind == ItemKind::node)
                result.nodes[scope.items[i].id] = {corner.x, corner.y, box.width, box.height};
            else if (scope.items[i].kind == ItemKind::cluster)
                m_scopes[scope.items[i].id].origin = corner;
        }
    }
    for (std::uint32_t edge = 0; edge < m_routes.size(); ++edge)
        result.edges.push_back(line(edge));
    result.simplified = !m_note.empty();
    result.note = m_note;
    return result;
}

Result<LayoutResult> HierarchyRun::run()
{
    measureDepths();
    m_scopes.resize(m_request.clusters.size());
    m_routes.resize(m_request.edges.size());
    for (std::uint32_t node = 0; node < m_request.nodes.size(); ++node) {
        itemFor(m_request.nodes[node].cluster, ItemKind::node, node);
        for (std::uint32_t c = m_request.nodes[node].cluster; c != 0; c = m_request.clusters[c].parent)
            itemFor(m_request.clusters[c].parent, ItemKind::cluster, c);
    }
    for (std::uint32_t cluster = 1; cluster < m_request.clusters.size(); ++cluster)
        itemFor(m_request.clusters[cluster].parent, ItemKind::cluster, cluster); // those without nodes
    for (std::uint32_t edge = 0; edge < m_routes.size(); ++edge)
        routeEdge(edge);
    for (std::size_t i = m_scopes.size(); i-- > 0;) {
        if (Status status = m_context.checkpoint("layout"); !status)
            return status;
        if (Status status = placeCluster(static_cast<std::uint32_t>(i)); !status)
            return status;
    }
    return collect();
}

Result<const HierarchyLayout::Kept *> HierarchyLayout::flat(const FlatGraph &graph, JobContext &context)
{
    const std::uint64_t hash = hashOf(graph);
    if (const auto found = m_kept.find(hash); found != m_kept.end() && found->second.graph == graph)
        return &found->second;
    ++m_fresh;
    Kept kept;
    kept.graph = graph;
    const bool tooBig = graph.nodes.size() > kGraphvizNodeLimit || graph.edges.size() > kGraphvizEdgeLimit;
    if (tooBig)
        kept.note = std::to_string(graph.nodes.size()) + " boxes and " + std::to_string(graph.edges.size()) +
                    " edges in one module";
    LayeredLayouter layered;
    Result<FlatLayout> placed = tooBig ? layered.layout(graph, context) : m_layouter.layout(graph, context);
    if (!placed && placed.error().code() != ErrorCode::cancelled && !tooBig) {
        kept.note = placed.error().message();
        placed = layered.layout(graph, context);
    }
    if (!placed)
        return placed.error();
    kept.layout = std::move(*placed);
    if (m_kept.size() >= kKeptLimit)
        m_kept.clear();
    return &m_kept.insert_or_assign(hash, std::move(kept)).first->second;
}

Result<LayoutResult> HierarchyLayout::layout(const LayoutRequest &request, JobContext &context)
{
    if (Status status = checkLayoutRequest(request); !status)
        return status;
    m_fresh = 0;
    const auto start = std::chrono::steady_clock::now();
    Result<LayoutResult> result = HierarchyRun(*this, request, context).run();
    if (result)
        result->milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return result;
}

} // namespace core
