// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/lane.h"
#include "views/base/pane.h"
#include "views/render/draw_painter.h"

#include <QPointF>

#include <memory>
#include <vector>

namespace views {

// The lane above the docks: every op in execution order, the forward row and under it the backward one. Wheel
// zooms at the pointer, dragging pans, a click selects the op under it, Shift makes a range. Facts come in by
// the selection, marks by setMarks. Owned by the window; GUI thread.
class LaneView : public Pane
{
    Q_OBJECT

public:
    explicit LaneView(const PaneContext &context, QWidget *parent = nullptr);

    bool canBePinned() const override { return false; }
    // Two heights: with captions in NaN hunt, without elsewhere.
    void setTall(bool tall);
    void setMarks(core::GraphMarks marks);
    void setMatches(const std::vector<core::OpId> &matches);

    const core::LaneModel &model() const { return m_model; }
    // The op of the cell under X; none outside.
    core::OpId opAt(double x) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {320, sizeHint().height()}; }

protected:
    void showTrace() override;
    void showItem() override;
    void themeChanged() override;
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

private:
    double textScale() const;
    double laneX(double x) const; // from pixels of the widget, x or y
    double cellsWidth() const;
    void showAll();
    void clampView();
    void zoomAt(double x, double factor);
    void selectCell(std::uint32_t cell, bool extend);
    QStringList cellWords(std::uint32_t index) const;
    QString toolTipAt(double x) const;

    core::LaneModel m_model;
    core::LaneLook m_look;
    core::GraphMarks m_marks;
    render::DrawPainter m_painter;
    core::DrawList m_list;
    bool m_listDue = true;
    bool m_dragging = false;
    QPointF m_pressedAt;
    double m_pressedFirst = 0.0;
};

} // namespace views
