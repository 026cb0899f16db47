// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions.h"
#include "views/base/trace_selection.h"

class QMenu;

namespace app {

// The menu of the current op, the same in every view: what it is made from and who uses it, what to do with
// the picture, where to look, what to copy. Nothing is added without an op.
void fillOpMenu(QMenu &menu, views::TraceSelection &selection, const Actions &actions);

} // namespace app
