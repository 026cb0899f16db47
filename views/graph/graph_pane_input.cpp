// SPDX-License-Identifier: GPL-3.0-or-later
// What the user does with the graph: pointer, keys, find.
#include "views/graph/graph_pane.h"

#include "core/graph/box_text.h"
#include "core/graph/graph_dot.h"
#include "core/graph/graph_export.h"
#include "core/graph/graph_layout.h"
#include "core/graph/op_paths.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/canvas/box_words.h"
#include "views/graph/graph_find.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>

namespace views {

namespace {

core::GraphHit kindOf(core::HitId hit)
{
    return static_cast<core::GraphHit>(hit.kind);
}

} // namespace

void GraphPane::clickedOn(core::HitId hit, Qt::KeyboardModifiers modifiers)
{
    m_canvas->setFocus(Qt::MouseFocusReason);
    if (!m_state.hasPicture() || !isThere(hit))
        return;
    switch (kindOf(hit)) {
    case core::GraphHit::box:
        if ((modifiers & Qt::ShiftModifier) != 0)
            extendRange(hit.index);
        else
            selectBox(hit.index);
        break;
    case core::GraphHit::boxUnfold:
        unfoldBox(hit.index);
        break;
    case core::GraphHit::clusterFold:
        foldCluster(hit.index);
        break;
    case core::GraphHit::cluster: {
        const core::ModuleCallId call = m_state.picture().clusters[hit.index].moduleCall;
        if (call.isValid() && trace()->moduleCall(call).module.isValid())
            selection().select(ModuleItem{trace()->moduleCall(call).module});
        break;
    }
    case core::GraphHit::edge: {
        const core::OpId value = m_state.picture().edges[hit.index].value;
        selection().select(TensorItem{value, trace()->op(value).tensor});
        m_look.selectedEdge = hit.index;
        m_canvas->invalidate();
        break;
    }
    case core::GraphHit::stub: {
        const core::PictureStub &stub = m_state.picture().stubs[hit.index];
        if ((modifiers & Qt::AltModifier) != 0) {
            core::GraphFolds folds = m_state.folds();
            folds.drawnValues.insert(stub.values.begin(), stub.values.end());
            const core::PictureBox &box = m_state.picture().boxes[stub.box];
            changeFolds(std::move(folds), {box.foldKey, box.begin, false, m_state.boxRect(stub.box)});
        } else {
            selection().select(TensorItem{stub.values.front(), trace()->op(stub.values.front()).tensor});
        }
        break;
    }
    case core::GraphHit::none:
        break;
    }
}

void GraphPane::activateHit(core::HitId hit)
{
    if (!m_state.hasPicture() || !isThere(hit))
        return;
    switch (kindOf(hit)) {
    case core::GraphHit::box:
        activateBox(hit.index);
        break;
    case core::GraphHit::cluster:
        foldCluster(hit.index);
        break;
    case core::GraphHit::stub:
        selection().activate(OpItem{m_state.picture().stubs[hit.index].values.front()});
        break;
    case core::GraphHit::edge: {
        const core::OpId value = m_state.picture().edges[hit.index].value;
        selection().activate(TensorItem{value, trace()->op(value).tensor});
        break;
    }
    default:
        break;
    }
}

void GraphPane::selectBox(std::uint32_t index)
{
    if (index >= m_state.picture().boxes.size())
        return;
    m_current = index;
    const core::PictureBox &box = m_state.picture().boxes[index];
    const bool isModule =
        (box.kind == core::BoxKind::module && box.canUnfold) || box.kind == core::BoxKind::stack;
    if (isModule && trace()->moduleCall(box.moduleCall).module.isValid()) {
        selection().select(ModuleItem{trace()->moduleCall(box.moduleCall).module});
    } else if (box.kind == core::BoxKind::run) {
        const core::CallId last = m_state.tree().calls()[box.end - 1];
        selection().select(RangeItem{box.op, core::OpId(trace()->call(last).rows.begin)});
    } else {
        selection().select(OpItem{box.op});
    }
}

void GraphPane::extendRange(std::uint32_t index)
{
    if (m_current == core::kNoBox || m_current == index) {
        selectBox(index);
        return;
    }
    const core::PictureBox &first = m_state.picture().boxes[std::min(m_current, index)];
    const core::PictureBox &last = m_state.picture().boxes[std::max(m_current, index)];
    const core::CallId lastCall = m_state.tree().calls()[last.end - 1];
    selection().select(RangeItem{first.op, core::OpId(trace()->call(lastCall).rows.begin)});
}

void GraphPane::activateBox(std::uint32_t index)
{
    const core::PictureBox &box = m_state.picture().boxes[index];
    if (box.canUnfold)
        unfoldBox(index);
    else
        selection().activate(OpItem{box.op});
}

void GraphPane::unfoldBox(std::uint32_t index)
{
    const core::PictureBox &box = m_state.picture().boxes[index];
    const std::uint64_t key =
        box.kind == core::BoxKind::stack ? core::moduleFoldKey(box.moduleCall) : box.foldKey;
    changeFolds(m_state.unfolded(index), {key, box.begin, false, m_state.boxRect(index)});
}

void GraphPane::foldCluster(std::uint32_t index)
{
    if (index == 0 || index >= m_state.picture().clusters.size())
        return;
    const core::PictureCluster &cluster = m_state.picture().clusters[index];
    changeFolds(m_state.folded(index),
                {cluster.foldKey, cluster.begin, true, m_state.layout().clusters[index]});
}

void GraphPane::hoverHit(core::HitId hit)
{
    if (!isThere(hit))
        hit = {};
    m_look.hovered = kindOf(hit) == core::GraphHit::boxUnfold
                         ? core::HitId{static_cast<std::uint16_t>(core::GraphHit::box), hit.index}
                         : hit;
    m_canvas->setCursor(hit.isNothing() || kindOf(hit) == core::GraphHit::cluster ? Qt::ArrowCursor
                                                                                  : Qt::PointingHandCursor);
    m_canvas->invalidate();
    core::OpId op;
    if (kindOf(hit) == core::GraphHit::box || kindOf(hit) == core::GraphHit::boxUnfold)
        op = m_state.picture().boxes[hit.index].op;
    else if (kindOf(hit) == core::GraphHit::edge)
        op = m_state.picture().edges[hit.index].value;
    selection().hover(op);
}

// The pointer may rest on what another picture had there.
bool GraphPane::isThere(core::HitId hit) const
{
    const core::GraphPicture &picture = m_state.picture();
    switch (kindOf(hit)) {
    case core::GraphHit::box:
    case core::GraphHit::boxUnfold:
        return hit.index < picture.boxes.size();
    case core::GraphHit::cluster:
    case core::GraphHit::clusterFold:
        return hit.index < picture.clusters.size();
    case core::GraphHit::edge:
        return hit.index < picture.edges.size();
    case core::GraphHit::stub:
        return hit.index < picture.stubs.size();
    default:
        return true;
    }
}

QString GraphPane::toolTipOf(core::HitId hit) const
{
    if (!m_state.hasPicture() || !isThere(hit))
        return {};
    QStringList lines;
    if (kindOf(hit) == core::GraphHit::box) {
        const core::PictureBox &box = m_state.picture().boxes[hit.index];
        lines = boxWords(box);
        if (box.canUnfold)
            lines.append(tr("Enter unfolds"));
    } else if (kindOf(hit) == core::GraphHit::boxUnfold) {
        lines.append(tr("Unfold (+)"));
    } else if (kindOf(hit) == core::GraphHit::clusterFold) {
        lines.append(tr("Fold (-)"));
    } else if (kindOf(hit) == core::GraphHit::edge) {
        lines.append(QString::fromStdString(m_state.picture().edges[hit.index].label));
    } else if (kindOf(hit) == core::GraphHit::stub) {
        const core::PictureStub &stub = m_state.picture().stubs[hit.index];
        for (const core::OpId value : stub.values)
            lines.append(tr("%1, read by %2")
                             .arg(QString::fromStdString(core::valueName(*trace(), value)),
                                  countedText(trace()->children(value).size(), "op", "ops")));
        lines.append(tr("Double click goes to where it is made; Alt click draws the edges"));
    }
    return toolTipOfLines(lines);
}

void GraphPane::fitGraph()
{
    m_canvas->fit();
}

void GraphPane::zoomToSelection()
{
    if (!m_state.hasPicture())
        return;
    core::Rect area;
    for (const std::uint32_t box : m_look.selected)
        area = area.united(m_state.boxRect(box));
    if (m_look.selectedCluster != 0)
        area = area.united(m_state.layout().clusters[m_look.selectedCluster]);
    if (area.isEmpty())
        return;
    Viewport view = m_canvas->viewport();
    view.fit(area, 80.0);
    m_canvas->setViewport(view, true);
}

void GraphPane::toggleMap()
{
    m_mapWanted = !m_mapWanted;
    placeOverlays();
}

void GraphPane::unfoldCurrent()
{
    if (m_state.hasPicture() && m_current < m_state.picture().boxes.size())
        unfoldBox(m_current);
}

void GraphPane::foldCurrent()
{
    if (!m_state.hasPicture())
        return;
    if (m_look.selectedCluster != 0)
        foldCluster(m_look.selectedCluster);
    else if (m_current < m_state.picture().boxes.size())
        foldCluster(m_state.picture().boxes[m_current].cluster);
}

void GraphPane::foldAll()
{
    if (m_state.hasTree())
        changeFolds(core::GraphFolds(), {});
}

void GraphPane::foldToFit()
{
    if (!m_state.hasTree())
        return;
    m_fitNext = true;
    changeFolds(core::foldsToFit(m_state.tree()), {});
}

void GraphPane::foldToDepth(int depth)
{
    if (m_state.hasTree())
        changeFolds(core::foldsToDepth(m_state.tree(), static_cast<std::uint32_t>(std::clamp(depth, 0, 9))),
                    {});
}

// The frame around the current box, as a module to stand on.
void GraphPane::goToParent()
{
    if (!m_state.hasPicture())
        return;
    std::uint32_t cluster = m_look.selectedCluster;
    if (cluster != 0)
        cluster = m_state.picture().clusters[cluster].parent;
    else if (m_current < m_state.picture().boxes.size())
        cluster = m_state.picture().boxes[m_current].cluster;
    const core::ModuleCallId call = m_state.picture().clusters[cluster].moduleCall;
    if (cluster != 0 && call.isValid() && trace()->moduleCall(call).module.isValid())
        selection().select(ModuleItem{trace()->moduleCall(call).module});
}

core::OpId GraphPane::currentOp() const
{
    if (!trace() || !m_state.hasTree())
        return {};
    if (const core::OpId op = opOf(*trace(), item()); op.isValid())
        return op;
    return m_state.hasPicture() && m_current < m_state.picture().boxes.size()
               ? m_state.picture().boxes[m_current].op
               : core::OpId();
}

void GraphPane::setEmphasis(std::vector<core::OpId> ops, bool isPath)
{
    m_emphasis = std::move(ops);
    m_emphasisIsPath = isPath;
    updateEmphasis();
    m_canvas->invalidate();
    Q_EMIT emphasisChanged();
}

void GraphPane::togglePath()
{
    if (m_emphasisIsPath && hasEmphasis())
        return clearEmphasis();
    if (m_state.hasTree())
        setEmphasis(core::pathToOrigin(*trace(), m_state.tree().marks(), currentOp()), true);
}

void GraphPane::isolateCurrent()
{
    if (m_state.hasTree())
        setEmphasis(core::connectedOps(*trace(), currentOp()), false);
}

void GraphPane::dimOthers()
{
    std::vector<core::OpId> ops;
    for (const std::uint32_t box : selectedBoxes())
        ops.push_back(m_state.picture().boxes[box].op);
    setEmphasis(std::move(ops), false);
}

void GraphPane::clearEmphasis()
{
    setEmphasis({}, false);
}

void GraphPane::moveTo(Direction direction)
{
    if (!m_state.hasPicture())
        return;
    const std::uint32_t next = m_state.neighbour(m_current, direction);
    if (next == core::kNoBox)
        return;
    selectBox(next);
    showBox(next, false);
}

bool GraphPane::handleLetter(int key, Qt::KeyboardModifiers modifiers)
{
    if (key >= Qt::Key_1 && key <= Qt::Key_9) {
        foldToDepth(key - Qt::Key_0);
        return true;
    }
    switch (key) {
    case Qt::Key_F:
        fitGraph();
        return true;
    case Qt::Key_Z:
        zoomToSelection();
        return true;
    case Qt::Key_M:
        toggleMap();
        return true;
    case Qt::Key_0:
        foldToFit();
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        unfoldCurrent();
        return true;
    case Qt::Key_Underscore:
        foldAll();
        return true;
    case Qt::Key_Minus:
        if ((modifiers & Qt::ShiftModifier) != 0)
            foldAll();
        else
            foldCurrent();
        return true;
    default:
        return false;
    }
}

namespace {

QString nameOf(const core::Trace &trace, const SelectedItem &item)
{
    if (const auto *module = std::get_if<ModuleItem>(&item))
        return moduleText(trace, module->module);
    const core::OpId op = opOf(trace, item);
    return op.isValid() ? fromView(trace.publicLabel(op)) : QString();
}

} // namespace

void GraphPane::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy) && trace()) {
        if (const QString name = nameOf(*trace(), item()); !name.isEmpty())
            QGuiApplication::clipboard()->setText(name);
        return;
    }
    const bool plain = (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) == 0;
    if (!plain) {
        Pane::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
        return moveTo(Direction::up);
    case Qt::Key_Down:
        return moveTo(Direction::down);
    case Qt::Key_Left:
        return moveTo(Direction::left);
    case Qt::Key_Right:
        return moveTo(Direction::right);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_state.hasPicture() && m_current < m_state.picture().boxes.size())
            activateBox(m_current);
        return;
    case Qt::Key_Backspace:
        return goToParent();
    default:
        if (!handleLetter(event->key(), event->modifiers()))
            Pane::keyPressEvent(event);
    }
}

void GraphPane::openFind()
{
    m_findBar->open();
    runFind();
    placeOverlays();
}

void GraphPane::closeFind()
{
    m_matches.clear();
    m_match = -1;
    m_look.matches.clear();
    m_findBar->hide();
    placeOverlays();
    m_canvas->invalidate();
    if (m_findBar->isAncestorOf(focusWidget()))
        m_canvas->setFocus();
    Q_EMIT matchesChanged(m_matches);
}

void GraphPane::runFind()
{
    QString problem;
    m_matches.clear();
    if (m_state.hasTree())
        m_matches = findOps(m_state.tree(), m_findBar->text(),
                            {m_findBar->isRegex(), m_findBar->matchesCase(), false}, &problem);
    m_match = -1;
    m_look.matches.clear();
    if (m_state.hasPicture() && !m_matches.empty())
        m_look.matches = boxesHolding(m_state.tree(), m_state.slice(), m_matches);
    m_findBar->setCount(m_match, static_cast<int>(m_matches.size()), problem);
    m_canvas->invalidate();
    placeOverlays();
    Q_EMIT matchesChanged(m_matches);
}

void GraphPane::findStep(int direction)
{
    const int count = static_cast<int>(m_matches.size());
    if (count == 0)
        return;
    m_match = m_match < 0 ? (direction > 0 ? 0 : count - 1) : (m_match + direction + count) % count;
    m_findBar->setCount(m_match, count, {});
    selection().activate(OpItem{m_matches[static_cast<std::size_t>(m_match)]});
}

PictureExport GraphPane::exportPicture() const
{
    PictureExport out;
    if (!m_state.hasPicture() || !trace())
        return out;
    out.fileName = tr("graph");
    out.title = std::string(trace()->subject());
    out.footer = core::exportFooter(*trace(), m_state.picture());
    out.list = core::drawGraph(m_state.picture(), m_state.layout(), core::GraphLook());
    out.dot = core::graphDot(m_state.picture(), out.title);
    return out;
}

} // namespace views
