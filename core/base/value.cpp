// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/value.h"

#include "core/base/utf8.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <cmath>

namespace core {
namespace {

void appendJson(std::string &out, const Value &value, int indent, int level);

void newLine(std::string &out, int indent, int level)
{
    if (indent <= 0)
        return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(level), ' ');
}

void appendList(std::string &out, const Value::List &items, int indent, int level)
{
    out += '[';
    bool first = true;
    for (const Value &item : items) {
        if (!first)
            out += indent > 0 ? "," : ", ";
        first = false;
        newLine(out, indent, level + 1);
        appendJson(out, item, indent, level + 1);
    }
    if (!items.empty())
        newLine(out, indent, level);
    out += ']';
}

void appendObject(std::string &out, const Value::Object &members, int indent, int level)
{
    out += '{';
    bool first = true;
    for (const auto &[key, item] : members) {
        if (!first)
            out += indent > 0 ? "," : ", ";
        first = false;
        newLine(out, indent, level + 1);
        out += jsonQuoted(key);
        out += ": ";
        appendJson(out, item, indent, level + 1);
    }
    if (!members.empty())
        newLine(out, indent, level);
    out += '}';
}

void appendJson(std::string &out, const Value &value, int indent, int level)
{
    if (value.isNull())
        out += "null";
    else if (value.isBool())
        out += value.toBool() ? "true" : "false";
    else if (value.isInt())
        out += std::to_string(value.toInt());
    else if (value.isDouble() && std::isfinite(value.toDouble()))
        out += formatDouble(value.toDouble());
    else if (value.isDouble())
        out += '"' + formatDouble(value.toDouble()) + '"';
    else if (value.isString())
        out += jsonQuoted(value.toString());
    else if (value.isList())
        appendList(out, value.toList(), indent, level);
    else
        appendObject(out, value.toObject(), indent, level);
}

Value fromElement(simdjson::dom::element element)
{
    using simdjson::dom::element_type;
    switch (element.type()) {
    case element_type::ARRAY: {
        Value::List items;
        const simdjson::dom::array array = element.get_array().value_unsafe();
        for (const auto item : array)
            items.push_back(fromElement(item));
        return items;
    }
    case element_type::OBJECT: {
        Value::Object members;
        const simdjson::dom::object object = element.get_object().value_unsafe();
        for (const auto field : object)
            members.emplace_back(std::string(field.key), fromElement(field.value));
        return members;
    }
    case element_type::INT64:
        return Value(static_cast<long long>(element.get_int64().value_unsafe()));
    case element_type::UINT64:
        return Value(static_cast<double>(element.get_uint64().value_unsafe()));
    case element_type::DOUBLE:
        return Value(element.get_double().value_unsafe());
    case element_type::STRING:
        return Value(element.get_string().value_unsafe());
    case element_type::BOOL:
        return Value(element.get_bool().value_unsafe());
    case element_type::NULL_VALUE:
        break;
    }
    return {};
}

} // namespace

Value::Value(const Value &other) = default;
Value::Value(Value &&other) noexcept = default;
Value &Value::operator=(const Value &other) = default;
Value &Value::operator=(Value &&other) noexcept = default;
Value::~Value() = default;

Value::Value(const char *value) : m_content(std::string(value)) {}
Value::Value(std::string value) : m_content(std::move(value)) {}
Value::Value(std::string_view value) : m_content(std::string(value)) {}
Value::Value(List value) : m_content(std::move(value)) {}
Value::Value(Object value) : m_content(std::move(value)) {}

Value Value::object()
{
    return Value(Object());
}

Value Value::object(std::initializer_list<Member> members)
{
    return Value(Object(members));
}

Value Value::list()
{
    return Value(List());
}

Value Value::list(std::initializer_list<Value> items)
{
    return Value(List(items));
}

void Value::append(Value value)
{
    asList().push_back(std::move(value));
}

bool Value::operator==(const Value &other) const
{
    return m_content == other.m_content;
}

bool Value::toBool(bool fallback) const
{
    const auto *p = std::get_if<bool>(&m_content);
    return p ? *p : fallback;
}

std::int64_t Value::toInt(std::int64_t fallback) const
{
    const auto *p = std::get_if<std::int64_t>(&m_content);
    return p ? *p : fallback;
}

double Value::toDouble(double fallback) const
{
    if (const auto *p = std::get_if<double>(&m_content))
        return *p;
    const auto *p = std::get_if<std::int64_t>(&m_content);
    return p ? static_cast<double>(*p) : fallback;
}

const std::string &Value::toString() const
{
    static const std::string empty;
    const auto *p = std::get_if<std::string>(&m_content);
    return p ? *p : empty;
}

const Value::List &Value::toList() const &
{
    static const List empty;
    const auto *p = std::get_if<List>(&m_content);
    return p ? *p : empty;
}

const Value::Object &Value::toObject() const &
{
    static const Object empty;
    const auto *p = std::get_if<Object>(&m_content);
    return p ? *p : empty;
}

Value::List &Value::asList()
{
    if (!isList())
        m_content = List();
    return std::get<List>(m_content);
}

Value::Object &Value::asObject()
{
    if (!isObject())
        m_content = Object();
    return std::get<Object>(m_content);
}

const Value *Value::find(std::string_view key) const
{
    for (const auto &[name, value] : toObject())
        if (name == key)
            return &value;
    return nullptr;
}

const Value &Value::at(std::string_view key) const
{
    static const Value null;
    const Value *found = find(key);
    return found ? *found : null;
}

void Value::set(std::string_view key, Value value)
{
    for (auto &[name, old] : asObject())
        if (name == key) {
            old = std::move(value);
            return;
        }
    asObject().emplace_back(std::string(key), std::move(value));
}

std::string toJson(const Value &value, int indent)
{
    std::string out;
    appendJson(out, value, indent, 0);
    return out;
}

std::string jsonQuoted(std::string_view text)
{
    if (!isUtf8(text))
        return jsonQuoted(cleanUtf8(text));
    std::string out = "\"";
    for (const char c : text) {
        switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\t':
            out += "\\t";
            break;
        case '\r':
            out += "\\r";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20)
                out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
            else
                out += c;
        }
    }
    return out + '"';
}

std::string formatDouble(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string text(buffer, end);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text;
}

Result<Value> parseJson(std::string_view text, std::string_view name, const JsonLimits &limits)
{
    if (text.size() > limits.bytes)
        return Status(ErrorCode::limitExceeded,
                      fmt::format("{}: {} bytes of JSON, the limit is {}", name, text.size(), limits.bytes));
    simdjson::dom::parser parser;
    if (text.size() < 0xffffffffU && parser.allocate(text.size() + 64, limits.depth) != simdjson::SUCCESS)
        return Status(ErrorCode::limitExceeded,
                      fmt::format("{}: no memory for {} bytes of JSON", name, text.size()));
    simdjson::dom::element root;
    const auto error = parser.parse(simdjson::padded_string(text)).get(root);
    if (error == simdjson::DEPTH_ERROR)
        return Status(ErrorCode::limitExceeded,
                      fmt::format("{}: JSON nested deeper than {} levels", name, limits.depth));
    if (error != simdjson::SUCCESS) {
        std::string_view why = simdjson::error_message(error);
        if (why.ends_with('.'))
            why.remove_suffix(1);
        return Status(ErrorCode::corrupt, fmt::format("{}: not JSON: {}", name, why));
    }
    return fromElement(root);
}

} // namespace core
