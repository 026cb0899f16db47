// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"

#include <string>
#include <string_view>
#include <vector>

// What the metadata texts of a torch.export node say. No LibTorch here.
namespace core::pt2 {

// A Python traceback text, outermost frame first: File "a.py", line 3, in f, then the source line. Lines of
// carets are skipped; text that is no traceback gives no frame.
std::vector<RunFrame> parseStackTrace(std::string_view text);

// "key,path,type;key,path,type", outermost first; the form of 2.1 "key:(L['self'].a,type);.." too.
// Placeholders that the exporter puts on its own nodes give no level.
std::vector<ModuleLevel> parseModuleStack(std::string_view text);

// "models/attention.py:17 in forward"; empty without a user frame.
std::string userPlace(const std::vector<RunFrame> &frames);

} // namespace core::pt2
