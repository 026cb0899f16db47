// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/layout_types.h"

#include "core/base/byte_codec.h"

#include <cmath>

namespace core {

namespace {

bool isSize(double value)
{
    return std::isfinite(value) && value > 0.0 && value < 1e6;
}

void write(ByteWriter &out, const Rect &rect)
{
    out.f64(rect.x);
    out.f64(rect.y);
    out.f64(rect.width);
    out.f64(rect.height);
}

Rect readRect(ByteReader &in)
{
    Rect rect;
    rect.x = in.f64();
    rect.y = in.f64();
    rect.width = in.f64();
    rect.height = in.f64();
    return rect;
}

std::vector<Rect> readRects(ByteReader &in)
{
    std::vector<Rect> rects(in.count(32));
    for (Rect &rect : rects)
        rect = readRect(in);
    return rects;
}

Status checkNode(const LayoutRequest &request, std::size_t index)
{
    const LayoutNode &node = request.nodes[index];
    if (node.cluster >= request.clusters.size())
        return {ErrorCode::invalidArgument, "layout node " + std::to_string(index) + ": stands in cluster " +
                                                std::to_string(node.cluster) + " of " +
                                                std::to_string(request.clusters.size())};
    if (!isSize(node.width) || !isSize(node.height))
        return {ErrorCode::invalidArgument, "layout node " + std::to_string(index) + ": its size is " +
                                                std::to_string(node.width) + " x " +
                                                std::to_string(node.height)};
    return Status::ok();
}

} // namespace

Status checkLayoutRequest(const LayoutRequest &request)
{
    if (request.clusters.empty())
        return {ErrorCode::invalidArgument, "layout request: has no cluster, cluster 0 is the whole picture"};
    for (std::size_t i = 1; i < request.clusters.size(); ++i) {
        const LayoutCluster &cluster = request.clusters[i];
        if (cluster.parent >= i)
            return {ErrorCode::invalidArgument, "layout cluster " + std::to_string(i) +
                                                    ": comes before its parent " +
                                                    std::to_string(cluster.parent)};
        if (!(cluster.minimumWidth >= 0.0 && cluster.minimumWidth < 1e6))
            return {ErrorCode::invalidArgument, "layout cluster " + std::to_string(i) + ": its width is " +
                                                    std::to_string(cluster.minimumWidth)};
    }
    for (std::size_t i = 0; i < request.nodes.size(); ++i)
        if (Status status = checkNode(request, i); !status)
            return status;
    for (std::size_t i = 0; i < request.edges.size(); ++i) {
        const LayoutEdge &edge = request.edges[i];
        if (edge.from >= request.nodes.size() || edge.to >= request.nodes.size() || edge.from == edge.to)
            return {ErrorCode::invalidArgument,
                    "layout edge " + std::to_string(i) + ": joins nodes " + std::to_string(edge.from) +
                        " and " + std::to_string(edge.to) + " of " + std::to_string(request.nodes.size())};
    }
    return Status::ok();
}

Status checkLayoutResult(const LayoutRequest &request, const LayoutResult &result)
{
    if (result.nodes.size() != request.nodes.size() || result.clusters.size() != request.clusters.size() ||
        result.edges.size() != request.edges.size())
        return {ErrorCode::protocol, "layout result: places " + std::to_string(result.nodes.size()) +
                                         " nodes, " + std::to_string(request.nodes.size()) +
                                         " were asked for"};
    const auto finite = [](const Rect &rect) {
        return std::isfinite(rect.x) && std::isfinite(rect.y) && isSize(rect.width) && isSize(rect.height);
    };
    for (std::size_t i = 0; i < result.nodes.size(); ++i)
        if (!finite(result.nodes[i]))
            return {ErrorCode::protocol, "layout result: node " + std::to_string(i) + " has no finite place"};
    for (std::size_t i = 0; i < result.edges.size(); ++i) {
        bool good = result.edges[i].size() >= 2;
        for (const Point &point : result.edges[i])
            good = good && std::isfinite(point.x) && std::isfinite(point.y);
        if (!good)
            return {ErrorCode::protocol, "layout result: edge " + std::to_string(i) + " has no finite line"};
    }
    return Status::ok();
}

std::vector<std::byte> encodeLayoutRequest(const LayoutRequest &request)
{
    ByteWriter out;
    out.u64(request.id);
    out.u32(static_cast<std::uint32_t>(request.nodes.size()));
    for (const LayoutNode &node : request.nodes) {
        out.f64(node.width);
        out.f64(node.height);
        out.u32(node.cluster);
    }
    out.u32(static_cast<std::uint32_t>(request.clusters.size()));
    for (const LayoutCluster &cluster : request.clusters) {
        out.u32(cluster.parent);
        out.f64(cluster.minimumWidth);
    }
    out.u32(static_cast<std::uint32_t>(request.edges.size()));
    for (const LayoutEdge &edge : request.edges) {
        out.u32(edge.from);
        out.u32(edge.to);
    }
    return out.take();
}

Result<LayoutRequest> decodeLayoutRequest(std::span<const std::byte> bytes)
{
    ByteReader in(bytes);
    LayoutRequest request;
    request.id = in.u64();
    request.nodes.resize(in.count(20));
    for (LayoutNode &node : request.nodes) {
        node.width = in.f64();
        node.height = in.f64();
        node.cluster = in.u32();
    }
    request.clusters.resize(in.count(12));
    for (LayoutCluster &cluster : request.clusters) {
        cluster.parent = in.u32();
        cluster.minimumWidth = in.f64();
    }
    request.edges.resize(in.count(8));
    for (LayoutEdge &edge : request.edges) {
        edge.from = in.u32();
        edge.to = in.u32();
    }
    if (Status status = in.finish("layout request"); !status)
        return status;
    if (Status status = checkLayoutRequest(request); !status)
        return status;
    return request;
}

std::vector<std::byte> encodeLayoutResult(const LayoutResult &result)
{
    ByteWriter out;
    out.u64(result.id);
    out.u32(static_cast<std::uint32_t>(result.nodes.size()));
    for (const Rect &rect : result.nodes)
        write(out, rect);
    out.u32(static_cast<std::uint32_t>(result.clusters.size()));
    for (const Rect &rect : result.clusters)
        write(out, rect);
    out.u32(static_cast<std::uint32_t>(result.edges.size()));
    for (const std::vector<Point> &line : result.edges) {
        out.u32(static_cast<std::uint32_t>(line.size()));
        for (const Point &point : line) {
            out.f64(point.x);
            out.f64(point.y);
        }
    }
    out.f64(result.milliseconds);
    out.u8(result.simplified ? 1 : 0);
    out.string(result.note);
    return out.take();
}

Result<LayoutResult> decodeLayoutResult(std::span<const std::byte> bytes)
{
    ByteReader in(bytes);
    LayoutResult result;
    result.id = in.u64();
    result.nodes = readRects(in);
    result.clusters = readRects(in);
    result.edges.resize(in.count(4));
    for (std::vector<Point> &line : result.edges) {
        line.resize(in.count(16));
        for (Point &point : line) {
            point.x = in.f64();
            point.y = in.f64();
        }
    }
    result.milliseconds = in.f64();
    result.simplified = in.u8() != 0;
    result.note = in.string();
    if (Status status = in.finish("layout result"); !status)
        return status;
    return result;
}

} // namespace core
