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

// How many characters at the start of TEXT need no escape. Eight at a time: a byte of a sum or a difference
// has its highest bit set where that byte of TEXT is not plain (Mycroft's test for a zero byte).
std::size_t plainLength(std::string_view text)
{
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    constexpr std::uint64_t kHigh = kOnes * 0x80;
    std::size_t at = 0;
    for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
        std::memcpy(&word, text.data() + at, sizeof word);
        const std::uint64_t quotes = word ^ (kOnes * '"');
        const std::uint64_t slashes = word ^ (kOnes * '\\');
        const std::uint64_t below = (word - kOnes * 0x20) | (quotes - kOnes) | (slashes - kOnes) | word;
        if ((below & kHigh) != 0)
            break;
    }
    while (at < text.size() && isPlain(text[at]))
        ++at;
    return at;
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

void JsonText::grow(std::size_t bytes)
{
    m_text.resize(std::max(m_text.size() * 2, m_size + bytes));
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

void JsonText::newLine()
{
    word("\n");
    m_needsComma = false;
}

void JsonText::string(std::string_view text)
{
    const std::size_t plain = plainLength(text);
    char *at = room(plain + 3);
    char *const begin = at;
    if (m_needsComma)
        *at++ = ',';
    *at++ = '"';
    std::memcpy(at, text.data(), plain);
    at += plain;
    if (plain == text.size())
        *at++ = '"';
    m_size += static_cast<std::size_t>(at - begin);
    m_needsComma = true;
    if (plain == text.size())
        return;
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
