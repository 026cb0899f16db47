// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/graph_layouter.h"

namespace core {

// The layered layout of our own, which stands behind Graphviz: ranks by longest path, order by medians,
// places by isotonic regression. Time grows with nodes plus edges (50,000 nodes in well under a second),
// memory too. No state between calls.
class LayeredLayouter : public GraphLayouter
{
public:
    Result<FlatLayout> layout(const FlatGraph &graph, JobContext &context) override;
    std::string_view name() const override { return "layered"; }
};

} // namespace core
