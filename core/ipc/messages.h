// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Raised with every change of a message's form.
inline constexpr std::uint32_t kProtocolVersion = 1;

// What the types below 0x100 mean in every conversation. Each worker numbers its own requests and answers
// from there on.
enum class MessageType : std::uint16_t {
    hello = 1,
    heartbeat = 2,
    progress = 3,
    warning = 4,
    done = 5,
    failed = 6,
    firstOwn = 0x100,
};

// First frame both ways. The other side is of the same build, or the conversation ends with a sentence.
struct HelloMessage
{
    std::uint32_t protocol = kProtocolVersion;
    std::string buildId;
    std::string program; // "capture_worker"

    static HelloMessage ofThisBuild(std::string_view program);
    std::vector<std::byte> encode() const;
    static Result<HelloMessage> decode(std::span<const std::byte> payload);
    // protocol, in a sentence for people, when OTHER cannot talk with this side.
    Status checkAgainst(const HelloMessage &other) const;
    bool operator==(const HelloMessage &) const = default;
};

// Sent every 500 ms by a thread of its own: a worker that computes is late with answers, a hung one with
// these.
struct HeartbeatMessage
{
    std::uint64_t sequence = 0;
    std::uint64_t residentBytes = 0; // 0: the system does not tell

    std::vector<std::byte> encode() const;
    static Result<HeartbeatMessage> decode(std::span<const std::byte> payload);
    bool operator==(const HeartbeatMessage &) const = default;
};

// Progress of core/base/job_context.h on the wire.
std::vector<std::byte> encodeProgress(const Progress &progress);
Result<Progress> decodeProgress(std::span<const std::byte> payload);

struct WarningMessage
{
    std::string text;

    std::vector<std::byte> encode() const;
    static Result<WarningMessage> decode(std::span<const std::byte> payload);
    bool operator==(const WarningMessage &) const = default;
};

// The work is finished. SUMMARY is one JSON document of the worker's own form, or empty.
struct DoneMessage
{
    std::string summary;

    std::vector<std::byte> encode() const;
    static Result<DoneMessage> decode(std::span<const std::byte> payload);
    bool operator==(const DoneMessage &) const = default;
};

// The work ended without a result: a Status on the wire (never ok).
std::vector<std::byte> encodeFailed(const Status &status);
// OUT is the Status that was sent; the returned one says whether it could be read.
Status decodeFailed(std::span<const std::byte> payload, Status &out);

// The version and the revision this program was built from.
std::string_view buildId();

} // namespace core
