// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"
#include "core/graph/graph_picture.h"

namespace core {

enum class StateBar : std::uint8_t { none, solid, hatched, thin };

// How a state looks: by glyph, bar and outline first, by colour last.
struct StateLook
{
    ColorToken fill = ColorToken::node;
    ColorToken stroke = ColorToken::nodeb;
    ColorToken ink = ColorToken::text; // glyph and bar
    float strokeWidth = 1.0F;
    bool doubled = false; // a second outline
    Dash dash = Dash::solid;
    StateBar bar = StateBar::none;
    Glyph glyph = Glyph::dot;
    bool hasGlyph = false;
};
StateLook stateLook(NodeState state);
// The same with a birth in the backward pass: an origin's look, dashed as all that is of gradients, unless
// the forward pass has an origin there already. Box and frame tell it by a mark of their own too.
StateLook stateLook(NodeState state, bool bornInBackward);
inline StateLook lookOf(const PictureBox &box)
{
    return stateLook(box.state, box.bornInBackward);
}
// Whether NaN or Inf is born in it, forward or backward.
inline bool isBirth(const PictureBox &box)
{
    return box.state == NodeState::origin || box.bornInBackward;
}

struct EdgeLook
{
    ColorToken color = ColorToken::edge;
    float width = 1.5F;
    Dash dash = Dash::solid;
};
EdgeLook edgeLook(EdgeKind kind);

// A badge with its right edge at RIGHT and its middle at MIDDLE; returns its width.
double drawBadge(DrawList &list, const PictureBadge &badge, Point rightMiddle, double scale);

// Draws one box into BOX (pixels of the screen) as its detail level asks.
struct BoxFrame
{
    Rect box;
    double zoom = 1.0;
};
void drawBar(DrawList &list, const PictureBox &box, const BoxFrame &frame);
void drawNameBox(DrawList &list, const PictureBox &box, const BoxFrame &frame);
void drawNormalBox(DrawList &list, const PictureBox &box, const BoxFrame &frame);
void drawFullBox(DrawList &list, const PictureBox &box, const BoxFrame &frame);

} // namespace core
