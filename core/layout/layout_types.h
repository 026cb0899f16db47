// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace core {

// A box to place. WIDTH and HEIGHT in pixels at 100 %; CLUSTER is the open module it stands in.
struct LayoutNode
{
    double width = 0.0;
    double height = 0.0;
    std::uint32_t cluster = 0;

    bool operator==(const LayoutNode &) const = default;
};

// An open module: a frame around its nodes and clusters, with a header. Cluster 0 is the whole picture and
// has no frame. A parent comes before its children.
struct LayoutCluster
{
    std::uint32_t parent = 0;
    double minimumWidth = 0.0; // what its header needs

    bool operator==(const LayoutCluster &) const = default;
};

// An arrow between two nodes, in whatever clusters they are.
struct LayoutEdge
{
    std::uint32_t from = 0;
    std::uint32_t to = 0;

    bool operator==(const LayoutEdge &) const = default;
};

// What to place. ID is the asker's and comes back with the answer, so that a late answer is known as one.
struct LayoutRequest
{
    std::uint64_t id = 0;
    std::vector<LayoutNode> nodes;
    std::vector<LayoutCluster> clusters = {LayoutCluster()};
    std::vector<LayoutEdge> edges;

    bool operator==(const LayoutRequest &) const = default;
};

// Where everything is: rectangles by node and by cluster, a line by edge (from the border of one node to that
// of the other, at least two points). SIMPLIFIED: some part was placed by the layered layout of our own, and
// NOTE says which and why.
struct LayoutResult
{
    std::uint64_t id = 0;
    std::vector<Rect> nodes;
    std::vector<Rect> clusters;
    std::vector<std::vector<Point>> edges;
    double milliseconds = 0.0;
    bool simplified = false;
    std::string note;

    Rect bounds() const { return clusters.empty() ? Rect() : clusters.front(); }
    bool operator==(const LayoutResult &) const = default;
};

// Above these a part of the picture is not given to Graphviz.
inline constexpr std::size_t kGraphvizNodeLimit = 1000;
inline constexpr std::size_t kGraphvizEdgeLimit = 4000;
inline constexpr double kLayoutSecondsLimit = 10.0;

// Space between things, in pixels at 100 %.
inline constexpr double kNodeSeparation = 24.0;
inline constexpr double kRankSeparation = 26.0;
inline constexpr double kClusterPadding = 16.0;
inline constexpr double kClusterHeader = 30.0;

// invalidArgument, naming the item, when an index is out of range, a size is not a positive number below 1e6,
// or a cluster comes before its parent.
Status checkLayoutRequest(const LayoutRequest &request);
// protocol when RESULT does not answer REQUEST: other counts, or numbers that are not finite.
Status checkLayoutResult(const LayoutRequest &request, const LayoutResult &result);

// The wire form, for core/ipc frames. Decoding takes any bytes.
std::vector<std::byte> encodeLayoutRequest(const LayoutRequest &request);
Result<LayoutRequest> decodeLayoutRequest(std::span<const std::byte> bytes);
std::vector<std::byte> encodeLayoutResult(const LayoutResult &result);
Result<LayoutResult> decodeLayoutResult(std::span<const std::byte> bytes);

// Frame types of layout_worker (core/ipc/messages.h).
inline constexpr std::uint16_t kLayoutRequestFrame = 0x101;
inline constexpr std::uint16_t kLayoutResultFrame = 0x102;
// Asks what the worker lays out with; answered by a done message whose summary is {"graphviz_version": ...}.
inline constexpr std::uint16_t kLayoutAboutFrame = 0x103;

} // namespace core
