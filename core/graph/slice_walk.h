// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_folds.h"
#include "core/graph/graph_picture.h"

#include <cstdint>
#include <vector>

namespace core {

// One visible child of an open group: what becomes a box, or a frame when it is open.
struct SliceItem
{
    BoxKind kind = BoxKind::op;
    std::uint32_t owner = 0;      // the group whose entries it covers
    std::uint32_t group = 0;      // of a module; of a stack its first member
    std::uint32_t firstEntry = 0; // within the owner
    std::uint32_t pastEntry = 0;
    std::uint64_t key = 0; // fold key; 0 for an op
    CallId call;           // of an op, and of a module that is one op
    bool isOpen = false;
};

// Splits part [FIRST, PAST) of a group's entries into what is seen under FOLDS: ops, modules, stacks of equal
// neighbours, and runs where there would be too many. OWNERKEY is the fold key of the group or run that is
// being opened. Work is linear in the entries of the part.
std::vector<SliceItem> sliceItems(const GraphTree &tree, const GraphFolds &folds, const SliceItem &part);

// The whole run as the item to start from.
SliceItem rootItem(const GraphTree &tree);

// A module that holds nothing but one op has no inside worth a frame.
CallId onlyCall(const GraphTree &tree, std::uint32_t group);

} // namespace core
