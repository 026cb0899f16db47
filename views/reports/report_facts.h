// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"

namespace views {

// What a report answers beside its rows and findings, as rows of a name and a value: the members of its
// result (and its attrs) by the names of the reference page, those of inner objects as "outer.inner". Lists
// of numbers and words are one value; of longer lists of objects only the length is told, the saved JSON has
// them. Null is "–", an empty list "none".
core::ReportTable factsTable(const core::Report &report);

} // namespace views
