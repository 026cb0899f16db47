// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/graph_layouter.h"

#include <string>

namespace core {

// Graphviz' dot with polyline edges (orthogonal ones abort or take gigabytes). Not thread safe, not
// cancellable, and memory hungry on bad graphs: only layout_worker owns one, under limits of time and address
// space.
class GraphvizLayouter : public GraphLayouter
{
public:
    GraphvizLayouter();
    ~GraphvizLayouter() override;
    GraphvizLayouter(const GraphvizLayouter &) = delete;
    GraphvizLayouter &operator=(const GraphvizLayouter &) = delete;

    Result<FlatLayout> layout(const FlatGraph &graph, JobContext &context) override;
    std::string_view name() const override { return "dot"; }
    // "2.42.2"; of the library that is loaded.
    std::string version() const;

private:
    void *m_context = nullptr; // GVC_t
};

} // namespace core
