// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_look.h"

#include "core/graph/graph_layout.h"

#include <algorithm>
#include <cmath>

namespace core {

StateLook stateLook(NodeState state)
{
    using enum ColorToken;
    constexpr Dash kSolid = Dash::solid;
    switch (state) {
    case NodeState::origin:
        return {nanbg, nan, nan, 2.0F, false, kSolid, StateBar::solid, Glyph::diamond, true};
    case NodeState::cause:
        return {infbg, inf, inf, 1.0F, false, kSolid, StateBar::thin, Glyph::dottedDiamond, true};
    case NodeState::propagated:
        return {node, nan, nan, 1.0F, false, kSolid, StateBar::hatched, Glyph::triangle, true};
    case NodeState::spreads:
        return {node, nan, nan, 1.0F, false, kSolid, StateBar::hatched, Glyph::stepArrow, true};
    case NodeState::reached:
        return {nanbg, nan, nan, 1.0F, true, kSolid, StateBar::thin, Glyph::arrowToBar, true};
    case NodeState::sink:
        return {warnbg, warn, warn, 1.0F, false, kSolid, StateBar::thin, Glyph::stopBar, true};
    case NodeState::healed:
        return {okbg, ok, ok, 1.0F, false, kSolid, StateBar::thin, Glyph::ringCheck, true};
    case NodeState::clean:
        break;
    }
    return {};
}

StateLook stateLook(NodeState state, bool bornInBackward)
{
    StateLook look = stateLook(bornInBackward ? NodeState::origin : state);
    if (bornInBackward && state != NodeState::origin)
        look.dash = Dash::dashed;
    return look;
}

EdgeLook edgeLook(EdgeKind kind)
{
    switch (kind) {
    case EdgeKind::nan:
        return {ColorToken::nan, 2.6F, Dash::solid};
    case EdgeKind::inf:
        return {ColorToken::inf, 2.0F, Dash::solid};
    case EdgeKind::gradient:
        return {ColorToken::grad, 1.5F, Dash::dashed};
    case EdgeKind::alias:
        return {ColorToken::edge, 1.5F, Dash::dotted};
    case EdgeKind::data:
        break;
    }
    return {};
}

double drawBadge(DrawList &list, const PictureBadge &badge, Point rightMiddle, double scale)
{
    TextStyle font = kBadgeFont;
    font.size = static_cast<float>(std::max(1.0, std::round(kBadgeFont.size * scale)));
    const double width = textWidth(badge.text, font) + 10.0 * scale;
    const double height = 16.0 * scale;
    const Rect box = {rightMiddle.x - width, rightMiddle.y - height / 2.0, width, height};
    Paint paint;
    ColorToken ink = ColorToken::second;
    switch (badge.tone) {
    case BadgeTone::nan:
        paint.fill = ColorToken::nanbg;
        ink = paint.stroke = ColorToken::nan;
        break;
    case BadgeTone::nanSolid:
        paint.fill = ColorToken::nan;
        ink = ColorToken::ontint;
        break;
    case BadgeTone::inf:
        paint.fill = ColorToken::infbg;
        ink = paint.stroke = ColorToken::inf;
        break;
    case BadgeTone::warn:
        paint.fill = ColorToken::warnbg;
        ink = paint.stroke = ColorToken::warn;
        break;
    case BadgeTone::ok:
        paint.fill = ColorToken::okbg;
        ink = paint.stroke = ColorToken::ok;
        break;
    case BadgeTone::accent:
        paint.fill = ColorToken::accentbg;
        ink = paint.stroke = ColorToken::accent;
        break;
    case BadgeTone::neutral:
        paint.stroke = ColorToken::strong;
        break;
    }
    list.rect(box, paint, static_cast<float>(3.0 * scale));
    list.text(box, badge.text, font, ink, TextAlign::center);
    return width;
}

} // namespace core
