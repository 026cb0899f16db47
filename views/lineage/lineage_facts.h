// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/graph/lineage_picture.h"

#include <memory>

namespace views {

// What the lineage pane asks for. TREE is that of an earlier answer for the same trace and marks, or null.
struct LineageWish
{
    std::shared_ptr<const core::Trace> trace;
    std::shared_ptr<const core::GraphTree> tree;
    core::GraphMarks marks; // empty: states by the statistics alone
    core::LineageOptions options;
};

struct LineageAnswer
{
    std::shared_ptr<const core::GraphTree> tree;
    core::LineageOptions options;
    core::Lineage lineage;
};

// Runs in a job.
LineageAnswer makeLineage(const LineageWish &wish, const core::JobContext &job);

} // namespace views
