// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/draw_list.h"

#include <QString>

#include <string>
#include <vector>

namespace views {

// The whole of a picture as it may be written to a file: drawn at 100 %, and as Graphviz text.
struct PictureExport
{
    QString fileName; // suggested, without a suffix
    std::string title;
    std::vector<std::string> footer; // lines of the margin: what is shown, what was looked at
    core::DrawList list;
    std::string dot;

    bool isEmpty() const { return dot.empty(); }
};

} // namespace views
