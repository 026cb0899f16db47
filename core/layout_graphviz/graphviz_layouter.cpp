// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout_graphviz/graphviz_layouter.h"

#include "core/layout/layout_types.h"

#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>

namespace core {

namespace {

constexpr double kPointsPerInch = 72.0; // a pixel at 100 % is a point here

// Locale-free: dot reads numbers in the C locale.
std::string number(double value)
{
    std::array<char, 40> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, 5);
    return {buffer.data(), end.ptr};
}

// One dot run; the graph is freed with it.
class DotRun
{
public:
    DotRun(GVC_t *context, const FlatGraph &graph) : m_context(context), m_graph(graph)
    {
        std::string name = "flat";
        m_dot = agopen(name.data(), Agdirected, nullptr);
    }
    ~DotRun()
    {
        if (m_placed)
            gvFreeLayout(m_context, m_dot);
        if (m_dot != nullptr)
            agclose(m_dot);
    }
    DotRun(const DotRun &) = delete;
    DotRun &operator=(const DotRun &) = delete;

    Result<FlatLayout> run()
    {
        if (m_dot == nullptr)
            return Status(ErrorCode::internal, "dot: no graph");
        declare();
        addNodes();
        addEdges();
        if (gvLayout(m_context, m_dot, "dot") != 0)
            return Status(ErrorCode::internal,
                          "dot: gave no layout for " + std::to_string(m_graph.nodes.size()) + " boxes");
        m_placed = true;
        return read();
    }

private:
    void setDefault(int kind, const char *name, const char *value)
    {
        agattr(m_dot, kind, const_cast<char *>(name), const_cast<char *>(value));
    }
    void set(void *object, const char *name, const std::string &value)
    {
        agset(object, const_cast<char *>(name), const_cast<char *>(value.c_str()));
    }

    void declare()
    {
        setDefault(AGRAPH, "splines", "polyline");
        setDefault(AGRAPH, "rankdir", "TB");
        setDefault(AGRAPH, "rank", "");
        setDefault(AGRAPH, "nodesep", number(kNodeSeparation / kPointsPerInch).c_str());
        setDefault(AGRAPH, "ranksep", number(kRankSeparation / kPointsPerInch).c_str());
        setDefault(AGNODE, "shape", "box");
        setDefault(AGNODE, "fixedsize", "true");
        setDefault(AGNODE, "label", "");
        setDefault(AGNODE, "width", "1");
        setDefault(AGNODE, "height", "1");
        setDefault(AGEDGE, "arrowhead", "none");
    }

    void addNodes()
    {
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const FlatGraph::Node &node = m_graph.nodes[i];
            Agraph_t *home = m_dot;
            if (node.pin != FlatGraph::Pin::none)
                home = pinned(node.pin);
            std::string name = "n" + std::to_string(i);
            Agnode_t *made = agnode(home, name.data(), 1);
            set(made, "width", number(node.width / kPointsPerInch));
            set(made, "height", number(node.height / kPointsPerInch));
            m_nodes.push_back(made);
        }
    }

    Agraph_t *pinned(FlatGraph::Pin pin)
    {
        const bool top = pin == FlatGraph::Pin::top;
        std::string name = top ? "inlets" : "outlets";
        Agraph_t *sub = agsubg(m_dot, name.data(), 1);
        set(sub, "rank", top ? "source" : "sink");
        return sub;
    }

    void addEdges()
    {
        for (std::size_t i = 0; i < m_graph.edges.size(); ++i) {
            std::string name = "e" + std::to_string(i);
            m_edges.push_back(
                agedge(m_dot, m_nodes[m_graph.edges[i].from], m_nodes[m_graph.edges[i].to], name.data(), 1));
        }
    }

    Point flipped(double x, double y) const { return {x - m_left, m_top - y}; }

    Result<FlatLayout> read()
    {
        const boxf box = GD_bb(m_dot);
        m_left = box.LL.x;
        m_top = box.UR.y;
        FlatLayout out;
        out.width = box.UR.x - box.LL.x;
        out.height = box.UR.y - box.LL.y;
        for (Agnode_t *node : m_nodes)
            out.centers.push_back(flipped(ND_coord(node).x, ND_coord(node).y));
        for (std::size_t i = 0; i < m_edges.size(); ++i)
            out.lines.push_back(readLine(i, out));
        return out;
    }

    // A polyline comes as Bezier pieces whose handles lie on straight lines: every third point is a corner.
    std::vector<Point> readLine(std::size_t index, const FlatLayout &out) const
    {
        const FlatGraph::Edge &edge = m_graph.edges[index];
        const splines *line = ED_spl(m_edges[index]);
        std::vector<Point> points;
        for (std::size_t piece = 0; line != nullptr && piece < static_cast<std::size_t>(line->size);
             ++piece) {
            const bezier &curve = line->list[piece];
            for (std::size_t i = 0; i < static_cast<std::size_t>(curve.size); i += 3) {
                const Point point = flipped(curve.list[i].x, curve.list[i].y);
                const bool repeats = !points.empty() && std::abs(points.back().x - point.x) < 0.01 &&
                                     std::abs(points.back().y - point.y) < 0.01;
                if (!repeats)
                    points.push_back(point);
            }
        }
        if (points.size() < 2)
            points = {out.centers[edge.from], out.centers[edge.to]};
        const auto squared = [](Point a, Point b) {
            return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
        };
        // dot may give the line from head to tail.
        if (squared(points.front(), out.centers[edge.from]) + squared(points.back(), out.centers[edge.to]) >
            squared(points.back(), out.centers[edge.from]) + squared(points.front(), out.centers[edge.to]))
            std::reverse(points.begin(), points.end());
        return points;
    }

    GVC_t *m_context;
    const FlatGraph &m_graph;
    Agraph_t *m_dot = nullptr;
    bool m_placed = false;
    std::vector<Agnode_t *> m_nodes;
    std::vector<Agedge_t *> m_edges;
    double m_left = 0.0;
    double m_top = 0.0;
};

} // namespace

GraphvizLayouter::GraphvizLayouter() : m_context(gvContext())
{
    agseterr(AGMAX); // nothing on standard error
}

GraphvizLayouter::~GraphvizLayouter()
{
    gvFreeContext(static_cast<GVC_t *>(m_context));
}

std::string GraphvizLayouter::version() const
{
    const char *const text = gvcVersion(static_cast<GVC_t *>(m_context));
    return text == nullptr ? std::string() : text;
}

Result<FlatLayout> GraphvizLayouter::layout(const FlatGraph &graph, JobContext &context)
{
    if (Status status = context.checkpoint("layout"); !status)
        return status;
    if (graph.nodes.empty())
        return FlatLayout();
    return DotRun(static_cast<GVC_t *>(m_context), graph).run();
}

} // namespace core
