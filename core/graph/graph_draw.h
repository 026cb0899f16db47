// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"
#include "core/graph/graph_picture.h"
#include "core/layout/layout_types.h"

#include <cstdint>
#include <vector>

namespace core {

// HitId::kind of the regions of a graph's draw list. INDEX is that of a box, edge, stub or cluster.
enum class GraphHit : std::uint16_t { none, box, edge, stub, cluster, clusterFold, boxUnfold };

// How much of a box is drawn.
enum class DetailLevel : std::uint8_t { bar, name, normal, full };
DetailLevel detailLevel(double zoom); // below 25 %, to 60 %, to 110 %, above

// What a picture looks like at one moment; all but ZOOM may be left out.
struct GraphLook
{
    double zoom = 1.0;
    Rect visible;                        // in pixels at 100 %; what is outside is left out. Empty: everything
    std::vector<std::uint32_t> selected; // boxes
    std::uint32_t selectedCluster = 0;
    std::uint32_t selectedEdge = 0xffffffffU;
    HitId hovered;
    std::vector<bool> matches;    // by box, of a find; empty: no find
    std::vector<bool> emphasised; // by box; others are dimmed. Empty: all
    bool pathEdges = false;       // edges between emphasised boxes are drawn as a path
};

// The picture of a placed graph, pure: the same arguments give the same list. Coordinates are those of LAYOUT
// times the zoom. Items are frames, edges, then boxes; every visible box, edge, stub and frame has a hit
// region.
DrawList drawGraph(const GraphPicture &picture, const LayoutResult &layout, const GraphLook &look);

// Picture of where everything is, scaled into SIZE: boxes as bars, alerts as diamonds, VIEWPORT (in pixels at
// 100 %) as an outline.
DrawList drawGraphMap(const GraphPicture &picture, const LayoutResult &layout, const Rect &size,
                      const Rect &viewport);

} // namespace core
