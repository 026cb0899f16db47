// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_messages.h"

#include "core/ipc/frame.h"

#include <array>

namespace core {

namespace {

constexpr std::array kStatuses = {
    TraceStatus::unknown,   TraceStatus::finished, TraceStatus::stoppedAtNonFinite,
    TraceStatus::cancelled, TraceStatus::failed,   TraceStatus::crashed};

constexpr std::size_t kPartBytes = kMaximumFramePayload / 2;
constexpr std::size_t kMostOutcomeBytes = std::size_t(1) << 30U;

std::uint64_t count(const Value &value)
{
    return static_cast<std::uint64_t>(value.toInt());
}

Value errorValue(const Status &error)
{
    if (error.isOk())
        return {};
    return Value::object({{"code", static_cast<int>(error.code())},
                          {"message", error.message()},
                          {"detail", error.detail()},
                          {"remedy", error.remedy()}});
}

Status errorFrom(const Value &value)
{
    if (!value.isObject())
        return Status::ok();
    const std::int64_t code = value.at("code").toInt();
    const bool known = code > 0 && code <= static_cast<std::int64_t>(ErrorCode::internal);
    return Status(known ? static_cast<ErrorCode>(code) : ErrorCode::internal, value.at("message").toString())
        .withDetail(value.at("detail").toString())
        .withRemedy(value.at("remedy").toString());
}

} // namespace

std::vector<std::byte> encodeJson(const Value &value)
{
    const std::string text = toJson(value);
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
}

Result<Value> decodeJson(std::span<const std::byte> payload)
{
    const std::string_view text(reinterpret_cast<const char *>(payload.data()), payload.size());
    Result<Value> value = parseJson(text, "message");
    if (!value)
        return Status(ErrorCode::protocol, value.error().message());
    return value;
}

std::vector<std::byte> CaptureProgress::encode() const
{
    return encodeJson(Value::object(
        {{"stage", stage}, {"op", op}, {"calls", calls}, {"bytes", bytes}, {"first_bad_op", firstBadOp}}));
}

Result<CaptureProgress> CaptureProgress::decode(std::span<const std::byte> payload)
{
    const Result<Value> value = decodeJson(payload);
    if (!value)
        return value.error();
    return CaptureProgress{value->at("stage").toString(), value->at("op").toString(),
                           count(value->at("calls")), count(value->at("bytes")),
                           value->at("first_bad_op").toString()};
}

std::vector<std::byte> CaptureOutcome::encode() const
{
    Value frames = Value::list();
    for (const std::string &frame : stack)
        frames.append(frame);
    return encodeJson(Value::object({{"status", traceStatusName(status)},
                                     {"error", errorValue(error)},
                                     {"op", op},
                                     {"stack", frames},
                                     {"signal", signal},
                                     {"summary", summary},
                                     {"report", report}}));
}

Result<CaptureOutcome> CaptureOutcome::decode(std::span<const std::byte> payload)
{
    const Result<Value> value = decodeJson(payload);
    if (!value)
        return value.error();
    CaptureOutcome outcome;
    bool known = false;
    for (const TraceStatus status : kStatuses)
        if (value->at("status").toString() == traceStatusName(status)) {
            outcome.status = status;
            known = true;
        }
    if (!known)
        return Status(ErrorCode::protocol,
                      "message: status \"" + value->at("status").toString() + "\" is not known");
    outcome.error = errorFrom(value->at("error"));
    outcome.op = value->at("op").toString();
    for (const Value &frame : value->at("stack").toList())
        outcome.stack.push_back(frame.toString());
    outcome.signal = value->at("signal").toString();
    outcome.summary = value->at("summary");
    outcome.report = value->at("report");
    return outcome;
}

Status sendOutcome(const CaptureOutcome &outcome, const SendFrame &send)
{
    const std::vector<std::byte> bytes = outcome.encode();
    if (bytes.size() > kMostOutcomeBytes)
        return {ErrorCode::limitExceeded, "the result is " + std::to_string(bytes.size()) +
                                              " bytes long, the limit is " +
                                              std::to_string(kMostOutcomeBytes)};
    std::span<const std::byte> rest = bytes;
    while (rest.size() > kPartBytes) {
        if (Status status = send(CaptureMessage::outcomePart, rest.first(kPartBytes)); !status)
            return status;
        rest = rest.subspan(kPartBytes);
    }
    return send(CaptureMessage::outcome, rest);
}

Status OutcomeParts::add(std::span<const std::byte> part)
{
    if (part.size() > kMostOutcomeBytes - m_bytes.size())
        return {ErrorCode::limitExceeded,
                "the worker's result is longer than " + std::to_string(kMostOutcomeBytes) + " bytes"};
    m_bytes.insert(m_bytes.end(), part.begin(), part.end());
    return Status::ok();
}

Result<CaptureOutcome> OutcomeParts::finish(std::span<const std::byte> last)
{
    if (m_bytes.empty())
        return CaptureOutcome::decode(last);
    if (Status status = add(last); !status)
        return status;
    return CaptureOutcome::decode(m_bytes);
}

} // namespace core
