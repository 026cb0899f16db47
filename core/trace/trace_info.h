// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <cstdint>
#include <string>

namespace core {

// How the run ended. unknown: no final record (the writer died, or the file is still being written).
enum class TraceStatus : std::uint8_t { unknown, finished, stoppedAtNonFinite, cancelled, failed, crashed };
std::string_view traceStatusName(TraceStatus status); // "finished", "stopped_at_nonfinite", ...
std::string_view
captureStatusWord(TraceStatus status); // "complete", "aborted_nonfinite", "halted", "failed", "unknown"

enum class TraceSource : std::uint8_t { own, torchLens, kineto, executionTrace };

// Why and where a run stopped short.
struct TraceFailure
{
    std::string op;    // the op that ran, "aten.conv2d.default"; empty: none ran
    std::string label; // set by TraceBuilder when the row is known
    std::string message;
    std::string signal;                // "SIGKILL" for a crash
    std::uint32_t call = 0xffffffffU;  // record id of the running call
    std::uint32_t stack = 0xffffffffU; // record id of its call stack
};

// What a trace says of itself: manifest and final record together.
struct TraceInfo
{
    TraceSource source = TraceSource::own;
    std::string formatVersion;
    std::string producer;
    std::string createdUtc; // ISO 8601
    std::string modelName;  // file name or label
    std::string modelPath;
    std::string modelKind; // "pt2", "torchscript", "eager"
    std::string modelClass;
    std::string modelHash;
    std::string subject; // what reports call it; modelName when empty
    TraceStatus status = TraceStatus::unknown;
    TraceFailure failure;
    bool hasBackward = false;
    Value request;     // what was asked for: inputs, mode, seed, save policy, options
    Value environment; // library versions, threads, determinism flags, CPU
    Value
        honesty;  // attrs "torchlens_capture_honesty" facts of a bundle; null for own captures (derived then)
    Value totals; // counts and durations of the final record
    Value attributes; // whatever else the source says
};

} // namespace core
