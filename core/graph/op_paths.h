// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/node_state.h"

#include <vector>

namespace core {

// The shortest way along edges from FROM back to an op in which bad values are born, FROM first; of equally
// short ones that to the earlier op. When FROM is such an op itself: from there on to an output that is bad,
// or failing that to the last op the bad values reach. Empty when nothing bad is connected with FROM.
std::vector<OpId> pathToOrigin(const Trace &trace, const GraphMarks &marks, OpId from);

// FROM, everything it is made from and everything made from it, in no order.
std::vector<OpId> connectedOps(const Trace &trace, OpId from);

} // namespace core
