// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/layered_layouter.h"

#include "core/layout/layout_types.h"
#include "core/layout/row_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace core {

namespace {

constexpr std::size_t kBendLimit = 60000; // with more bends, long edges are drawn straight
constexpr double kBendWidth = 6.0;
constexpr int kSweeps = 8;

// The graph with a bend for every rank a long edge passes, so that all links join neighbouring ranks.
class Layers
{
public:
    Layers(const FlatGraph &graph, JobContext &context) : m_graph(graph), m_context(context) {}

    Result<FlatLayout> run();

private:
    struct Cell
    {
        double width = 0.0;
        std::uint32_t rank = 0;
        std::uint32_t node = 0; // of the graph, or the edge it bends
        bool isBend = false;
        double x = 0.0;
        std::vector<std::uint32_t> above;
        std::vector<std::uint32_t> below;
    };

    void orient();
    void rank();
    void pullDown();
    void addBends();
    void orderRows();
    void sortRow(std::vector<std::uint32_t> &row, bool fromAbove);
    void placeRow(const std::vector<std::uint32_t> &row, bool fromAbove, bool fromBelow);
    void place();
    FlatLayout result() const;
    std::vector<double> rowTops(std::vector<double> &heights) const;
    std::vector<Point> line(std::uint32_t edge, const std::vector<double> &tops,
                            const std::vector<double> &heights) const;

    const FlatGraph &m_graph;
    JobContext &m_context;
    std::vector<std::uint32_t> m_from; // edges turned so that they point down
    std::vector<std::uint32_t> m_to;
    std::vector<std::uint32_t> m_rank;
    std::vector<Cell> m_cells;
    std::vector<std::vector<std::uint32_t>> m_rows;
    std::vector<std::vector<std::uint32_t>> m_bends; // of each edge, top to bottom
};

// Nodes come in execution order, so an edge that points back is the one that closes a cycle.
void Layers::orient()
{
    const auto key = [this](std::uint32_t node) {
        const auto pin = m_graph.nodes[node].pin;
        const std::uint64_t band = pin == FlatGraph::Pin::top ? 0 : pin == FlatGraph::Pin::none ? 1 : 2;
        return (band << 32U) | node;
    };
    for (const FlatGraph::Edge &edge : m_graph.edges) {
        const bool down = key(edge.from) < key(edge.to);
        m_from.push_back(down ? edge.from : edge.to);
        m_to.push_back(down ? edge.to : edge.from);
    }
}

void Layers::rank()
{
    const std::size_t count = m_graph.nodes.size();
    std::vector<std::uint32_t> waiting(count, 0);
    std::vector<std::uint32_t> starts(count + 1, 0);
    for (std::size_t i = 0; i < m_to.size(); ++i) {
        ++waiting[m_to[i]];
        ++starts[m_from[i] + 1];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::uint32_t> targets(m_to.size());
    std::vector<std::uint32_t> fill(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < m_to.size(); ++i)
        targets[fill[m_from[i]]++] = m_to[i];
    bool hasInlets = false;
    for (const FlatGraph::Node &node : m_graph.nodes)
        hasInlets = hasInlets || node.pin == FlatGraph::Pin::top;
    m_rank.assign(count, 0);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (hasInlets && m_graph.nodes[i].pin != FlatGraph::Pin::top)
            m_rank[i] = 1;
        if (waiting[i] == 0)
            ready.push_back(i);
    }
    for (std::size_t at = 0; at < ready.size(); ++at) {
        const std::uint32_t node = ready[at];
        for (std::uint32_t i = starts[node]; i < starts[node + 1]; ++i) {
            m_rank[targets[i]] = std::max(m_rank[targets[i]], m_rank[node] + 1);
            if (--waiting[targets[i]] == 0)
                ready.push_back(targets[i]);
        }
    }
}

// A node without inputs stands just above its first consumer, an outlet in a last rank of its own.
void Layers::pullDown()
{
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < m_rank.size(); ++i)
        if (m_graph.nodes[i].pin != FlatGraph::Pin::bottom)
            last = std::max(last, m_rank[i]);
    std::vector<std::uint32_t> lowest(m_rank.size(), std::numeric_limits<std::uint32_t>::max());
    std::vector<bool> hasInput(m_rank.size(), false);
    for (std::size_t i = 0; i < m_to.size(); ++i) {
        hasInput[m_to[i]] = true;
        if (m_graph.nodes[m_to[i]].pin != FlatGraph::Pin::bottom)
            lowest[m_from[i]] = std::min(lowest[m_from[i]], m_rank[m_to[i]]);
    }
    for (std::size_t i = 0; i < m_rank.size(); ++i) {
        if (m_graph.nodes[i].pin == FlatGraph::Pin::bottom)
            m_rank[i] = last + 1;
        else if (m_graph.nodes[i].pin == FlatGraph::Pin::none && !hasInput[i] &&
                 lowest[i] != std::numeric_limits<std::uint32_t>::max())
            m_rank[i] = std::max(m_rank[i], lowest[i] - 1);
    }
}

void Layers::addBends()
{
    std::uint32_t rows = 0;
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
        Cell cell;
        cell.width = m_graph.nodes[i].width;
        cell.rank = m_rank[i];
        cell.node = static_cast<std::uint32_t>(i);
        m_cells.push_back(std::move(cell));
        rows = std::max(rows, m_rank[i] + 1);
    }
    std::size_t bends = 0;
    for (std::size_t i = 0; i < m_to.size(); ++i)
        bends += m_rank[m_to[i]] > m_rank[m_from[i]] ? m_rank[m_to[i]] - m_rank[m_from[i]] - 1 : 0;
    m_bends.resize(m_to.size());
    m_rows.resize(rows);
    for (std::uint32_t edge = 0; edge < m_to.size(); ++edge) {
        std::uint32_t above = m_from[edge];
        if (bends <= kBendLimit) {
            for (std::uint32_t rank = m_rank[m_from[edge]] + 1; rank < m_rank[m_to[edge]]; ++rank) {
                Cell bend;
                bend.width = kBendWidth;
                bend.rank = rank;
                bend.node = edge;
                bend.isBend = true;
                const auto index = static_cast<std::uint32_t>(m_cells.size());
                m_cells.push_back(std::move(bend));
                m_bends[edge].push_back(index);
                m_cells[above].below.push_back(index);
                m_cells[index].above.push_back(above);
                above = index;
            }
        }
        m_cells[above].below.push_back(m_to[edge]);
        m_cells[m_to[edge]].above.push_back(above);
    }
    for (std::uint32_t i = 0; i < m_cells.size(); ++i)
        m_rows[m_cells[i].rank].push_back(i);
}

void Layers::sortRow(std::vector<std::uint32_t> &row, bool fromAbove)
{
    std::vector<std::pair<double, std::uint32_t>> keyed;
    keyed.reserve(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::vector<std::uint32_t> &links = fromAbove ? m_cells[row[i]].above : m_cells[row[i]].below;
        double sum = 0.0;
        for (const std::uint32_t other : links)
            sum += m_cells[other].x;
        const double key = links.empty() ? m_cells[row[i]].x : sum / static_cast<double>(links.size());
        keyed.emplace_back(key, row[i]);
    }
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto &left, const auto &right) { return left.first < right.first; });
    for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = keyed[i].second;
        m_cells[row[i]].x = static_cast<double>(i) - static_cast<double>(row.size() - 1) / 2.0;
    }
}

void Layers::orderRows()
{
    for (std::vector<std::uint32_t> &row : m_rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            m_cells[row[i]].x = static_cast<double>(i) - static_cast<double>(row.size() - 1) / 2.0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        for (std::size_t i = 1; i < m_rows.size(); ++i)
            sortRow(m_rows[i], true);
        for (std::size_t i = m_rows.size(); i-- > 1;)
            sortRow(m_rows[i - 1], false);
    }
}

void Layers::placeRow(const std::vector<std::uint32_t> &row, bool fromAbove, bool fromBelow)
{
    std::vector<RowItem> items;
    items.reserve(row.size());
    for (const std::uint32_t index : row) {
        const Cell &cell = m_cells[index];
        std::vector<double> wishes;
        for (const std::uint32_t other : cell.above)
            if (fromAbove)
                wishes.push_back(m_cells[other].x);
        for (const std::uint32_t other : cell.below)
            if (fromBelow)
                wishes.push_back(m_cells[other].x);
        items.push_back({cell.width, wishes.empty() ? cell.x : medianOf(wishes),
                         wishes.empty() ? 0.05
                         : cell.isBend  ? 4.0
                                        : 1.0});
    }
    const std::vector<double> places = placeInRow(items, kNodeSeparation);
    for (std::size_t i = 0; i < row.size(); ++i)
        m_cells[row[i]].x = places[i];
}

void Layers::place()
{
    for (const std::vector<std::uint32_t> &row : m_rows)
        placeRow(row, false, false);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        for (std::size_t i = 1; i < m_rows.size(); ++i)
            placeRow(m_rows[i], true, false);
        for (std::size_t i = m_rows.size(); i-- > 1;)
            placeRow(m_rows[i - 1], false, true);
    }
    for (const std::vector<std::uint32_t> &row : m_rows)
        placeRow(row, true, true);
}

std::vector<double> Layers::rowTops(std::vector<double> &heights) const
{
    heights.assign(m_rows.size(), 0.0);
    for (const Cell &cell : m_cells)
        if (!cell.isBend)
            heights[cell.rank] = std::max(heights[cell.rank], m_graph.nodes[cell.node].height);
    std::vector<double> tops;
    double top = 0.0;
    for (const double height : heights) {
        tops.push_back(top);
        top += height + kRankSeparation;
    }
    return tops;
}

std::vector<Point> Layers::line(std::uint32_t edge, const std::vector<double> &tops,
                                const std::vector<double> &heights) const
{
    const bool turned = m_graph.edges[edge].from != m_from[edge];
    const Cell &from = m_cells[m_from[edge]];
    const Cell &to = m_cells[m_to[edge]];
    const auto middle = [&](const Cell &cell) { return tops[cell.rank] + heights[cell.rank] / 2.0; };
    std::vector<Point> points;
    points.push_back({from.x, middle(from) + m_graph.nodes[from.node].height / 2.0});
    for (const std::uint32_t index : m_bends[edge]) {
        const Cell &bend = m_cells[index];
        points.push_back({bend.x, tops[bend.rank]});
        points.push_back({bend.x, tops[bend.rank] + heights[bend.rank]});
    }
    points.push_back({to.x, middle(to) - m_graph.nodes[to.node].height / 2.0});
    if (turned)
        std::reverse(points.begin(), points.end());
    return points;
}

FlatLayout Layers::result() const
{
    FlatLayout out;
    double left = 0.0;
    double right = 0.0;
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        const double half = m_cells[i].width / 2.0;
        left = i == 0 ? m_cells[i].x - half : std::min(left, m_cells[i].x - half);
        right = i == 0 ? m_cells[i].x + half : std::max(right, m_cells[i].x + half);
    }
    std::vector<double> heights;
    const std::vector<double> tops = rowTops(heights);
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i)
        out.centers.push_back({m_cells[i].x - left, tops[m_cells[i].rank] + heights[m_cells[i].rank] / 2.0});
    for (std::uint32_t edge = 0; edge < m_to.size(); ++edge) {
        out.lines.push_back(line(edge, tops, heights));
        for (Point &point : out.lines.back())
            point.x -= left;
    }
    out.width = right - left;
    out.height = tops.empty() ? 0.0 : tops.back() + heights.back();
    return out;
}

Result<FlatLayout> Layers::run()
{
    orient();
    rank();
    pullDown();
    addBends();
    if (Status status = m_context.checkpoint("layout"); !status)
        return status;
    orderRows();
    if (Status status = m_context.checkpoint("layout"); !status)
        return status;
    place();
    return result();
}

} // namespace

Result<FlatLayout> LayeredLayouter::layout(const FlatGraph &graph, JobContext &context)
{
    if (graph.nodes.empty())
        return FlatLayout();
    return Layers(graph, context).run();
}

} // namespace core
