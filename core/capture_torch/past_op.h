// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/dispatch_tap.h"
#include "core/capture_torch/finite_watch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <chrono>
#include <optional>
#include <vector>

namespace core {

// An op that ran, for a recorder that hears of it later.
struct PastOp
{
    using Time = std::chrono::steady_clock::time_point;

    std::optional<c10::OperatorHandle> op;
    OpMode mode;
    std::vector<c10::IValue> arguments; // in schema order
    std::vector<c10::IValue> results;   // in schema order
    FiniteWatch::Forecast forecast;
    bool isFinite = true; // all results: nobody needs to look at them
    bool drew = false;    // random numbers
    Time start;
    Time end;
};

} // namespace core
