// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"
#include "views/base/theme.h"
#include "views/render/draw_painter.h"

#include <QWidget>

#include <functional>

namespace views {

// The whole scene in small, with the part a canvas shows; dragging in it moves that part. Owned by its pane;
// GUI thread.
class Minimap : public QWidget
{
    Q_OBJECT

public:
    // The map drawn into a rectangle, with the viewport marked.
    using Builder = std::function<core::DrawList(const core::Rect &area)>;

    explicit Minimap(const Theme &theme, QWidget *parent = nullptr);

    void setBuilder(Builder builder) { m_builder = std::move(builder); }
    void setSceneBounds(const core::Rect &bounds);
    // A size that suits the scene's proportions, at most LARGEST.
    QSize sizeFor(QSize largest) const;

Q_SIGNALS:
    void centerWanted(QPointF scene);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;

private:
    core::Rect area() const;
    void ask(QPointF at);

    const Theme &m_theme;
    Builder m_builder;
    core::Rect m_bounds;
    render::DrawPainter m_painter;
};

} // namespace views
