// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/lineage/lineage_facts.h"

namespace views {

LineageAnswer makeLineage(const LineageWish &wish, const core::JobContext &job)
{
    LineageAnswer answer;
    answer.options = wish.options;
    answer.tree = wish.tree;
    if (!answer.tree) {
        core::GraphMarks marks = wish.marks.byOp.size() == wish.trace->ops().size()
                                     ? wish.marks
                                     : core::marksFromStats(*wish.trace);
        answer.tree = std::make_shared<const core::GraphTree>(wish.trace, std::move(marks));
    }
    if (!job.isCancelled())
        answer.lineage = core::lineagePicture(*answer.tree, answer.options);
    return answer;
}

} // namespace views
