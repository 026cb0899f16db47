// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"
#include "app/palette/search_index.h"
#include "core/analysis/trace_statistics.h"
#include "core/trace/trace.h"
#include "views/base/trace_facts.h"
#include "views/base/trace_selection.h"

#include <QString>

#include <memory>

namespace app {

// One open trace and where the user stands in it. Owned by the session.
struct Document
{
    int id = 0; // never used twice in a session
    QString path;
    QString title; // the file's name
    std::shared_ptr<const core::Trace> trace;
    std::shared_ptr<core::TraceStatistics> statistics; // what was measured of it, for all its reports
    // Null while the findings are being worked out.
    std::shared_ptr<const views::TraceFacts> facts;
    std::shared_ptr<const SearchIndex> searchIndex; // null until the palette wanted it
    views::SelectedItem item;
    Perspective perspective = Perspective::overview;
};

} // namespace app
