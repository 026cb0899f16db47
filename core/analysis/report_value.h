// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/base/result.h"

namespace core {

// A whole report as one value, for the way from capture_worker to whoever asked: unlike reportDocument() it
// loses nothing (rows keep their op numbers) and reads back the same.
Value reportToValue(const Report &report);
// protocol when VALUE is no such report.
Result<Report> reportFromValue(const Value &value);

} // namespace core
