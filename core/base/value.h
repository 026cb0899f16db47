// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace core {

// A JSON-like value: what report payloads, options and free attributes are made of. Objects keep their order.
// Not available is null; NaN and infinities are doubles here and the strings "NaN", "Infinity", "-Infinity"
// in JSON text.
class Value
{
public:
    using List = std::vector<Value>;
    using Member = std::pair<std::string, Value>;
    using Object = std::vector<Member>;

    // What instantiates templates is in value.cpp: nearly every file of the project includes this one.
    Value() noexcept {}
    Value(std::nullptr_t) noexcept {}
    Value(const Value &other);
    Value(Value &&other) noexcept;
    Value &operator=(const Value &other);
    Value &operator=(Value &&other) noexcept;
    ~Value();
    Value(bool value) : m_content(value) {}
    Value(int value) : m_content(static_cast<std::int64_t>(value)) {}
    Value(unsigned value) : m_content(static_cast<std::int64_t>(value)) {}
    Value(long value) : m_content(static_cast<std::int64_t>(value)) {}
    Value(long long value) : m_content(static_cast<std::int64_t>(value)) {}
    Value(unsigned long value) : m_content(static_cast<std::int64_t>(value)) {}
    Value(double value) : m_content(value) {}
    Value(const char *value);
    Value(std::string value);
    Value(std::string_view value);
    Value(List value);
    Value(Object value);

    static Value object();
    static Value object(std::initializer_list<Member> members);
    static Value list();
    static Value list(std::initializer_list<Value> items);

    bool isNull() const { return std::holds_alternative<std::monostate>(m_content); }
    bool isBool() const { return std::holds_alternative<bool>(m_content); }
    bool isInt() const { return std::holds_alternative<std::int64_t>(m_content); }
    bool isDouble() const { return std::holds_alternative<double>(m_content); }
    bool isNumber() const { return isInt() || isDouble(); }
    bool isString() const { return std::holds_alternative<std::string>(m_content); }
    bool isList() const { return std::holds_alternative<List>(m_content); }
    bool isObject() const { return std::holds_alternative<Object>(m_content); }

    // The content, or the fallback when the kind is another one. toDouble takes integers too.
    bool toBool(bool fallback = false) const;
    std::int64_t toInt(std::int64_t fallback = 0) const;
    double toDouble(double fallback = 0.0) const;
    const std::string &toString() const;    // "" when it is no string
    const List &toList() const &;           // empty when it is no list
    const Object &toObject() const &;       // empty when it is no object
    const List &toList() const && = delete; // a range-for over a temporary's content would dangle
    const Object &toObject() const && = delete;
    List &asList();     // makes it a list when it is none
    Object &asObject(); // makes it an object when it is none

    // Member KEY of an object, nullptr when there is none.
    const Value *find(std::string_view key) const;
    // Member KEY of an object, a null value when there is none.
    const Value &at(std::string_view key) const;
    // Sets member KEY (replaces it where it stands, else appends); makes this an object when it is none.
    void set(std::string_view key, Value value);
    void append(Value value);

    bool operator==(const Value &other) const;

private:
    std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> m_content;
};

// One line of strict JSON, or indented by INDENT blanks when it is above 0. Doubles print so that they read
// back the same.
std::string toJson(const Value &value, int indent = 0);
// The strict JSON spelling of one string, with quotes.
std::string jsonQuoted(std::string_view text);
// The shortest decimal form that reads back the same; "NaN", "Infinity", "-Infinity" without quotes.
std::string formatDouble(double value);

struct JsonLimits
{
    std::size_t depth = 64;
    std::size_t bytes = std::size_t(1) << 32;
};
// Strict JSON (no NaN tokens), within limits. corrupt with the byte position, limitExceeded above the limits.
Result<Value> parseJson(std::string_view text, std::string_view name, const JsonLimits &limits = {});

} // namespace core
