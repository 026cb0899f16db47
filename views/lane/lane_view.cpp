// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/lane/lane_view.h"

#include "views/base/formatting.h"
#include "views/base/scaled.h"
#include "views/canvas/box_words.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace views {

namespace {

constexpr int kHeight = 78;
constexpr int kTallHeight = 116;
constexpr double kDragStart = 4.0;
constexpr double kFewestCells = 8.0;

} // namespace

LaneView::LaneView(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("lane"), tr("Execution order"), parent), m_painter(theme().scheme())
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize LaneView::sizeHint() const
{
    // One row needs no more height for its captions.
    return {800, scaledToText(theme(), m_look.tall && !m_model.backward.empty() ? kTallHeight : kHeight)};
}

// The lane is drawn for text at its usual size and enlarged as a whole.
double LaneView::textScale() const
{
    return theme().textPercent() / 100.0;
}

double LaneView::laneX(double x) const
{
    return x / textScale();
}

// The cells' part of the drawing.
double LaneView::cellsWidth() const
{
    return std::max(1.0, laneX(width()) - core::kLaneCaption);
}

void LaneView::themeChanged()
{
    m_listDue = true;
    updateGeometry();
    update();
}

void LaneView::setTall(bool tall)
{
    m_look.tall = tall;
    m_listDue = true;
    updateGeometry();
    update();
}

void LaneView::setMarks(core::GraphMarks marks)
{
    m_marks = std::move(marks);
    if (trace() && m_marks.byOp.size() == trace()->ops().size()) {
        m_model = core::laneModel(core::GraphTree(trace(), m_marks));
        m_listDue = true;
        update();
    }
}

void LaneView::setMatches(const std::vector<core::OpId> &matches)
{
    m_look.matches.clear();
    for (const core::OpId op : matches)
        if (const std::uint32_t cell = m_model.cellOf(op); cell != core::LaneModel::kNoCell)
            m_look.matches.push_back(cell);
    m_listDue = true;
    update();
}

void LaneView::showTrace()
{
    m_look.matches.clear();
    m_model = {};
    if (trace()) {
        core::GraphMarks marks =
            m_marks.byOp.size() == trace()->ops().size() ? m_marks : core::marksFromStats(*trace());
        m_model = core::laneModel(core::GraphTree(trace(), std::move(marks)));
    }
    showAll();
    updateGeometry();
}

void LaneView::showItem()
{
    m_look.current = core::LaneModel::kNoCell;
    m_look.rangeFirst = m_look.rangeLast = core::LaneModel::kNoCell;
    if (trace()) {
        if (const auto *range = std::get_if<RangeItem>(&item())) {
            m_look.rangeFirst = m_model.cellOf(range->first);
            m_look.rangeLast = m_model.cellOf(range->last);
            if (m_look.rangeFirst != core::LaneModel::kNoCell && m_look.rangeLast < m_look.rangeFirst)
                std::swap(m_look.rangeFirst, m_look.rangeLast);
        }
        m_look.current = m_model.cellOf(opOf(*trace(), item()));
    }
    setAccessibleDescription(m_look.current == core::LaneModel::kNoCell
                                 ? QString()
                                 : cellWords(m_look.current).join(QStringLiteral(", ")));
    // Only when one is zoomed in can the current op be out of sight.
    if (m_look.current != core::LaneModel::kNoCell &&
        (m_look.current < m_look.first || m_look.current >= m_look.first + m_look.count)) {
        m_look.first = m_look.current - m_look.count / 2.0;
        clampView();
    }
    m_listDue = true;
    update();
}

void LaneView::showAll()
{
    m_look.first = 0.0;
    m_look.count = static_cast<double>(m_model.forward.size());
    m_listDue = true;
    update();
}

void LaneView::clampView()
{
    const auto all = static_cast<double>(m_model.forward.size());
    m_look.count = std::clamp(m_look.count, std::min(kFewestCells, all), all);
    m_look.first = std::clamp(m_look.first, 0.0, all - m_look.count);
    m_listDue = true;
    update();
}

void LaneView::zoomAt(double x, double factor)
{
    const double share = std::clamp((laneX(x) - core::kLaneCaption) / cellsWidth(), 0.0, 1.0);
    const double fixed = m_look.first + share * m_look.count;
    m_look.count *= factor;
    const auto all = static_cast<double>(m_model.forward.size());
    m_look.count = std::clamp(m_look.count, std::min(kFewestCells, all), all);
    m_look.first = fixed - share * m_look.count;
    clampView();
}

core::OpId LaneView::opAt(double x) const
{
    const std::uint32_t cell = core::laneCellAt(m_model, m_look, laneX(x));
    return cell == core::LaneModel::kNoCell ? core::OpId() : m_model.forward[cell].op;
}

void LaneView::paintEvent(QPaintEvent *event)
{
    QPainter painter(this);
    painter.fillRect(event->rect(), theme().color(core::ColorToken::window));
    if (m_listDue) {
        m_look.width = laneX(width()) - 12.0;
        m_look.height = height() / textScale();
        m_list = core::drawLane(m_model, m_look);
        m_listDue = false;
    }
    m_painter.setScheme(theme().scheme());
    painter.scale(textScale(), textScale());
    m_painter.paint(painter, m_list, {}, {});
    painter.resetTransform();
    painter.setPen(theme().color(core::ColorToken::border));
    painter.drawLine(0, height() - 1, width(), height() - 1);
    if (hasFocus()) {
        painter.setPen(QPen(theme().color(core::ColorToken::accent), 2.0));
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

void LaneView::resizeEvent(QResizeEvent *)
{
    m_listDue = true;
}

void LaneView::wheelEvent(QWheelEvent *event)
{
    if ((event->modifiers() & Qt::ShiftModifier) != 0 || event->angleDelta().y() == 0) {
        const double by = event->angleDelta().x() + event->angleDelta().y();
        m_look.first -= laneX(by) / cellsWidth() * m_look.count;
        clampView();
    } else {
        zoomAt(event->position().x(), std::pow(1.25, -event->angleDelta().y() / 120.0));
    }
    event->accept();
}

void LaneView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)
        return;
    m_pressedAt = event->position();
    m_pressedFirst = m_look.first;
    m_dragging = false;
}

void LaneView::mouseMoveEvent(QMouseEvent *event)
{
    if (event->buttons() == Qt::NoButton) {
        selection().hover(opAt(event->position().x()));
        return;
    }
    const double moved = event->position().x() - m_pressedAt.x();
    m_dragging = m_dragging || std::abs(moved) > kDragStart;
    if (m_dragging) {
        m_look.first = m_pressedFirst - laneX(moved) / cellsWidth() * m_look.count;
        clampView();
    }
}

void LaneView::mouseReleaseEvent(QMouseEvent *event)
{
    if (!m_dragging && event->button() == Qt::LeftButton) {
        const core::HitId hit =
            m_list.hitTest({laneX(event->position().x()), laneX(event->position().y())}, 0.0);
        if (hit.kind == static_cast<std::uint16_t>(core::LaneHit::band)) {
            const core::LaneBand &band = m_model.bands[hit.index];
            selection().select(RangeItem{m_model.forward[band.begin].op, m_model.forward[band.end - 1].op});
        } else {
            selectCell(core::laneCellAt(m_model, m_look, laneX(event->position().x())),
                       (event->modifiers() & Qt::ShiftModifier) != 0);
        }
    }
    m_dragging = false;
}

void LaneView::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (const core::OpId op = opAt(event->position().x()); op.isValid())
        selection().activate(OpItem{op});
}

void LaneView::selectCell(std::uint32_t cell, bool extend)
{
    if (cell >= m_model.forward.size())
        return;
    if (extend && m_look.current != core::LaneModel::kNoCell)
        selection().select(RangeItem{m_model.forward[std::min(cell, m_look.current)].op,
                                     m_model.forward[std::max(cell, m_look.current)].op});
    else
        selection().select(OpItem{m_model.forward[cell].op});
}

void LaneView::keyPressEvent(QKeyEvent *event)
{
    const std::uint32_t at = m_look.current == core::LaneModel::kNoCell ? 0 : m_look.current;
    const auto last = static_cast<std::uint32_t>(m_model.forward.empty() ? 0 : m_model.forward.size() - 1);
    const bool extend = (event->modifiers() & Qt::ShiftModifier) != 0;
    const double middle = (core::kLaneCaption + cellsWidth() / 2.0) * textScale();
    switch (event->key()) {
    case Qt::Key_Left:
        return selectCell(at == 0 ? 0 : at - 1, extend);
    case Qt::Key_Right:
        return selectCell(std::min(at + 1, last), extend);
    case Qt::Key_Home:
        return selectCell(0, extend);
    case Qt::Key_End:
        return selectCell(last, extend);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomAt(middle, 0.5);
    case Qt::Key_Minus:
        return zoomAt(middle, 2.0);
    case Qt::Key_F:
        return showAll();
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_look.current != core::LaneModel::kNoCell)
            selection().activate(OpItem{m_model.forward[m_look.current].op});
        return;
    default:
        Pane::keyPressEvent(event);
    }
}

// What a cell says, a line each.
QStringList LaneView::cellWords(std::uint32_t index) const
{
    const core::LaneCell &cell = m_model.forward[index];
    QStringList lines = {fromView(trace()->publicLabel(cell.op)),
                         tr("op %L1 of %L2").arg(index + 1).arg(m_model.forward.size())};
    if (cell.state != core::NodeState::clean)
        lines.append(fromView(core::nodeStateName(cell.state)));
    const core::TensorId tensor = trace()->op(cell.op).tensor;
    const core::TensorStats *stats = tensor.isValid() ? m_marks.stats(*trace(), tensor) : nullptr;
    if (stats != nullptr && stats->nonFinite() > 0)
        lines.append(tr("%1 of %2 elements are NaN or Inf")
                         .arg(countText(stats->nonFinite()), countText(stats->elements)));
    if (index < m_model.backward.size() && m_model.backward[index].state == core::NodeState::origin)
        lines.append(tr("NaN or Inf is born in its backward pass"));
    if (cell.unchecked)
        lines.append(tr("not saved"));
    const QString module = fromView(trace()->moduleAddress(cell.op));
    if (!module.isEmpty())
        lines.append(module);
    return lines;
}

QString LaneView::toolTipAt(double x) const
{
    const std::uint32_t index = core::laneCellAt(m_model, m_look, laneX(x));
    if (index == core::LaneModel::kNoCell || !trace())
        return {};
    return toolTipOfLines(cellWords(index));
}

bool LaneView::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const QString text = toolTipAt(help->pos().x());
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return Pane::event(event);
}

} // namespace views
