// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/graph_layouter.h"
#include "core/layout/layout_types.h"

#include <cstdint>
#include <unordered_map>

namespace core {

// Places nested clusters, the innermost first, each by itself as a flat graph in which an inner cluster is
// one box and an edge that crosses the frame passes an inlet or an outlet. Keeps the flat layouts it made, so
// that unfolding one module lays out that module and those around it only. A flat graph over the limits, or
// one that the layouter refuses, is placed by the layered layout of our own. Owned by whoever asks for
// layouts; one thread.
class HierarchyLayout
{
public:
    // LAYOUTER must outlive this.
    explicit HierarchyLayout(GraphLayouter &layouter) : m_layouter(layouter) {}

    // invalidArgument for a request that does not hold together, cancelled, else a result.
    Result<LayoutResult> layout(const LayoutRequest &request, JobContext &context);

    // How many flat layouts the last call made anew.
    std::size_t freshLayouts() const { return m_fresh; }

private:
    struct Kept
    {
        FlatGraph graph;
        FlatLayout layout;
        std::string note; // why it is simplified, or empty
    };

    Result<const Kept *> flat(const FlatGraph &graph, JobContext &context);

    friend class HierarchyRun;

    GraphLayouter &m_layouter;
    std::unordered_map<std::uint64_t, Kept> m_kept;
    std::size_t m_fresh = 0;
};

} // namespace core
