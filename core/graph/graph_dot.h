// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_picture.h"

#include <string>

namespace core {

// The picture as a Graphviz file for other programs: boxes with their titles, frames as clusters, states as
// colours of the light theme. Stubs are no boxes: slice with every shared value drawn to have their edges.
std::string graphDot(const GraphPicture &picture, const std::string &title);

} // namespace core
