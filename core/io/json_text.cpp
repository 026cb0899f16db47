// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/json_text.h"

#include "core/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace core {
namespace {

constexpr std::size_t kNumberRoom = 40;

bool isPlain(char c)
{
    const auto code = static_cast<unsigned char>(c);
    return code >= 0x20 && code < 0x80 && c != '"' && c != '\\';
}

char shortEscape(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\n':
        return 'n';
    case '\t':
        return 't';
    case '\r':
        return 'r';
    default:
        return 0;
    }
}

} // namespace

char *JsonText::room(std::size_t bytes)
{
    if (m_text.size() - m_size < bytes)
        m_text.resize(std::max(m_text.size() * 2, m_size + bytes));
    return m_text.data() + m_size;
}

void JsonText::comma()
{
    if (m_needsComma)
        word(",");
    m_needsComma = true;
}

void JsonText::word(std::string_view text)
{
    std::memcpy(room(text.size()), text.data(), text.size());
    m_size += text.size();
}

void JsonText::open(char bracket)
{
    comma();
    word({&bracket, 1});
    m_needsComma = false;
}

void JsonText::close(char bracket)
{
    word({&bracket, 1});
    m_needsComma = true;
}

void JsonText::key(std::string_view key)
{
    char *at = room(key.size() + 4);
    char *const begin = at;
    if (m_needsComma)
        *at++ = ',';
    *at++ = '"';
    std::memcpy(at, key.data(), key.size());
    at += key.size();
    *at++ = '"';
    *at++ = ':';
    m_size += static_cast<std::size_t>(at - begin);
    m_needsComma = false;
}

void JsonText::newLine()
{
    word("\n");
    m_needsComma = false;
}

void JsonText::string(std::string_view text)
{
    comma();
    char *at = room(text.size() + 2);
    *at++ = '"';
    std::size_t plain = 0;
    for (; plain < text.size() && isPlain(text[plain]); ++plain)
        at[plain] = text[plain];
    m_size += plain + 1;
    if (plain < text.size())
        escaped(text.substr(plain));
    word("\"");
}

void JsonText::escaped(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    while (!text.empty()) {
        const char c = text.front();
        std::size_t length = 1;
        if (isPlain(c)) {
            word(text.substr(0, 1));
        } else if (const char letter = shortEscape(c); letter != 0) {
            const char pair[] = {'\\', letter};
            word({pair, 2});
        } else if (static_cast<unsigned char>(c) < 0x20) {
            const char code[] = {'\\', 'u', '0', '0', kHex[(c >> 4) & 15], kHex[c & 15]};
            word({code, 6});
        } else if (length = utf8SequenceLength(text); length != 0) {
            word(text.substr(0, length));
        } else {
            length = 1;
            word("\xef\xbf\xbd");
        }
        text.remove_prefix(length);
    }
}

void JsonText::integer(std::int64_t value)
{
    comma();
    char *at = room(kNumberRoom);
    m_size += static_cast<std::size_t>(std::to_chars(at, at + kNumberRoom, value).ptr - at);
}

void JsonText::unsignedInteger(std::uint64_t value)
{
    comma();
    char *at = room(kNumberRoom);
    m_size += static_cast<std::size_t>(std::to_chars(at, at + kNumberRoom, value).ptr - at);
}

void JsonText::real(double value)
{
    if (!std::isfinite(value))
        return string(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    comma();
    char *at = room(kNumberRoom);
    char *end = std::to_chars(at, at + kNumberRoom - 2, value).ptr;
    if (std::find_if(at, end, [](char c) { return c == '.' || c == 'e'; }) == end) {
        *end++ = '.';
        *end++ = '0';
    }
    m_size += static_cast<std::size_t>(end - at);
}

void JsonText::boolean(bool value)
{
    comma();
    word(value ? "true" : "false");
}

void JsonText::null()
{
    comma();
    word("null");
}

void JsonText::value(const Value &value)
{
    if (value.isNull())
        return null();
    if (value.isBool())
        return boolean(value.toBool());
    if (value.isInt())
        return integer(value.toInt());
    if (value.isDouble())
        return real(value.toDouble());
    if (value.isString())
        return string(value.toString());
    if (value.isList()) {
        open('[');
        for (const Value &item : value.toList())
            this->value(item);
        return close(']');
    }
    open('{');
    for (const auto &[name, item] : value.toObject()) {
        string(name);
        word(":");
        m_needsComma = false;
        this->value(item);
    }
    close('}');
}

} // namespace core
