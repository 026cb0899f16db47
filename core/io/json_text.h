// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace core {

// Prints one JSON line after the other into a buffer that is kept between lines: the fast half of the native
// writer. Members are printed in the order of the calls; strings that are not valid UTF-8 get U+FFFD for
// each bad byte, so that every reader can take the line. Owned and used by one thread.
class JsonText
{
public:
    JsonText() { m_text.resize(4096); }

    std::string_view view() const { return {m_text.data(), m_size}; }
    void clear() { m_size = 0; }

    // Structure. A comma is put where one is needed.
    void open(char bracket)
    {
        char *const at = room(2);
        *at = ',';
        at[m_needsComma ? 1 : 0] = bracket;
        m_size += m_needsComma ? 2 : 1;
        m_needsComma = false;
    }
    void close(char bracket)
    {
        *room(1) = bracket;
        ++m_size;
        m_needsComma = true;
    }
    // KEY is plain ASCII without characters to escape.
    void key(std::string_view key)
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
    void newLine();

    // One value, in a list or after key().
    void string(std::string_view text);
    void integer(std::int64_t value);
    void unsignedInteger(std::uint64_t value);
    void real(double value); // NaN and infinities as strings
    void boolean(bool value);
    void null();
    void value(const Value &value);

    void member(std::string_view name, std::string_view text)
    {
        key(name);
        string(text);
    }
    void member(std::string_view name, std::uint32_t number)
    {
        key(name);
        unsignedInteger(number);
    }

private:
    char *room(std::size_t bytes)
    {
        if (m_text.size() - m_size < bytes)
            grow(bytes);
        return m_text.data() + m_size;
    }
    void grow(std::size_t bytes);
    void comma();
    void word(std::string_view text);
    void escaped(std::string_view text);

    std::string m_text;
    std::size_t m_size = 0;
    bool m_needsComma = false;
};

} // namespace core
