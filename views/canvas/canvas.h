// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"
#include "views/base/theme.h"
#include "views/canvas/viewport.h"
#include "views/render/draw_painter.h"

#include <QTimer>
#include <QVariantAnimation>
#include <QWidget>

#include <functional>
#include <vector>

class QLabel;

namespace views {

// A window on a drawn scene: pans, zooms at the pointer, finds what is under it. Knows nothing of what is
// drawn: a builder gives the draw list for a zoom and a part of the scene, and hit ids come back by signals.
// The list is kept while the zoom stays and the view is inside the part it was made for. All of it is as much
// larger as the theme's text is: the viewport counts pixels of text at its usual size. Owned by its pane; GUI
// thread.
class Canvas : public QWidget
{
    Q_OBJECT

public:
    // The list for ZOOM, in pixels at that zoom; VISIBLE (scene) may be ignored.
    using Builder = std::function<core::DrawList(double zoom, const core::Rect &visible)>;

    static constexpr double kFirstZoom = 0.7;  // names can be read; the rest is a scroll away
    static constexpr double kBoxMargin = 40.0; // pixels around a box that is brought into sight

    explicit Canvas(const Theme &theme, QWidget *parent = nullptr);

    void setBuilder(Builder builder) { m_builder = std::move(builder); }
    // What is drawn takes BOUNDS; its BOXES do not come to lie under the corner bar, neither by fit() nor by
    // viewShowing(): where the scene is not to be smaller, the words go, then the bar gets a strip of its
    // own.
    void setScene(const core::Rect &bounds, std::vector<core::Rect> boxes);
    void setReducedMotion(bool reduced) { m_reducedMotion = reduced; }
    // Words for the tooltip over a region; shown 500 ms after the pointer came to rest.
    void setToolTipText(std::function<QString(core::HitId)> text) { m_toolTipText = std::move(text); }

    const Viewport &viewport() const { return m_view; }
    // Goes there, over 160 ms unless motion is reduced or ANIMATED is false.
    void setViewport(const Viewport &view, bool animated = false);
    void zoomBy(double factor); // at the middle
    // The whole scene, and again at every resize until the view is moved; see Viewport::fit. Of a scene that
    // is only shown from its top, the part WANTED (may be empty) is brought to the middle if it would be out
    // of sight.
    void fit(bool animated = true, double smallestZoom = kSmallestZoom, const core::Rect &wanted = {});
    bool isFitted() const { return m_fitted; }
    // BAR lies over the lower left corner with a few words behind it. Both have the parent of the canvas.
    void setCornerBar(QWidget *bar, QLabel *words);
    // Puts them into the corner, WORDS where there is room for them. To be called when either size changed.
    void placeCornerBar(bool isShown, const QString &words);
    // The view moved as little as needed to show SCENE with MARGIN pixels around.
    Viewport viewShowing(const core::Rect &scene, double margin = kBoxMargin) const;
    void centerOn(core::Point scene);
    // Nothing of the scene is out of sight.
    bool showsAll() const;
    // No box is drawn in AREA of the widget.
    bool isFree(const QRect &area) const;
    // What was drawn has changed: the list is made anew at the next painting.
    void invalidate();

    core::HitId hitAt(QPointF widget) const;
    // Where a point of the scene is in the widget.
    QPointF toWidget(core::Point scene) const;
    // The height of the strip below the scene that the corner bar has to itself; 0: it lies over the scene.
    int barStrip() const { return m_strip; }
    core::HitId hovered() const { return m_hovered; }
    QSize sizeHint() const override { return {640, 480}; }

Q_SIGNALS:
    void hoverChanged(core::HitId hit);
    void clicked(core::HitId hit, Qt::KeyboardModifiers modifiers);
    void doubleClicked(core::HitId hit);
    void menuWanted(core::HitId hit, QPoint globalPosition);
    void viewChanged();

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void keyReleaseEvent(QKeyEvent *event) override;

private:
    const core::DrawList &list() const;
    void drawGround(QPainter &painter, const QRectF &area) const;
    double textScale() const { return m_theme.textPercent() / 100.0; }
    core::Point fromWidget(QPointF widget) const;
    void sizeView(Viewport &view) const;
    void fitInto(Viewport &view, double smallestZoom) const;
    void fitWith(Viewport &view, const core::Rect &wanted) const;
    void layBar();
    void themeChanged();
    void applyView(const Viewport &view);
    void goTo(const Viewport &view, bool animated);
    core::Rect underBar(const Viewport &view) const; // scene
    bool isBoxUnderBar(const Viewport &view) const;
    bool hasBoxIn(const core::Rect &scene) const;
    void setHovered(core::HitId hit);
    void showToolTip();

    const Theme &m_theme;
    Builder m_builder;
    std::function<QString(core::HitId)> m_toolTipText;
    Viewport m_view;
    core::Rect m_bounds;
    bool m_reducedMotion = false;
    bool m_fitted = false;
    double m_fitSmallest = kSmallestZoom;
    core::Rect m_fitWanted;
    std::vector<core::Rect> m_boxes;
    QWidget *m_bar = nullptr;
    QLabel *m_barWords = nullptr;
    QString m_barText;
    bool m_barIsShown = false;
    bool m_barWordsFit = true; // without covering a box
    QSize m_corner;            // what both take of it
    int m_strip = 0;

    mutable core::DrawList m_list;
    mutable core::Rect m_listArea; // scene the list was made for
    mutable double m_listZoom = 0.0;
    render::DrawPainter m_painter;

    core::HitId m_hovered;
    QTimer m_toolTipTimer;
    QVariantAnimation m_motion;
    Viewport m_motionFrom;
    Viewport m_motionTo;
    QPointF m_pressedAt;
    QPointF m_lastAt;
    core::HitId m_pressedHit;
    bool m_panning = false;
    bool m_spaceHeld = false;
    bool m_leftPressed = false;
};

} // namespace views
