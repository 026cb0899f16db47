// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"

namespace core {

// completeOptions() for any helper with the options KNOWN, also one that is no report.
Result<Value> completeOptions(std::string_view helper, std::span<const ReportOption> known,
                              const Value &options);

} // namespace core
