// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/string_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <xxhash.h>

namespace core {
namespace {

constexpr std::size_t kBlock = std::size_t(64) << 10U;
constexpr std::size_t kFirstTable = 64;

std::uint32_t hashOf(std::string_view text)
{
    return static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
}

} // namespace

StringId StringPool::intern(std::string_view text)
{
    grow(m_strings.size() + 1);
    const std::uint32_t hash = hashOf(text);
    Entry &entry = m_table[slot(text, hash)];
    if (entry.number != 0)
        return StringId(entry.number - 1);
    m_strings.push_back(store(text));
    entry = {hash, static_cast<std::uint32_t>(m_strings.size())};
    return StringId(m_strings.size() - 1);
}

StringId StringPool::find(std::string_view text) const
{
    const Entry &entry = m_table[slot(text, hashOf(text))];
    return entry.number == 0 ? StringId() : StringId(entry.number - 1);
}

bool StringPool::assign(std::string_view text, std::span<const std::uint32_t> lengths)
{
    *this = StringPool();
    std::uint64_t total = 0;
    for (const std::uint32_t length : lengths)
        total += length;
    if (total != text.size() || lengths.empty() || lengths.front() != 0)
        return false;
    const std::string_view all = store(text);
    m_strings.reserve(lengths.size());
    grow(lengths.size());
    std::size_t at = 0;
    for (const std::uint32_t length : lengths.subspan(1)) {
        const std::string_view string = all.substr(at, length);
        const std::uint32_t hash = hashOf(string);
        Entry &entry = m_table[slot(string, hash)];
        if (entry.number != 0) {
            *this = StringPool();
            return false;
        }
        m_strings.push_back(string);
        entry = {hash, static_cast<std::uint32_t>(m_strings.size())};
        at += length;
    }
    return true;
}

std::string_view StringPool::store(std::string_view text)
{
    if (text.empty())
        return {};
    if (text.size() > m_room) {
        const std::size_t size = std::max(kBlock, text.size());
        m_blocks.push_back(std::unique_ptr<char[]>(new char[size]));
        m_room = size;
    }
    // The room of a block is used from its end.
    char *at = m_blocks.back().get() + (m_room -= text.size());
    std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
}

std::size_t StringPool::slot(std::string_view text, std::uint32_t hash) const
{
    const std::size_t mask = m_table.size() - 1;
    std::size_t at = hash & mask;
    while (m_table[at].number != 0 && (m_table[at].hash != hash || m_strings[m_table[at].number - 1] != text))
        at = (at + 1) & mask;
    return at;
}

void StringPool::grow(std::size_t strings)
{
    if (strings * 2 <= m_table.size())
        return;
    std::vector<Entry> table(std::max(kFirstTable, std::bit_ceil(strings * 2)));
    const std::size_t mask = table.size() - 1;
    for (const Entry &entry : m_table) {
        if (entry.number == 0)
            continue;
        std::size_t at = entry.hash & mask;
        while (table[at].number != 0)
            at = (at + 1) & mask;
        table[at] = entry;
    }
    m_table = std::move(table);
}

} // namespace core
