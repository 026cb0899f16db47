// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_picture.h"

#include <QStringList>

namespace views {

// All that a box of a picture says, a line each: name, dtype and shape, place, counts of NaN and Inf, state,
// what was not looked at, duration. What a tooltip shows and a screen reader reads.
QStringList boxWords(const core::PictureBox &box);

// The same lines as the rich text of a tooltip.
QString toolTipOfLines(const QStringList &lines);

} // namespace views
