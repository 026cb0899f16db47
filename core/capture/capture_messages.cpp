// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_messages.h"

#include "core/base/utf8.h"
#include "core/ipc/frame.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

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

// File names are bytes, JSON is UTF-8. A string that is not travels as its hexadecimal digits behind a mark
// that no name holds.
constexpr std::string_view kBytesMark("\0bytes:", 7);

std::string hexText(std::string_view text)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out(kBytesMark);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 0xfU];
    }
    return out;
}

std::string bytesOfHex(std::string_view digits)
{
    std::string out;
    for (; digits.size() >= 2; digits.remove_prefix(2)) {
        unsigned byte = 0;
        std::from_chars(digits.data(), digits.data() + 2, byte, 16);
        out += static_cast<char>(byte);
    }
    return out;
}

// Every string of VALUE that CHANGE gives another text.
void changeStrings(Value &value, std::optional<std::string> (*change)(const std::string &))
{
    if (value.isString()) {
        if (std::optional<std::string> changed = change(value.toString()))
            value = Value(*std::move(changed));
    } else if (value.isList()) {
        for (Value &item : value.asList())
            changeStrings(item, change);
    } else if (value.isObject()) {
        for (auto &[key, member] : value.asObject())
            changeStrings(member, change);
    }
}

std::optional<std::string> asMarked(const std::string &text)
{
    return isUtf8(text) ? std::nullopt : std::optional(hexText(text));
}

std::optional<std::string> fromMarked(const std::string &text)
{
    return text.starts_with(kBytesMark)
               ? std::optional(bytesOfHex(std::string_view(text).substr(kBytesMark.size())))
               : std::nullopt;
}

bool holdsBytes(const Value &value)
{
    if (value.isString())
        return !isUtf8(value.toString());
    const auto inMember = [](const auto &member) { return holdsBytes(member.second); };
    return std::ranges::any_of(value.toList(), holdsBytes) || std::ranges::any_of(value.toObject(), inMember);
}

} // namespace

std::vector<std::byte> encodeJson(const Value &value)
{
    std::string text;
    if (holdsBytes(value)) {
        Value marked = value;
        changeStrings(marked, asMarked);
        text = toJson(marked);
    } else {
        text = toJson(value);
    }
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
}

Result<Value> decodeJson(std::span<const std::byte> payload)
{
    const std::string_view text(reinterpret_cast<const char *>(payload.data()), payload.size());
    Result<Value> value = parseJson(text, "message");
    if (!value)
        return Status(ErrorCode::protocol, value.error().message());
    changeStrings(*value, fromMarked);
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
