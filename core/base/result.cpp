// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/result.h"

namespace core {

std::string_view errorCodeName(ErrorCode code)
{
    switch (code) {
    case ErrorCode::none:
        return "none";
    case ErrorCode::notFound:
        return "not_found";
    case ErrorCode::unreadable:
        return "unreadable";
    case ErrorCode::unknownFormat:
        return "unknown_format";
    case ErrorCode::unsupportedVersion:
        return "unsupported_version";
    case ErrorCode::corrupt:
        return "corrupt";
    case ErrorCode::limitExceeded:
        return "limit_exceeded";
    case ErrorCode::cancelled:
        return "cancelled";
    case ErrorCode::workerCrashed:
        return "worker_crashed";
    case ErrorCode::workerHung:
        return "worker_hung";
    case ErrorCode::protocol:
        return "protocol";
    case ErrorCode::modelFailed:
        return "model_failed";
    case ErrorCode::unsupported:
        return "unsupported";
    case ErrorCode::invalidArgument:
        return "invalid_argument";
    case ErrorCode::internal:
        return "internal";
    }
    return "internal";
}

Status::Status(ErrorCode code, std::string message) : m_code(code), m_message(std::move(message)) {}
Status::Status(const Status &other) = default;
Status::Status(Status &&other) noexcept = default;
Status &Status::operator=(const Status &other) = default;
Status &Status::operator=(Status &&other) noexcept = default;
Status::~Status() = default;

Status Status::withDetail(std::string detail) &&
{
    m_detail = std::move(detail);
    return std::move(*this);
}

Status Status::withRemedy(std::string remedy) &&
{
    m_remedy = std::move(remedy);
    return std::move(*this);
}

Status Status::prefixed(std::string_view prefix) const
{
    Status copy = *this;
    copy.m_message = std::string(prefix) + ": " + m_message;
    return copy;
}

} // namespace core
