// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_picture.h"
#include "views/base/theme.h"
#include "views/render/draw_painter.h"

#include <QFrame>

#include <vector>

namespace views {

// What the signs of a graph mean: a line for each state that its boxes have, births in the backward pass
// among them, and one for what was not looked at. Owned by the graph's pane; GUI thread.
class GraphLegend : public QFrame
{
    Q_OBJECT

public:
    GraphLegend(const Theme &theme, QWidget *parent);

    void setPicture(const core::GraphPicture &picture);
    // Nothing of the picture needs a word.
    bool isEmpty() const { return m_lines.empty(); }
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    struct Line
    {
        core::NodeState state = core::NodeState::clean; // clean: not looked at
        bool bornInBackward = false;
        QString words;
    };
    int lineHeight() const;

    const Theme &m_theme;
    render::DrawPainter m_painter;
    std::vector<Line> m_lines;
};

} // namespace views
