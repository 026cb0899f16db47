// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"
#include "core/base/job_context.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace core {

// A graph without nesting: the inside of one open module. Pinned nodes are its inlets (first rank) and
// outlets (last rank).
struct FlatGraph
{
    enum class Pin : std::uint8_t { none, top, bottom };
    struct Node
    {
        double width = 0.0;
        double height = 0.0;
        Pin pin = Pin::none;
        bool operator==(const Node &) const = default;
    };
    struct Edge
    {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        bool operator==(const Edge &) const = default;
    };
    std::vector<Node> nodes;
    std::vector<Edge> edges; // no two alike, none from a node to itself

    bool operator==(const FlatGraph &) const = default;
};

// Middles of the nodes, lines of the edges, all within (0, 0, width, height).
struct FlatLayout
{
    std::vector<Point> centers;
    std::vector<std::vector<Point>> lines;
    double width = 0.0;
    double height = 0.0;
};

// Places a flat graph top to bottom along its edges. Deterministic.
class GraphLayouter
{
public:
    virtual ~GraphLayouter() = default;

    virtual Result<FlatLayout> layout(const FlatGraph &graph, JobContext &context) = 0;
    virtual std::string_view name() const = 0;
};

} // namespace core
