// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ipc/messages.h"

#include "core/base/byte_codec.h"

namespace core {

HelloMessage HelloMessage::ofThisBuild(std::string_view program)
{
    HelloMessage hello;
    hello.buildId = core::buildId();
    hello.program = program;
    return hello;
}

std::vector<std::byte> HelloMessage::encode() const
{
    ByteWriter out;
    out.u32(protocol);
    out.string(buildId);
    out.string(program);
    return out.take();
}

Result<HelloMessage> HelloMessage::decode(std::span<const std::byte> payload)
{
    ByteReader in(payload);
    HelloMessage hello;
    hello.protocol = in.u32();
    hello.buildId = in.string();
    hello.program = in.string();
    if (Status status = in.finish("hello"); !status)
        return status;
    return hello;
}

Status HelloMessage::checkAgainst(const HelloMessage &other) const
{
    if (protocol != other.protocol)
        return {ErrorCode::protocol, other.program + ": speaks protocol " + std::to_string(other.protocol) +
                                         ", " + program + " speaks " + std::to_string(protocol)};
    if (buildId != other.buildId)
        return {ErrorCode::protocol,
                other.program + ": was built from " + other.buildId + ", " + program + " from " + buildId};
    return Status::ok();
}

std::vector<std::byte> HeartbeatMessage::encode() const
{
    ByteWriter out;
    out.u64(sequence);
    out.u64(residentBytes);
    return out.take();
}

Result<HeartbeatMessage> HeartbeatMessage::decode(std::span<const std::byte> payload)
{
    ByteReader in(payload);
    HeartbeatMessage beat;
    beat.sequence = in.u64();
    beat.residentBytes = in.u64();
    if (Status status = in.finish("heartbeat"); !status)
        return status;
    return beat;
}

std::vector<std::byte> encodeProgress(const Progress &progress)
{
    ByteWriter out;
    out.string(progress.stage);
    out.u64(progress.done);
    out.u64(progress.total);
    return out.take();
}

Result<Progress> decodeProgress(std::span<const std::byte> payload)
{
    ByteReader in(payload);
    Progress progress;
    progress.stage = in.string();
    progress.done = in.u64();
    progress.total = in.u64();
    if (Status status = in.finish("progress"); !status)
        return status;
    return progress;
}

std::vector<std::byte> WarningMessage::encode() const
{
    ByteWriter out;
    out.string(text);
    return out.take();
}

Result<WarningMessage> WarningMessage::decode(std::span<const std::byte> payload)
{
    ByteReader in(payload);
    WarningMessage warning{in.string()};
    if (Status status = in.finish("warning"); !status)
        return status;
    return warning;
}

std::vector<std::byte> DoneMessage::encode() const
{
    ByteWriter out;
    out.string(summary);
    return out.take();
}

Result<DoneMessage> DoneMessage::decode(std::span<const std::byte> payload)
{
    ByteReader in(payload);
    DoneMessage done{in.string()};
    if (Status status = in.finish("done"); !status)
        return status;
    return done;
}

std::vector<std::byte> encodeFailed(const Status &status)
{
    ByteWriter out;
    out.string(errorCodeName(status.code()));
    out.string(status.message());
    out.string(status.detail());
    out.string(status.remedy());
    return out.take();
}

Status decodeFailed(std::span<const std::byte> payload, Status &out)
{
    ByteReader in(payload);
    const std::string name = in.string();
    std::string message = in.string();
    std::string detail = in.string();
    std::string remedy = in.string();
    if (Status status = in.finish("failed"); !status)
        return status;
    ErrorCode code = ErrorCode::internal; // also for a name this side does not know
    for (int i = static_cast<int>(ErrorCode::none) + 1; i <= static_cast<int>(ErrorCode::internal); ++i) {
        if (errorCodeName(static_cast<ErrorCode>(i)) == name)
            code = static_cast<ErrorCode>(i);
    }
    out = Status(code, std::move(message)).withDetail(std::move(detail)).withRemedy(std::move(remedy));
    return Status::ok();
}

} // namespace core
