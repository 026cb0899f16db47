// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/draw/draw_list.h"
#include "core/graph/graph_slice.h"
#include "core/layout/graph_layouter.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace core {

// What to show of a trace in a file.
struct GraphExportOptions
{
    std::optional<std::uint32_t> depth; // module depth to unfold to; absent: folded to at most BOXES
    std::size_t boxes = kFirstPictureBoxes;
    double zoom = 1.0;
};

// A trace's graph without a window: folds, slice. MARKS empty: states by the statistics alone.
GraphSlice exportSlice(std::shared_ptr<const Trace> trace, GraphMarks marks,
                       const GraphExportOptions &options);

// Places PICTURE with LAYOUTER and draws it at ZOOM.
Result<DrawList> placeAndDraw(const GraphPicture &picture, GraphLayouter &layouter, double zoom,
                              JobContext &context);

// The lines below an exported picture: what is shown, and how much of it was looked at.
std::vector<std::string> exportFooter(const Trace &trace, const GraphPicture &picture);

} // namespace core
