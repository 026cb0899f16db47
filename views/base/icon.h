// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/color_token.h"

#include <QIcon>
#include <QPainterPath>

#include <optional>
#include <span>
#include <string_view>

class QPainter;
class QColor;

namespace views {

class Theme;

// The line art of the window: 16 x 16 boxes, 1.5 px strokes, drawn as vectors so that every scaling is crisp.
enum class IconName {
    appMark,
    back,
    forward,
    search,
    bookmark,
    share,
    sun,
    settings,
    document,
    folder,
    folderOpen,
    close,
    plus,
    minus,
    fit,
    filter,
    pin,
    detach,
    collapseAll,
    more,
    chevronRight,
    chevronDown,
    chevronLeft,
    origin,
    cause,
    propagated,
    spreads,
    reached,
    sink,
    healed,
    openDot,
    dot,
    warning,
    critical,
    information,
    check,
    notRun,
    note,
    copy,
    flag,
    record,
    graph,
    play,
    minimize,
    maximize,
    tensor,
    module,
    parameter,
    code,
    command,
};

// One stroke or fill of an icon in the small path language of parseIconPath.
struct IconShape
{
    std::string_view path;
    bool filled = false;
};

std::span<const IconShape> iconShapes(IconName name);

// Reads "M x y", "L x y", "C x1 y1 x2 y2 x y", "Z", "O cx cy r" (circle) and "R x y w h r" (rounded
// rectangle), numbers separated by blanks. Nothing when a command is unknown or a number is missing.
std::optional<QPainterPath> parseIconPath(std::string_view text);

// Paints the icon into RECT with one colour.
void paintIcon(QPainter &painter, const QRectF &rect, IconName name, const QColor &color);

// An icon that follows THEME live: the token for normal, `accent` when on, `disabled` when disabled.
QIcon themedIcon(const Theme &theme, IconName name, core::ColorToken token);

} // namespace views
