// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/graph/graph_tree.h"

#include <cstdint>
#include <set>

namespace core {

// What the user unfolded: keys of modules, runs and stacks, and shared values whose arrows are drawn after
// all. Keys mean the same in every tree of the same trace, so folds can be kept between sessions. A value
// type.
struct GraphFolds
{
    std::set<std::uint64_t> open; // modules and runs that are frames; of a stack the members that stand alone
    std::set<OpId> drawnValues;

    bool isOpen(std::uint64_t key) const { return open.count(key) != 0; }
    bool operator==(const GraphFolds &) const = default;
};

std::uint64_t moduleFoldKey(ModuleCallId call);
std::uint64_t stackFoldKey(ModuleCallId member);
std::uint64_t runFoldKey(std::uint64_t owner, std::uint32_t firstEntry, std::uint32_t pastLastEntry);

inline constexpr std::size_t kFirstPictureBoxes = 40;

// The deepest folding by depth with at most BUDGET boxes. A module whose children are more is shown as runs,
// so the budget holds for every trace.
GraphFolds foldsToFit(const GraphTree &tree, std::size_t budget = kFirstPictureBoxes);
// Everything open down to DEPTH modules (0: the outermost children only), stacks kept.
GraphFolds foldsToDepth(const GraphTree &tree, std::uint32_t depth);
// FOLDS plus all that must be open for CALL to have a box of its own. A member of a stack comes out alone.
GraphFolds foldsRevealing(const GraphTree &tree, GraphFolds folds, CallId call);
// The same for a module's box.
GraphFolds foldsRevealing(const GraphTree &tree, GraphFolds folds, ModuleCallId call);

} // namespace core
