// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"
#include "views/base/pane.h"

#include <QtGlobal>

#include <array>
#include <span>

namespace app {

class Session;

// The panes that live in docks.
enum class PaneKind {
    modules,
    findings,
    audit,
    trail,
    why,
    details,
    tensor,
    ops,
    source,
    log,
    reports,
    lineage,
    gradFn
};

inline constexpr std::array kPaneKinds = {
    PaneKind::modules, PaneKind::findings, PaneKind::audit, PaneKind::trail,  PaneKind::why,
    PaneKind::details, PaneKind::tensor,   PaneKind::ops,   PaneKind::source, PaneKind::log,
    PaneKind::reports, PaneKind::lineage,  PaneKind::gradFn};

// Where a pane stands in a perspective as shipped; docks of one area and group are tabs, the first one in
// front.
struct PanePlace
{
    PaneKind kind;
    Qt::DockWidgetArea area;
    int size;              // width or height of the area at 1600 x 1000
    bool onDemand = false; // not shown until it is asked for
};
std::span<const PanePlace> shippedLayout(Perspective perspective);

QString paneId(PaneKind kind);    // "ops"
QString paneTitle(PaneKind kind); // "Ops"

// Makes the pane and joins it to the services of SESSION. The caller owns it.
views::Pane *makePane(PaneKind kind, const views::Theme &theme, Session &session);

} // namespace app
