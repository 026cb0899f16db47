// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/value.h"
#include "core/ipc/messages.h"
#include "core/trace/trace_info.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

// What is said between capture_worker and whoever started it (capture_client.h). One request a process.
namespace core {

enum class CaptureMessage : std::uint16_t {
    start = static_cast<std::uint16_t>(MessageType::firstOwn), // JSON of a CaptureRequest
    progress,                                                  // CaptureProgress
    outcome,                                                   // CaptureOutcome; the last message
    outcomePart, // the beginning of an outcome that is too long for one frame; `outcome` has its end
};

// How far the run is. At most ten a second.
struct CaptureProgress
{
    std::string stage; // "loading", "warming up", "running", "closing"
    std::string op;    // "aten.conv2d.default"; the last one that ran
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::string firstBadOp; // first op with a value that is not finite; empty: none so far

    std::vector<std::byte> encode() const;
    static Result<CaptureProgress> decode(std::span<const std::byte> payload);
    bool operator==(const CaptureProgress &) const = default;
};

// How it ended. status unknown: no trace was written (the model could not be loaded, its inputs do not fit).
struct CaptureOutcome
{
    TraceStatus status = TraceStatus::unknown;
    Status error;                   // why, for everything but finished
    std::string op;                 // that failed or ran last
    std::vector<std::string> stack; // its call stack, outermost first: "model.py:14 in forward"
    std::string signal;             // of a crash
    // calls, tensors, bytes, seconds, first_bad_op, warnings; of other tasks (replay, ...) their result
    Value summary;
    Value report; // of a live helper: the whole report (core/analysis/report_value.h), else null

    bool hasTrace() const { return status != TraceStatus::unknown; }
    std::vector<std::byte> encode() const;
    static Result<CaptureOutcome> decode(std::span<const std::byte> payload);
};

// Sends an outcome of any length: one frame, or parts before it. The first failure ends it.
using SendFrame = std::function<Status(CaptureMessage type, std::span<const std::byte> payload)>;
Status sendOutcome(const CaptureOutcome &outcome, const SendFrame &send);

// Puts the parts of an outcome together again.
class OutcomeParts
{
public:
    // limitExceeded when they come to more than 1 GiB.
    Status add(std::span<const std::byte> part);
    // With the last part, the payload of the outcome's own message.
    Result<CaptureOutcome> finish(std::span<const std::byte> last);

private:
    std::vector<std::byte> m_bytes;
};

std::vector<std::byte> encodeJson(const Value &value);
// protocol when PAYLOAD is no JSON document.
Result<Value> decodeJson(std::span<const std::byte> payload);

} // namespace core
