// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"

#include <span>
#include <string_view>
#include <vector>

namespace core {

// One helper of the reference page that runs a model, in capture_worker: what the command line and the window
// list and check before they ask for it (CaptureRequest::task is the name, CaptureRequest::options the
// options). Seed, threads, inputs, mode and limits are members of the request and no options.
struct LiveHelper
{
    std::string_view name;
    std::string_view description; // one sentence, starting with a verb
    std::vector<ReportOption> options;
    bool needsInputs = true; // false: it looks for inputs itself, or runs nothing
};

// All of them, in the order they are listed to people.
std::span<const LiveHelper> liveHelpers();
const LiveHelper *findLiveHelper(std::string_view name);

// Detail of an argument error whose type on the page is ShapeInferenceError.
inline constexpr std::string_view kShapeInference = "shape_inference";

// Completes OPTIONS (an object or null; missing names get their defaults) and checks names, types and
// tolerances. invalidArgument with the nearest names for an unknown one; detail kShapeInference where the
// page's error is of that type.
Result<Value> completeLiveOptions(const LiveHelper &helper, const Value &options);

// What a rerun writes beside the trace OUT while it runs, and removes; whoever waits for the worker removes
// it when the worker died.
std::string rerunPath(const std::string &out);

} // namespace core
