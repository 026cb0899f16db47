// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/grad_fn_walk.h"
#include "core/base/job_context.h"
#include "core/graph/graph_picture.h"

#include <memory>
#include <vector>

namespace views {

// What the grad_fn pane asks for: the graph from the rows FROM (all outputs when empty), at most NODES
// followed, with the states of pass BACKWARD (all passes when none).
struct GradFnWish
{
    std::shared_ptr<const core::Trace> trace;
    std::vector<core::OpId> from;
    core::BackwardId backward;
    std::int64_t nodes = 0;

    bool operator==(const GradFnWish &) const = default;
};

// The sketch as a picture; or why there is none.
struct GradFnAnswer
{
    GradFnWish wish;
    core::Status status;
    core::GraphPicture picture;
    bool truncated = false;
};

// Runs in a job.
GradFnAnswer makeGradFnPicture(const GradFnWish &wish, const core::JobContext &job);

// A sketch as a picture: roots as outputs, leaves as parameters, edges in forward direction. STATES is a
// picture of the same nodes whose states are taken over (core/graph/lineage_picture.h).
core::GraphPicture sketchPicture(const core::Trace &trace, const core::GradFnSketch &sketch,
                                 const core::GraphPicture &states);

} // namespace views
