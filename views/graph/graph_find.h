// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_slice.h"
#include "core/graph/graph_tree.h"

#include <QString>

#include <vector>

namespace views {

struct FindOptions
{
    bool regex = false;
    bool matchCase = false;
    bool wholeWord = false;
};

// Ops whose label, short label, type, module address or aten name matches TEXT, in execution order. Nothing
// for an empty text or a pattern that does not parse; then PROBLEM says what is wrong with it.
std::vector<core::OpId> findOps(const core::GraphTree &tree, const QString &text, const FindOptions &options,
                                QString *problem);

// By box: whether it holds one of OPS.
std::vector<bool> boxesHolding(const core::GraphTree &tree, const core::GraphSlice &slice,
                               const std::vector<core::OpId> &ops);

} // namespace views
