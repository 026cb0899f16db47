// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_folds.h"
#include "core/graph/graph_slice.h"
#include "core/graph/picture_walk.h"
#include "core/layout/layout_types.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace views {

using Direction = core::PictureDirection;

// What the graph pane shows, without the pane: a trace's tree, its folds, the slice on screen and its layout,
// and the slice that waits for one. A request goes out for every change of folds; only the newest answer is
// taken, and until it comes the former picture stays. GUI thread, no Qt.
class GraphState
{
public:
    // A tree of a new trace (null: none): folded to fit.
    void setTree(std::shared_ptr<const core::GraphTree> tree);
    // The same trace with other marks; folds stay.
    void replaceTree(std::shared_ptr<const core::GraphTree> tree);
    bool hasTree() const { return m_tree != nullptr; }
    const core::GraphTree &tree() const { return *m_tree; }

    const core::GraphFolds &folds() const { return m_folds; }
    // Makes the slice and its request; nothing when the folds are the same.
    bool setFolds(core::GraphFolds folds);
    // Asks for the layout of the same slice again; false without a tree.
    bool retry();
    const std::optional<core::LayoutRequest> &pending() const { return m_pending; }
    // False when the answer is not that of the newest request or does not hold together.
    bool takeLayout(core::LayoutResult result);
    // The request with this ID will not be answered; what is on screen stays. False when another one waits.
    bool dropLayout(std::uint64_t id);

    // What is on screen.
    bool hasPicture() const { return m_hasPicture; }
    const core::GraphPicture &picture() const { return m_slice.picture; }
    const core::GraphSlice &slice() const { return m_slice; }
    const core::LayoutResult &layout() const { return m_layout; }
    core::Rect boxRect(std::uint32_t box) const;

    // The box on screen of an op or a module; kNoBox when it has none, or is an open frame.
    std::uint32_t boxOf(core::OpId op) const;
    std::uint32_t boxOf(core::ModuleId module) const;
    // The frame of a module; 0 when it has none.
    std::uint32_t clusterOf(core::ModuleId module) const;
    // Where a thing with this fold key, or failing that the position, is on screen.
    std::optional<core::Rect> placeOf(std::uint64_t foldKey, std::uint32_t position) const;

    core::GraphFolds unfolded(std::uint32_t box) const;
    core::GraphFolds folded(std::uint32_t cluster) const;

    // The box to go to from BOX: down and up along edges (the straightest), left and right in the same row;
    // the nearest in that direction when no edge leads there. kNoBox at the end of the picture.
    std::uint32_t neighbour(std::uint32_t box, Direction direction) const;

private:
    void makeSlice();

    std::shared_ptr<const core::GraphTree> m_tree;
    core::GraphFolds m_folds;
    core::GraphSlice m_slice;
    core::GraphSlice m_nextSlice;
    std::optional<core::LayoutRequest> m_pending;
    core::LayoutResult m_layout;
    std::uint64_t m_lastId = 0;
    bool m_hasPicture = false;
};

} // namespace views
