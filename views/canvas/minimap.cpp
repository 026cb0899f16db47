// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/minimap.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace views {

namespace {

constexpr double kMargin = 8.0;

} // namespace

Minimap::Minimap(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_painter(theme.scheme())
{
    setCursor(Qt::SizeAllCursor);
    setAccessibleName(tr("Map of the graph"));
    setToolTip(tr("Map: drag to move the view (M hides it)"));
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void Minimap::setSceneBounds(const core::Rect &bounds)
{
    m_bounds = bounds;
    update();
}

QSize Minimap::sizeFor(QSize largest) const
{
    const double width = std::max(1.0, m_bounds.width);
    const double height = std::max(1.0, m_bounds.height);
    const double scale =
        std::min((largest.width() - 2.0 * kMargin) / width, (largest.height() - 2.0 * kMargin) / height);
    return {std::max(64, static_cast<int>(width * scale + 2.0 * kMargin)),
            std::max(48, static_cast<int>(height * scale + 2.0 * kMargin))};
}

core::Rect Minimap::area() const
{
    return {kMargin, kMargin, width() - 2.0 * kMargin, height() - 2.0 * kMargin};
}

void Minimap::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_theme.color(core::ColorToken::border), 1.0));
    painter.setBrush(m_theme.wash(core::ColorToken::panel, 0.94));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6.0, 6.0);
    if (!m_builder)
        return;
    m_painter.setScheme(m_theme.scheme());
    painter.setClipRect(rect().adjusted(1, 1, -1, -1));
    m_painter.paint(painter, m_builder(area()), {}, {});
}

void Minimap::ask(QPointF at)
{
    const core::Rect space = area();
    const double scale =
        std::min(space.width / std::max(1.0, m_bounds.width), space.height / std::max(1.0, m_bounds.height));
    const double dx = space.x + (space.width - m_bounds.width * scale) / 2.0;
    const double dy = space.y + (space.height - m_bounds.height * scale) / 2.0;
    Q_EMIT centerWanted({m_bounds.x + (at.x() - dx) / scale, m_bounds.y + (at.y() - dy) / scale});
}

void Minimap::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        ask(event->position());
}

void Minimap::mouseMoveEvent(QMouseEvent *event)
{
    if ((event->buttons() & Qt::LeftButton) != 0)
        ask(event->position());
}

} // namespace views
