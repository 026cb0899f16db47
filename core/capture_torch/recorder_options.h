// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_request.h"
#include "core/trace/records.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace core {

// How far a run is, for whoever watches it.
struct RunProgress
{
    std::string op; // running or last op
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::string firstBadOp; // first op with a value that is not finite; empty: none so far
};

struct RecorderOptions
{
    SavePolicy save;
    std::stop_token stop;                              // looked at before each op
    std::function<void(const RunProgress &)> progress; // at most ten times a second; may be empty
    double timeLimitSeconds = 0.0;                     // 0: none
    // The process ends by SIGKILL when this call is about to run: how the recovery of traces is tested.
    std::optional<std::uint64_t> dieAtCall;
    // Stops the run at the first row with NaN or Inf and keeps only what explains it (tripwire.h).
    bool tripwire = false;
    // A tripwire goes on past -Inf that is there by design (masks) until NaN comes of it.
    bool pastMasks = false;
};

// What the recorder has seen, and what ran when the run ended.
struct RunSummary
{
    std::uint64_t calls = 0; // compute calls
    std::uint64_t tensors = 0;
    std::string firstBadOp;
    std::string runningOp; // the op that failed; empty: none was running
    RecordId runningCall = kNoRecord;
    RecordId runningStack = kNoRecord; // of that op, or of the node that ran last
    bool timedOut = false;
    bool tripped = false;                // a row held NaN or Inf and the run was to stop there
    std::set<std::string> mappedDevices; // devices asked for that became the CPU
    std::int64_t durationNs = -1;
};

// What is known of the values of a recorded tensor, as bits.
struct RecordedBadness
{
    static constexpr std::uint8_t infinite = 1;
    static constexpr std::uint8_t nan = 2;
    static constexpr std::uint8_t byDesign = 4; // those are -Inf of a mask
};

} // namespace core
