// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_draw.h"
#include "views/base/pane.h"
#include "views/canvas/canvas.h"
#include "views/canvas/canvas_bars.h"
#include "views/canvas/minimap.h"
#include "views/canvas/picture_export.h"
#include "views/graph/graph_overlay.h"
#include "views/graph/graph_state.h"

#include <memory>
#include <vector>

class QLabel;

namespace views {

class GraphLegend;

// The op graph, folded by modules: pans, zooms, unfolds in place, finds, follows edges by keys. Facts: the
// trace, the marks a report made, layouts. Wishes: the selection, and layoutRequested for each slice. It
// knows no layout engine: whoever answers calls setLayout. Owned by its dock; GUI thread.
class GraphPane : public Pane
{
    Q_OBJECT

public:
    explicit GraphPane(const PaneContext &context, QWidget *parent = nullptr);

    // What a report found out about each op; states by the statistics alone until then.
    void setMarks(core::GraphMarks marks);
    // The answer to a request; an older one is ignored.
    void setLayout(core::LayoutResult result);
    // The request with this ID is not answered; what is shown stays.
    void setLayoutFailed(std::uint64_t id, const QString &reason);
    void setReducedMotion(bool reduced) { m_canvas->setReducedMotion(reduced); }

    const GraphState &state() const { return m_state; }
    Canvas &canvas() { return *m_canvas; }
    // Words for the status bar: "12 boxes for 1,184 ops".
    QString summary() const;
    bool hasEmphasis() const { return !m_emphasis.empty(); }
    const std::vector<core::OpId> &emphasis() const { return m_emphasis; }
    bool isFindOpen() const { return m_findBar->isVisible(); }
    double zoom() const { return m_canvas->viewport().zoom(); }
    // The whole of what is unfolded now; empty without a picture.
    PictureExport exportPicture() const;

    // What history and settings keep.
    const core::GraphFolds &folds() const { return m_state.folds(); }
    void setFolds(const core::GraphFolds &folds) { changeFolds(folds, {}); }

public Q_SLOTS:
    void fitGraph();
    void zoomToSelection();
    void toggleMap();
    void openFind();
    void findStep(int direction);
    void closeFind();
    void unfoldCurrent();
    void foldCurrent();
    void foldAll();
    void foldToFit();
    void foldToDepth(int depth);
    void goToParent();
    // Dims all but the shortest path between the current op and an origin; once more: shows all again.
    void togglePath();
    // Dims all but the current op, what it is made from and what is made from it.
    void isolateCurrent();
    // Dims all but what is selected.
    void dimOthers();
    void clearEmphasis();

Q_SIGNALS:
    void layoutRequested(const core::LayoutRequest &request);
    void layoutCancelled();
    void foldsChanged();
    void zoomChanged(double zoom);
    void summaryChanged();
    void matchesChanged(const std::vector<core::OpId> &matches);
    void emphasisChanged();

protected:
    void showTrace() override;
    void showItem() override;
    void reveal() override;
    void themeChanged() override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    // What must stay where it is on screen while the graph around it changes.
    struct Anchor
    {
        std::uint64_t foldKey = 0;
        std::uint32_t position = core::kNoBox;
        bool byTopLeft = false;
        core::Rect rect; // in the scene before the change
    };

    void buildOverlays();
    void connectCanvas();
    void changeFolds(core::GraphFolds folds, const Anchor &anchor);
    void requestLayout();
    core::Rect originBox() const;
    void keepAnchor();
    void updateLook();
    void updateEmphasis();
    void setEmphasis(std::vector<core::OpId> ops, bool isPath);
    core::OpId currentOp() const;
    void placeOverlays();
    QString countsText() const;
    void placeNotice(int margin);
    void placeMap(int margin);
    void showMap();
    void clickedOn(core::HitId hit, Qt::KeyboardModifiers modifiers);
    void activateHit(core::HitId hit);
    void selectBox(std::uint32_t box);
    void extendRange(std::uint32_t box);
    void activateBox(std::uint32_t box);
    void unfoldBox(std::uint32_t box);
    void foldCluster(std::uint32_t cluster);
    void hoverHit(core::HitId hit);
    void showBox(std::uint32_t box, bool centred);
    void moveTo(Direction direction);
    bool handleLetter(int key, Qt::KeyboardModifiers modifiers);
    bool isThere(core::HitId hit) const;
    QString toolTipOf(core::HitId hit) const;
    void runFind();
    core::GraphFolds revealingFolds() const;
    std::vector<std::uint32_t> selectedBoxes() const;

    GraphState m_state;
    core::GraphMarks m_marks;
    core::GraphLook m_look;
    Anchor m_anchor;
    bool m_fitNext = true;
    bool m_revealNext = false;
    bool m_mapWanted = true;
    std::uint32_t m_current = core::kNoBox;
    std::vector<core::OpId> m_emphasis; // what is not dimmed; empty: all
    bool m_emphasisIsPath = false;
    std::vector<core::OpId> m_matches;
    int m_match = -1;

    Canvas *m_canvas = nullptr;
    Minimap *m_map = nullptr;
    GraphLegend *m_legend = nullptr;
    ZoomBar *m_zoomBar = nullptr;
    FindBar *m_findBar = nullptr;
    LayoutNotice *m_notice = nullptr;
    QLabel *m_hint = nullptr;
    QLabel *m_empty = nullptr;
};

} // namespace views
