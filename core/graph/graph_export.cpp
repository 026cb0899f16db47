// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_export.h"

#include "core/base/units.h"
#include "core/graph/graph_draw.h"
#include "core/graph/graph_layout.h"
#include "core/layout/hierarchy_layout.h"

#include <fmt/format.h>

namespace core {

GraphSlice exportSlice(std::shared_ptr<const Trace> trace, GraphMarks marks,
                       const GraphExportOptions &options)
{
    if (marks.byOp.empty())
        marks = marksFromStats(*trace);
    const GraphTree tree(std::move(trace), std::move(marks));
    const GraphFolds folds =
        options.depth ? foldsToDepth(tree, *options.depth) : foldsToFit(tree, options.boxes);
    return graphSlice(tree, folds);
}

Result<DrawList> placeAndDraw(const GraphPicture &picture, GraphLayouter &layouter, double zoom,
                              JobContext &context)
{
    HierarchyLayout layout(layouter);
    const Result<LayoutResult> placed = layout.layout(graphLayoutRequest(picture, 1), context);
    if (!placed)
        return placed.error();
    GraphLook look;
    look.zoom = zoom;
    return drawGraph(picture, *placed, look);
}

std::vector<std::string> exportFooter(const Trace &trace, const GraphPicture &picture)
{
    std::vector<std::string> lines;
    lines.push_back(fmt::format("{} boxes stand for {} ops", formatCount(picture.boxes.size()),
                                formatCount(picture.totalOps)));
    std::size_t tensors = 0;
    std::size_t unchecked = 0;
    for (std::size_t i = 0; i < trace.ops().size(); ++i) {
        tensors += trace.op(OpId(i)).tensor.isValid() ? 1 : 0;
        unchecked += isUnchecked(trace, OpId(i)) ? 1 : 0;
    }
    lines.push_back(fmt::format("{} of {} outputs looked at{}", formatCount(tensors - unchecked),
                                formatCount(tensors), unchecked == 0 ? "" : "; hatched boxes were not"));
    if (!trace.info().createdUtc.empty())
        lines.push_back("captured " + trace.info().createdUtc);
    return lines;
}

} // namespace core
