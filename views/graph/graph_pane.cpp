// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/graph/graph_pane.h"

#include "core/analysis/parameter_reports.h"
#include "core/graph/graph_layout.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/canvas/box_words.h"
#include "views/graph/graph_find.h"
#include "views/graph/graph_legend.h"

#include <QLabel>
#include <QResizeEvent>

namespace views {

GraphPane::GraphPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("graph"), tr("Graph"), parent), m_canvas(new Canvas(theme(), this)),
      m_map(new Minimap(theme(), this))
{
    m_canvas->setAccessibleName(tr("Graph of ops"));
    m_canvas->setBuilder([this](double zoom, const core::Rect &visible) {
        if (!m_state.hasPicture())
            return core::DrawList();
        core::GraphLook look = m_look;
        look.zoom = zoom;
        look.visible = visible;
        return core::drawGraph(m_state.picture(), m_state.layout(), look);
    });
    m_canvas->setToolTipText([this](core::HitId hit) { return toolTipOf(hit); });
    m_map->setBuilder([this](const core::Rect &area) {
        return m_state.hasPicture() ? core::drawGraphMap(m_state.picture(), m_state.layout(), area,
                                                         m_canvas->viewport().visible())
                                    : core::DrawList();
    });
    setFocusProxy(m_canvas);
    buildOverlays();
    connectCanvas();
}

void GraphPane::buildOverlays()
{
    m_zoomBar = new ZoomBar(theme(), this);
    m_findBar = new FindBar(theme(), this);
    m_findBar->hide();
    m_notice = new LayoutNotice(this);
    m_hint = makeLabel(QString(), "dense", this);
    m_hint->setObjectName(QStringLiteral("overlay"));
    m_hint->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_canvas->setCornerBar(m_zoomBar, m_hint);
    m_empty = makeLabel(tr("Open a trace to see its graph."), "second", this);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_map->hide();
    m_legend = new GraphLegend(theme(), this);
    m_legend->hide();
    connect(m_zoomBar, &ZoomBar::zoomWanted, m_canvas, &Canvas::zoomBy);
    connect(m_zoomBar, &ZoomBar::fitWanted, this, &GraphPane::fitGraph);
    connect(m_zoomBar, &ZoomBar::actualSizeWanted, this, [this] { m_canvas->zoomBy(1.0 / zoom()); });
    connect(m_findBar, &FindBar::changed, this, &GraphPane::runFind);
    connect(m_findBar, &FindBar::stepWanted, this, &GraphPane::findStep);
    connect(m_findBar, &FindBar::closed, this, &GraphPane::closeFind);
    connect(m_notice, &LayoutNotice::cancelWanted, this, &GraphPane::layoutCancelled);
    connect(m_notice, &LayoutNotice::changed, this, &GraphPane::placeOverlays);
    connect(m_notice, &LayoutNotice::retryWanted, this, [this] {
        if (m_state.retry())
            requestLayout();
    });
}

void GraphPane::connectCanvas()
{
    connect(m_canvas, &Canvas::clicked, this, &GraphPane::clickedOn);
    connect(m_canvas, &Canvas::doubleClicked, this, &GraphPane::activateHit);
    connect(m_canvas, &Canvas::hoverChanged, this, &GraphPane::hoverHit);
    connect(m_canvas, &Canvas::menuWanted, this, [this](core::HitId hit, QPoint position) {
        if (!hit.isNothing())
            clickedOn(hit, {});
        Q_EMIT menuWanted(position);
    });
    connect(m_canvas, &Canvas::viewChanged, this, [this] {
        m_zoomBar->setZoom(zoom());
        m_map->update();
        showMap();
        Q_EMIT zoomChanged(zoom());
    });
    connect(m_map, &Minimap::centerWanted, this, [this](QPointF scene) {
        m_canvas->centerOn({scene.x(), scene.y()});
    });
}

void GraphPane::showTrace()
{
    closeFind();
    m_emphasis.clear();
    m_anchor = {};
    m_current = core::kNoBox;
    m_fitNext = true;
    if (!trace()) {
        m_state.setTree(nullptr);
        m_notice->clear();
    } else {
        core::GraphMarks marks =
            m_marks.byOp.size() == trace()->ops().size() ? m_marks : core::marksFromStats(*trace());
        m_state.setTree(std::make_shared<core::GraphTree>(trace(), std::move(marks)));
        requestLayout();
    }
    m_empty->setVisible(!trace() || trace()->ops().empty());
    m_empty->setText(!trace() ? tr("Open a trace to see its graph.")
                     : !core::isTensorFile(*trace())
                         ? tr("The trace holds no op.")
                         : tr("This file holds parameters and no run.\n"
                              "The report param_health tells about their values."));
    updateLook();
    placeOverlays();
    Q_EMIT summaryChanged();
}

void GraphPane::setMarks(core::GraphMarks marks)
{
    m_marks = std::move(marks);
    if (!m_state.hasTree() || !trace() || m_marks.byOp.size() != trace()->ops().size() ||
        (m_marks.byOp == m_state.tree().marks().byOp && m_marks.measured.empty() &&
         m_marks.bornInBackward.empty()))
        return;
    m_state.replaceTree(std::make_shared<core::GraphTree>(trace(), m_marks));
    requestLayout();
}

void GraphPane::requestLayout()
{
    if (!m_state.pending())
        return;
    m_notice->wait(m_state.pending()->nodes.size());
    Q_EMIT layoutRequested(*m_state.pending());
}

void GraphPane::setLayout(core::LayoutResult result)
{
    if (!m_state.takeLayout(std::move(result)))
        return;
    const core::LayoutResult &layout = m_state.layout();
    m_notice->showResult(layout);
    m_canvas->setScene(layout.bounds(), core::placedRects(m_state.picture(), layout));
    m_map->setSceneBounds(layout.bounds());
    m_legend->setPicture(m_state.picture());
    if (m_fitNext || (m_canvas->isFitted() && m_anchor.position == core::kNoBox && !m_revealNext)) {
        m_fitNext = false;
        m_canvas->fit(false, Canvas::kFirstZoom, originBox());
    } else {
        keepAnchor();
    }
    m_look.hovered = {};
    if (!m_matches.empty())
        m_look.matches = boxesHolding(m_state.tree(), m_state.slice(), m_matches);
    updateLook();
    placeOverlays();
    if (m_revealNext) {
        m_revealNext = false;
        showBox(m_current, true);
    }
    Q_EMIT summaryChanged();
}

void GraphPane::setLayoutFailed(std::uint64_t id, const QString &reason)
{
    if (m_state.dropLayout(id))
        m_notice->showFailure(reason);
}

// The first box in which NaN or Inf is born, forward if there is one; empty: none.
core::Rect GraphPane::originBox() const
{
    const std::vector<core::PictureBox> &boxes = m_state.picture().boxes;
    std::uint32_t first = core::kNoBox;
    for (std::uint32_t i = 0; i < boxes.size(); ++i) {
        if (boxes[i].state == core::NodeState::origin)
            return m_state.boxRect(i);
        if (boxes[i].bornInBackward && first == core::kNoBox)
            first = i;
    }
    return first == core::kNoBox ? core::Rect() : m_state.boxRect(first);
}

// The box under the pointer stays there: the frame it became takes its middle, a box that was a frame its
// corner.
void GraphPane::keepAnchor()
{
    const auto now = m_state.placeOf(m_anchor.foldKey, m_anchor.position);
    if (m_anchor.position == core::kNoBox || !now)
        return;
    const core::Point before = m_anchor.byTopLeft ? core::Point{m_anchor.rect.x, m_anchor.rect.y}
                                                  : core::Point{m_anchor.rect.center().x, m_anchor.rect.y};
    const core::Point after =
        m_anchor.byTopLeft ? core::Point{now->x, now->y} : core::Point{now->center().x, now->y};
    Viewport view = m_canvas->viewport();
    view.setZoom(view.zoom(), {view.origin().x + after.x - before.x, view.origin().y + after.y - before.y});
    m_canvas->setViewport(view);
    m_anchor = {};
}

void GraphPane::changeFolds(core::GraphFolds folds, const Anchor &anchor)
{
    if (!m_state.setFolds(std::move(folds)))
        return;
    m_anchor = anchor;
    Q_EMIT foldsChanged();
    requestLayout();
}

std::vector<std::uint32_t> GraphPane::selectedBoxes() const
{
    std::vector<std::uint32_t> boxes;
    if (!m_state.hasPicture() || !trace())
        return boxes;
    if (const auto *range = std::get_if<RangeItem>(&item())) {
        const std::uint32_t first = m_state.boxOf(range->first);
        const std::uint32_t last = m_state.boxOf(range->last);
        for (std::uint32_t i = std::min(first, last);
             first != core::kNoBox && last != core::kNoBox && i <= std::max(first, last); ++i)
            boxes.push_back(i);
        return boxes;
    }
    std::uint32_t box = core::kNoBox;
    if (const auto *module = std::get_if<ModuleItem>(&item()))
        box = m_state.boxOf(module->module);
    else
        box = m_state.boxOf(opOf(*trace(), item()));
    if (box != core::kNoBox)
        boxes.push_back(box);
    return boxes;
}

void GraphPane::updateLook()
{
    m_look.selected = selectedBoxes();
    m_look.selectedCluster = 0;
    m_look.selectedEdge = core::kNoBox;
    if (m_state.hasPicture() && trace()) {
        if (const auto *module = std::get_if<ModuleItem>(&item()))
            m_look.selectedCluster = m_state.clusterOf(module->module);
        if (!m_look.selected.empty())
            m_current = m_look.selected.front();
        else if (m_current >= m_state.picture().boxes.size())
            m_current = core::kNoBox;
    }
    m_canvas->setAccessibleDescription(
        m_state.hasPicture() && m_current < m_state.picture().boxes.size()
            ? boxWords(m_state.picture().boxes[m_current]).join(QStringLiteral(", "))
            : QString());
    updateEmphasis();
    m_canvas->invalidate();
    m_map->update();
}

void GraphPane::updateEmphasis()
{
    m_look.emphasised.clear();
    m_look.pathEdges = m_emphasisIsPath;
    if (m_state.hasPicture() && !m_emphasis.empty())
        m_look.emphasised = boxesHolding(m_state.tree(), m_state.slice(), m_emphasis);
}

void GraphPane::showItem()
{
    updateLook();
    if (!m_look.selected.empty())
        showBox(m_look.selected.front(), false);
    else if (m_look.selectedCluster != 0) {
        Viewport view = m_canvas->viewport();
        view.ensureVisible(m_state.layout().clusters[m_look.selectedCluster], 24.0);
        m_canvas->setViewport(view, true);
    }
}

core::GraphFolds GraphPane::revealingFolds() const
{
    const core::GraphTree &tree = m_state.tree();
    if (const auto *module = std::get_if<ModuleItem>(&item())) {
        for (std::size_t i = 0; i < trace()->moduleCalls().size(); ++i)
            if (trace()->moduleCall(core::ModuleCallId(i)).module == module->module &&
                tree.groupOf(core::ModuleCallId(i)) != core::GraphTree::kNoPosition)
                return core::foldsRevealing(tree, m_state.folds(), core::ModuleCallId(i));
        return m_state.folds();
    }
    const core::OpId op = opOf(*trace(), item());
    return op.isValid() ? core::foldsRevealing(tree, m_state.folds(), trace()->op(op).call) : m_state.folds();
}

void GraphPane::reveal()
{
    if (!m_state.hasTree() || !trace())
        return;
    core::GraphFolds folds = revealingFolds();
    if (folds == m_state.folds()) {
        updateLook();
        showBox(m_current, true);
        return;
    }
    m_revealNext = true;
    changeFolds(std::move(folds), {});
}

void GraphPane::showBox(std::uint32_t box, bool centred)
{
    if (!m_state.hasPicture() || box >= m_state.picture().boxes.size())
        return;
    // Of a graph that is seen whole and can be read nothing is moved out of sight.
    if (centred && m_canvas->showsAll() && zoom() >= 0.6)
        return;
    Viewport view = centred ? m_canvas->viewport() : m_canvas->viewShowing(m_state.boxRect(box));
    if (centred && view.zoom() < 0.6)
        view.zoomAt({view.width() / 2.0, view.height() / 2.0}, 0.84 / view.zoom());
    if (centred)
        view.centerOn(m_state.boxRect(box).center());
    if (!(view == m_canvas->viewport()))
        m_canvas->setViewport(view, true);
}

QString GraphPane::summary() const
{
    if (!m_state.hasPicture())
        return {};
    return tr("%1 for %2")
        .arg(countedText(m_state.picture().boxes.size(), "box", "boxes"),
             countedText(m_state.picture().totalOps, "op", "ops"));
}

void GraphPane::themeChanged()
{
    m_map->update();
    placeOverlays();
}

void GraphPane::resizeEvent(QResizeEvent *)
{
    m_canvas->setGeometry(rect());
    placeOverlays();
}

// In the middle of the lower edge, beside the zoom bar; above it where the pane is too narrow for both.
void GraphPane::placeNotice(int margin)
{
    m_notice->setMaximumWidth(std::max(120, width() - 2 * margin));
    m_notice->adjustSize();
    const int beside = m_zoomBar->geometry().right() + margin;
    const int middle = (width() - m_notice->width()) / 2;
    const int low = height() - m_notice->height() - margin;
    if (std::max(beside, middle) + m_notice->width() + margin <= width())
        m_notice->move(std::max(beside, middle), low);
    else
        m_notice->move(margin, m_zoomBar->y() - m_notice->height() - margin / 2);
}

// What stands beside the zoom bar.
QString GraphPane::countsText() const
{
    QString hint;
    if (m_state.hasPicture() && m_state.picture().totalOps > m_state.picture().boxes.size())
        hint = m_state.picture().boxes.size() == 1
                   ? tr("1 box stands for %1").arg(countedText(m_state.picture().totalOps, "op", "ops"))
                   : tr("%1 boxes stand for %2")
                         .arg(countText(m_state.picture().boxes.size()),
                              countedText(m_state.picture().totalOps, "op", "ops"));
    if (!m_state.hasPicture() || m_state.picture().stubbedEdges == 0)
        return hint;
    const QString edges = countedText(m_state.picture().stubbedEdges, "edge", "edges");
    return hint.isEmpty() ? tr("Stubs for %1").arg(edges) : tr("%1, stubs for %2").arg(hint, edges);
}

void GraphPane::placeOverlays()
{
    constexpr int kMargin = 12;
    m_canvas->placeCornerBar(m_state.hasTree(), m_notice->isVisible() ? QString() : countsText());
    m_findBar->adjustSize();
    m_findBar->move(std::max(kMargin, width() - m_findBar->width() - kMargin), kMargin);
    placeNotice(kMargin);
    m_empty->setGeometry(rect().adjusted(24, 24, -24, -24));
    placeMap(kMargin);
}

// In the upper right corner, the legend below it.
void GraphPane::placeMap(int margin)
{
    const QSize map = m_map->sizeFor({std::clamp(width() / 6, 80, 150), std::clamp(height() / 3, 80, 240)});
    m_map->setGeometry(width() - map.width() - margin,
                       m_findBar->isVisible() ? m_findBar->geometry().bottom() + margin : margin, map.width(),
                       map.height());
    const QSize legend = m_legend->sizeHint();
    m_legend->setGeometry(width() - legend.width() - margin, m_map->geometry().bottom() + margin,
                          legend.width(), legend.height());
    showMap();
}

// A map of what is seen anyway lies over no box, and a legend never does.
void GraphPane::showMap()
{
    const bool hasRoom = m_mapWanted && m_state.hasPicture() && width() > 420 && height() > 220;
    m_map->setVisible(hasRoom && (!m_canvas->showsAll() || m_canvas->isFree(m_map->geometry())));
    const QRect legend = m_legend->geometry();
    m_legend->setVisible(hasRoom && !m_legend->isEmpty() && width() > 4 * legend.width() &&
                         legend.bottom() < m_zoomBar->y() && m_canvas->isFree(legend));
}

} // namespace views
