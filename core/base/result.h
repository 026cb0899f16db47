// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace core {

enum class ErrorCode {
    none,
    notFound,
    unreadable,
    unknownFormat,
    unsupportedVersion,
    corrupt,
    limitExceeded,
    cancelled,
    workerCrashed,
    workerHung,
    protocol,
    modelFailed,
    unsupported,
    invalidArgument, // what the caller asked for cannot be asked; reports add their own word in detail()
    internal,
};

std::string_view errorCodeName(ErrorCode code);

// Success, or a category and a message that names the object: lower-case start, no final stop, both numbers.
// detail() is a stable machine word below the category (a report's refusal code, a reader's token), or empty;
// remedy() says what to do about it, or is empty. Functions return this; they do not throw across a library's
// edge.
class [[nodiscard]] Status
{
public:
    Status() = default;
    Status(ErrorCode code, std::string message);
    Status(const Status &other);
    Status(Status &&other) noexcept;
    Status &operator=(const Status &other);
    Status &operator=(Status &&other) noexcept;
    ~Status();

    static Status ok() { return {}; }

    bool isOk() const { return m_code == ErrorCode::none; }
    explicit operator bool() const { return isOk(); }
    ErrorCode code() const { return m_code; }
    const std::string &message() const { return m_message; }
    const std::string &detail() const { return m_detail; }
    const std::string &remedy() const { return m_remedy; }

    Status withDetail(std::string detail) &&;
    Status withRemedy(std::string remedy) &&;
    // The same error seen from one level up: "PREFIX: MESSAGE".
    Status prefixed(std::string_view prefix) const;

private:
    ErrorCode m_code = ErrorCode::none;
    std::string m_message;
    std::string m_detail;
    std::string m_remedy;
};

// A value or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value) : m_content(std::in_place_index<0>, std::move(value)) {}
    Result(Status status) : m_content(std::in_place_index<1>, std::move(status))
    {
        assert(!std::get<1>(m_content).isOk());
    }

    bool isOk() const { return m_content.index() == 0; }
    explicit operator bool() const { return isOk(); }
    const T &value() const & { return std::get<0>(m_content); }
    T &value() & { return std::get<0>(m_content); }
    T &&value() && { return std::get<0>(std::move(m_content)); }
    const T &operator*() const & { return value(); }
    T &operator*() & { return value(); }
    const T *operator->() const { return &value(); }
    T *operator->() { return &value(); }
    Status status() const { return isOk() ? Status() : std::get<1>(m_content); }
    const Status &error() const { return std::get<1>(m_content); }

private:
    std::variant<T, Status> m_content;
};

} // namespace core
