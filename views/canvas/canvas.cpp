// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/canvas.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace views {

namespace {

constexpr double kFitMargin = 28.0;
constexpr double kReadableZoom = 0.6; // boxes say their dtype and shape from here on
constexpr double kLineTolerance = 6.0;
constexpr double kDragStart = 4.0;
constexpr int kCameraMs = 160;
constexpr int kToolTipMs = 500;
constexpr double kGroundStep = 24.0;
constexpr int kCornerMargin = 12; // around the corner bar
constexpr int kWordsGap = 16;     // between it and its words
constexpr int kStripMargin = 4;   // above and below it in a strip of its own

} // namespace

Canvas::Canvas(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_painter(theme.scheme())
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    m_toolTipTimer.setSingleShot(true);
    m_toolTipTimer.setInterval(kToolTipMs);
    connect(&m_toolTipTimer, &QTimer::timeout, this, &Canvas::showToolTip);
    connect(&theme, &Theme::changed, this, &Canvas::themeChanged);
    m_motion.setDuration(kCameraMs);
    m_motion.setStartValue(0.0);
    m_motion.setEndValue(1.0);
    m_motion.setEasingCurve(QEasingCurve::OutCubic);
    connect(&m_motion, &QVariantAnimation::valueChanged, this, [this](const QVariant &value) {
        const double share = value.toDouble();
        const auto mix = [share](double from, double to) { return from + (to - from) * share; };
        Viewport view = m_motionTo;
        view.setZoom(m_motionFrom.zoom() * std::pow(m_motionTo.zoom() / m_motionFrom.zoom(), share),
                     {mix(m_motionFrom.origin().x, m_motionTo.origin().x),
                      mix(m_motionFrom.origin().y, m_motionTo.origin().y)});
        applyView(view);
    });
}

core::Point Canvas::fromWidget(QPointF widget) const
{
    return {widget.x() / textScale(), widget.y() / textScale()};
}

QPointF Canvas::toWidget(core::Point scene) const
{
    const core::Point at = m_view.toWindow(scene);
    return QPointF(at.x, at.y) * textScale();
}

void Canvas::sizeView(Viewport &view) const
{
    view.resize(width() / textScale(), (height() - m_strip) / textScale());
}

void Canvas::themeChanged()
{
    invalidate();
    layBar();
    resizeEvent(nullptr);
}

void Canvas::applyView(const Viewport &view)
{
    m_view = view;
    sizeView(m_view);
    update();
    Q_EMIT viewChanged();
}

void Canvas::setViewport(const Viewport &view, bool animated)
{
    m_fitted = false;
    goTo(view, animated);
}

void Canvas::goTo(const Viewport &view, bool animated)
{
    m_motion.stop();
    if (!animated || m_reducedMotion || !isVisible()) {
        applyView(view);
        return;
    }
    m_motionFrom = m_view;
    m_motionTo = view;
    m_motion.start();
}

void Canvas::zoomBy(double factor)
{
    Viewport view = m_view;
    view.zoomAt({view.width() / 2.0, view.height() / 2.0}, factor);
    setViewport(view, true);
}

// All of the scene, above the corner bar where boxes would lie under it otherwise.
void Canvas::fitInto(Viewport &view, double smallestZoom) const
{
    sizeView(view);
    // A scene that is only a little wider than the view is not cut at both sides.
    const double wide = (view.width() - 2.0 * kFitMargin) / std::max(1.0, m_bounds.width);
    if (wide < smallestZoom)
        smallestZoom = std::max(wide, std::min(smallestZoom, kReadableZoom));
    view.fit(m_bounds, kFitMargin, smallestZoom);
    if (isBoxUnderBar(view)) {
        view.resize(view.width(), std::max(1.0, view.height() - m_corner.height() / textScale()));
        view.fit(m_bounds, kFitMargin, smallestZoom);
        sizeView(view);
    }
}

// The part WANTED is brought to the middle where it would be out of sight.
void Canvas::fitWith(Viewport &view, const core::Rect &wanted) const
{
    fitInto(view, m_fitSmallest);
    if (const core::Rect seen = view.visible();
        !wanted.isEmpty() && (wanted.y < seen.y || wanted.bottom() > seen.bottom() || wanted.x < seen.x ||
                              wanted.right() > seen.right()))
        view.centerOn(wanted.center());
}

void Canvas::fit(bool animated, double smallestZoom, const core::Rect &wanted)
{
    Viewport view = m_view;
    m_fitted = true;
    m_fitSmallest = smallestZoom;
    m_fitWanted = wanted;
    m_strip = 0;
    m_barWordsFit = true;
    layBar();
    fitWith(view, wanted);
    if (isBoxUnderBar(view)) {
        m_barWordsFit = false;
        layBar();
    }
    if (isBoxUnderBar(view)) {
        m_strip = m_bar->height() + 2 * kStripMargin;
        m_barWordsFit = true;
        layBar();
        fitWith(view, wanted);
    }
    goTo(view, animated);
}

core::Rect Canvas::underBar(const Viewport &view) const
{
    if (m_strip > 0 || !m_barIsShown)
        return {};
    const double width = m_corner.width() / textScale();
    const double height = m_corner.height() / textScale();
    const core::Point corner = view.toScene({0.0, view.height() - height});
    return {corner.x, corner.y, width / view.zoom(), height / view.zoom()};
}

bool Canvas::isBoxUnderBar(const Viewport &view) const
{
    const core::Rect bar = underBar(view);
    return !bar.isEmpty() && hasBoxIn(bar);
}

bool Canvas::hasBoxIn(const core::Rect &scene) const
{
    return std::any_of(m_boxes.begin(), m_boxes.end(),
                       [&scene](const core::Rect &box) { return box.intersects(scene); });
}

bool Canvas::isFree(const QRect &area) const
{
    const core::Point from = m_view.toScene(fromWidget(area.topLeft()));
    const core::Point to = m_view.toScene(fromWidget(area.bottomRight()));
    return !hasBoxIn({from.x, from.y, to.x - from.x, to.y - from.y});
}

void Canvas::setScene(const core::Rect &bounds, std::vector<core::Rect> boxes)
{
    m_bounds = bounds;
    m_boxes = std::move(boxes);
}

void Canvas::setCornerBar(QWidget *bar, QLabel *words)
{
    m_bar = bar;
    m_barWords = words;
}

void Canvas::placeCornerBar(bool isShown, const QString &words)
{
    const QSize before = m_corner;
    m_barIsShown = isShown;
    m_barText = words;
    layBar();
    if (m_fitted && isShown && m_corner != before)
        fit(false, m_fitSmallest, m_fitWanted);
}

void Canvas::layBar()
{
    if (m_bar == nullptr)
        return;
    const int margin = m_strip > 0 ? kStripMargin : kCornerMargin;
    m_bar->adjustSize();
    m_bar->move(x() + kCornerMargin, y() + height() - m_bar->height() - margin);
    m_bar->setVisible(m_barIsShown);
    m_barWords->setText(m_barText);
    m_barWords->adjustSize();
    const QRect bar = m_bar->geometry();
    m_barWords->move(bar.right() + kWordsGap, bar.center().y() - m_barWords->height() / 2);
    m_barWords->setVisible(m_barIsShown && !m_barText.isEmpty() && m_barWordsFit &&
                           m_barWords->x() + m_barWords->width() < x() + width() - kCornerMargin);
    const int right = m_barWords->isHidden() ? bar.right() : m_barWords->geometry().right();
    m_corner = {right - x() + kCornerMargin, bar.height() + 2 * kCornerMargin};
}

Viewport Canvas::viewShowing(const core::Rect &scene, double margin) const
{
    Viewport view = m_view;
    view.ensureVisible(scene, margin);
    const core::Rect bar = underBar(view);
    if (!bar.isEmpty() && scene.intersects(bar) &&
        scene.height * view.zoom() < view.height() - m_corner.height() / textScale())
        view.pan(0.0, -(scene.bottom() - bar.y) * view.zoom());
    return view;
}

void Canvas::centerOn(core::Point scene)
{
    Viewport view = m_view;
    view.centerOn(scene);
    setViewport(view);
}

bool Canvas::showsAll() const
{
    const core::Rect seen = m_view.visible();
    return seen.x <= m_bounds.x && seen.y <= m_bounds.y && seen.right() >= m_bounds.right() &&
           seen.bottom() >= m_bounds.bottom();
}

void Canvas::invalidate()
{
    m_listZoom = 0.0;
    update();
}

const core::DrawList &Canvas::list() const
{
    const core::Rect view = m_view.visible();
    const bool covers = m_listZoom == m_view.zoom() && m_listArea.x <= view.x && m_listArea.y <= view.y &&
                        m_listArea.right() >= view.right() && m_listArea.bottom() >= view.bottom();
    if (!covers && m_builder) {
        m_listArea = view.expanded(std::max(view.width, view.height) / 2.0);
        m_listZoom = m_view.zoom();
        m_list = m_builder(m_listZoom, m_listArea);
    }
    return m_list;
}

core::HitId Canvas::hitAt(QPointF widget) const
{
    const core::Point scene = m_view.toScene(fromWidget(widget));
    return list().hitTest({scene.x * m_view.zoom(), scene.y * m_view.zoom()}, kLineTolerance);
}

// A faint grid of dots that moves with the scene gives panning something to hold on to.
void Canvas::drawGround(QPainter &painter, const QRectF &area) const
{
    painter.fillRect(area, m_theme.color(core::ColorToken::canvas));
    double step = kGroundStep * m_view.zoom();
    while (step < 18.0)
        step *= 2.0;
    const core::Point zero = m_view.toWindow({0.0, 0.0});
    QVector<QRectF> dots;
    for (double y = std::fmod(zero.y, step); y < m_view.height(); y += step)
        for (double x = std::fmod(zero.x, step); x < m_view.width(); x += step)
            dots.append(QRectF(std::floor(x), std::floor(y), 1.0, 1.0));
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.wash(core::ColorToken::border, 0.8));
    painter.drawRects(dots);
}

void Canvas::paintEvent(QPaintEvent *event)
{
    QPainter painter(this);
    const double scale = textScale();
    painter.scale(scale, scale);
    const QRectF dirty = event->rect();
    const QRectF area(dirty.topLeft() / scale, dirty.size() / scale);
    drawGround(painter, area);
    m_painter.setScheme(m_theme.scheme());
    const QPointF offset(-m_view.origin().x * m_view.zoom(), -m_view.origin().y * m_view.zoom());
    painter.setClipRect(QRectF(0.0, 0.0, m_view.width(), m_view.height()));
    m_painter.paint(painter, list(), offset, area);
    painter.setClipping(false);
    painter.resetTransform();
    if (m_strip > 0) {
        const QRect strip(0, height() - m_strip, width(), m_strip);
        painter.fillRect(strip, m_theme.color(core::ColorToken::panel));
        painter.fillRect(strip.x(), strip.y(), strip.width(), 1, m_theme.color(core::ColorToken::border));
    }
    if (!hasFocus())
        return;
    painter.setPen(QPen(m_theme.color(core::ColorToken::accent), 1.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void Canvas::resizeEvent(QResizeEvent *)
{
    sizeView(m_view);
    if (m_fitted)
        fit(false, m_fitSmallest, m_fitWanted);
    else
        Q_EMIT viewChanged();
}

void Canvas::wheelEvent(QWheelEvent *event)
{
    m_motion.stop();
    const QPoint pixels = event->pixelDelta();
    const double steps = pixels.isNull() ? event->angleDelta().y() / 120.0 : pixels.y() / 60.0;
    Viewport view = m_view;
    if ((event->modifiers() & Qt::ShiftModifier) != 0)
        view.pan(event->angleDelta().y() + event->angleDelta().x(), 0.0);
    else
        view.zoomAt(fromWidget(event->position()), std::pow(1.2, steps));
    setViewport(view);
    setHovered(hitAt(event->position()));
    event->accept();
}

void Canvas::mousePressEvent(QMouseEvent *event)
{
    m_motion.stop();
    m_toolTipTimer.stop();
    QToolTip::hideText();
    m_pressedAt = m_lastAt = event->position();
    m_pressedHit = hitAt(event->position());
    m_leftPressed = event->button() == Qt::LeftButton;
    m_panning = event->button() == Qt::MiddleButton || (m_leftPressed && m_spaceHeld);
    if (m_panning)
        setCursor(Qt::ClosedHandCursor);
}

void Canvas::mouseMoveEvent(QMouseEvent *event)
{
    const QPointF moved = event->position() - m_lastAt;
    const bool dragged = (event->position() - m_pressedAt).manhattanLength() > kDragStart;
    if (m_leftPressed && !m_panning && dragged) {
        m_panning = true;
        setCursor(Qt::ClosedHandCursor);
    }
    if (m_panning) {
        Viewport view = m_view;
        view.pan(moved.x() / textScale(), moved.y() / textScale());
        m_lastAt = event->position();
        setViewport(view);
        return;
    }
    m_lastAt = event->position();
    setHovered(hitAt(event->position()));
    m_toolTipTimer.start();
}

void Canvas::mouseReleaseEvent(QMouseEvent *event)
{
    const bool clickedHere = m_leftPressed && !m_panning && event->button() == Qt::LeftButton;
    m_panning = false;
    m_leftPressed = false;
    unsetCursor();
    if (clickedHere)
        Q_EMIT clicked(m_pressedHit, event->modifiers());
}

void Canvas::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        Q_EMIT doubleClicked(hitAt(event->position()));
}

void Canvas::contextMenuEvent(QContextMenuEvent *event)
{
    const QPointF at = event->reason() == QContextMenuEvent::Keyboard ? QPointF(width() / 2.0, height() / 2.0)
                                                                      : QPointF(event->pos());
    Q_EMIT menuWanted(hitAt(at), mapToGlobal(at.toPoint()));
}

void Canvas::leaveEvent(QEvent *)
{
    m_toolTipTimer.stop();
    setHovered({});
}

void Canvas::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) {
        m_spaceHeld = true;
        return;
    }
    event->ignore();
}

void Canvas::keyReleaseEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat())
        m_spaceHeld = false;
    else
        event->ignore();
}

void Canvas::setHovered(core::HitId hit)
{
    if (hit == m_hovered)
        return;
    m_hovered = hit;
    Q_EMIT hoverChanged(hit);
}

void Canvas::showToolTip()
{
    if (!m_toolTipText || m_hovered.isNothing() || !underMouse())
        return;
    const QString text = m_toolTipText(m_hovered);
    if (!text.isEmpty())
        QToolTip::showText(mapToGlobal(m_lastAt.toPoint()) + QPoint(12, 16), text, this);
}

} // namespace views
