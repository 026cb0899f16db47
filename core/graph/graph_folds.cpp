// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_folds.h"

#include "core/graph/slice_walk.h"

namespace core {

namespace {

// Boxes under FOLDS, counted up to LIMIT + 1. The closed modules and runs that could be opened next are added
// to FRONTIER.
std::size_t countBoxes(const GraphTree &tree, const GraphFolds &folds, std::size_t limit,
                       std::vector<std::uint64_t> &frontier)
{
    std::vector<SliceItem> open = {rootItem(tree)};
    std::size_t boxes = 0;
    while (!open.empty() && boxes <= limit) {
        const SliceItem part = open.back();
        open.pop_back();
        for (const SliceItem &item : sliceItems(tree, folds, part)) {
            if (item.isOpen) {
                open.push_back(item);
                continue;
            }
            ++boxes;
            const bool hasInside =
                item.kind == BoxKind::run || (item.kind == BoxKind::module && !item.call.isValid());
            if (hasInside)
                frontier.push_back(item.key);
        }
    }
    return boxes;
}

GraphFolds openPath(const GraphTree &tree, GraphFolds folds, std::uint32_t position, std::uint32_t stopGroup)
{
    SliceItem part = rootItem(tree);
    for (;;) {
        bool wentIn = false;
        for (const SliceItem &item : sliceItems(tree, folds, part)) {
            const auto entries = tree.entries(tree.group(item.owner));
            if (position < tree.entryBegin(entries[item.firstEntry]) ||
                position >= tree.entryEnd(entries[item.pastEntry - 1]))
                continue;
            if (item.kind == BoxKind::stack) {
                for (std::uint32_t i = item.firstEntry; i < item.pastEntry; ++i)
                    if (position >= tree.entryBegin(entries[i]) && position < tree.entryEnd(entries[i]))
                        folds.open.insert(entries[i].value == stopGroup
                                              ? stackFoldKey(tree.group(entries[i].value).call)
                                              : moduleFoldKey(tree.group(entries[i].value).call));
                wentIn = true; // the same part again, with the member alone
                break;
            }
            const bool isLeaf = item.kind == BoxKind::op || item.call.isValid() ||
                                (item.kind == BoxKind::module && item.group == stopGroup);
            if (isLeaf)
                return folds;
            folds.open.insert(item.key);
            part = item;
            wentIn = true;
            break;
        }
        if (!wentIn)
            return folds;
    }
}

} // namespace

GraphFolds foldsToFit(const GraphTree &tree, std::size_t budget)
{
    GraphFolds folds;
    std::vector<std::uint64_t> frontier;
    countBoxes(tree, folds, budget, frontier);
    while (!frontier.empty()) {
        GraphFolds deeper = folds;
        deeper.open.insert(frontier.begin(), frontier.end());
        frontier.clear();
        if (countBoxes(tree, deeper, budget, frontier) > budget)
            break;
        folds = std::move(deeper);
    }
    return folds;
}

GraphFolds foldsToDepth(const GraphTree &tree, std::uint32_t depth)
{
    GraphFolds folds;
    for (std::uint32_t i = 0; i < depth; ++i) {
        std::vector<std::uint64_t> frontier;
        countBoxes(tree, folds, tree.calls().size(), frontier);
        folds.open.insert(frontier.begin(), frontier.end());
    }
    return folds;
}

GraphFolds foldsRevealing(const GraphTree &tree, GraphFolds folds, CallId call)
{
    const std::uint32_t position = tree.position(call);
    if (position == GraphTree::kNoPosition)
        return folds;
    return openPath(tree, std::move(folds), position, GraphTree::kNoPosition);
}

GraphFolds foldsRevealing(const GraphTree &tree, GraphFolds folds, ModuleCallId call)
{
    const std::uint32_t group = tree.groupOf(call);
    if (group == GraphTree::kNoPosition || group == 0)
        return folds;
    return openPath(tree, std::move(folds), tree.group(group).begin, group);
}

} // namespace core
