// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/graph/graph_state.h"

#include "core/graph/graph_layout.h"

namespace views {

void GraphState::setTree(std::shared_ptr<const core::GraphTree> tree)
{
    m_tree = std::move(tree);
    m_hasPicture = false;
    m_pending.reset();
    m_slice = {};
    m_layout = {};
    m_folds = {};
    if (!m_tree)
        return;
    m_folds = core::foldsToFit(*m_tree);
    makeSlice();
}

void GraphState::replaceTree(std::shared_ptr<const core::GraphTree> tree)
{
    m_tree = std::move(tree);
    if (m_tree)
        makeSlice();
}

void GraphState::makeSlice()
{
    m_nextSlice = core::graphSlice(*m_tree, m_folds);
    m_pending = core::graphLayoutRequest(m_nextSlice.picture, ++m_lastId);
}

bool GraphState::retry()
{
    if (m_tree)
        makeSlice();
    return m_tree != nullptr;
}

bool GraphState::setFolds(core::GraphFolds folds)
{
    if (!m_tree || folds == m_folds)
        return false;
    m_folds = std::move(folds);
    makeSlice();
    return true;
}

bool GraphState::takeLayout(core::LayoutResult result)
{
    if (!m_pending || result.id != m_pending->id || !core::checkLayoutResult(*m_pending, result))
        return false;
    m_slice = std::move(m_nextSlice);
    m_nextSlice = {};
    m_layout = std::move(result);
    m_pending.reset();
    m_hasPicture = true;
    return true;
}

bool GraphState::dropLayout(std::uint64_t id)
{
    if (!m_pending || m_pending->id != id)
        return false;
    m_pending.reset();
    return true;
}

core::Rect GraphState::boxRect(std::uint32_t box) const
{
    return core::boxRect(m_slice.picture, m_layout, box);
}

std::uint32_t GraphState::boxOf(core::OpId op) const
{
    if (!m_hasPicture || !op.isValid())
        return core::kNoBox;
    return m_slice.boxOf(*m_tree, m_tree->trace().op(op).call);
}

std::uint32_t GraphState::clusterOf(core::ModuleId module) const
{
    for (std::uint32_t i = 1; m_hasPicture && i < m_slice.picture.clusters.size(); ++i) {
        const core::ModuleCallId call = m_slice.picture.clusters[i].moduleCall;
        if (call.isValid() && m_tree->trace().moduleCall(call).module == module)
            return i;
    }
    return 0;
}

std::uint32_t GraphState::boxOf(core::ModuleId module) const
{
    if (!m_hasPicture || clusterOf(module) != 0)
        return core::kNoBox;
    for (std::size_t i = 0; i < m_tree->trace().moduleCalls().size(); ++i) {
        const core::ModuleCallId call(i);
        if (m_tree->trace().moduleCall(call).module != module)
            continue;
        const std::uint32_t group = m_tree->groupOf(call);
        if (group != core::GraphTree::kNoPosition && group != 0)
            return m_slice.boxOfPosition[m_tree->group(group).begin];
    }
    return core::kNoBox;
}

std::optional<core::Rect> GraphState::placeOf(std::uint64_t foldKey, std::uint32_t position) const
{
    if (!m_hasPicture)
        return {};
    const core::GraphPicture &picture = m_slice.picture;
    for (std::uint32_t i = 0; foldKey != 0 && i < picture.boxes.size(); ++i)
        if (picture.boxes[i].foldKey == foldKey)
            return boxRect(i);
    for (std::size_t i = 1; foldKey != 0 && i < picture.clusters.size(); ++i)
        if (picture.clusters[i].foldKey == foldKey)
            return m_layout.clusters[i];
    if (position >= m_slice.boxOfPosition.size())
        return {};
    return boxRect(m_slice.boxOfPosition[position]);
}

core::GraphFolds GraphState::unfolded(std::uint32_t box) const
{
    core::GraphFolds folds = m_folds;
    const core::PictureBox &what = m_slice.picture.boxes[box];
    if (!what.canUnfold)
        return folds;
    // Of a stack the first member comes out alone; the others stay together.
    folds.open.insert(what.kind == core::BoxKind::stack ? core::moduleFoldKey(what.moduleCall)
                                                        : what.foldKey);
    return folds;
}

core::GraphFolds GraphState::folded(std::uint32_t cluster) const
{
    core::GraphFolds folds = m_folds;
    if (cluster != 0 && cluster < m_slice.picture.clusters.size()) {
        const core::PictureCluster &frame = m_slice.picture.clusters[cluster];
        folds.open.erase(frame.foldKey);
        if (frame.moduleCall.isValid())
            folds.open.erase(core::stackFoldKey(frame.moduleCall));
    }
    return folds;
}

std::uint32_t GraphState::neighbour(std::uint32_t box, Direction direction) const
{
    return m_hasPicture ? core::neighbourBox(m_slice.picture, m_layout, box, direction) : core::kNoBox;
}

} // namespace views
