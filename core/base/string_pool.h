// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace core {

// Each string stored once, in a few large blocks that never move. Ids are dense and stay valid; id 0 is
// always the empty string.
class StringPool
{
public:
    StringPool() { intern({}); }
    StringPool(const StringPool &) = delete;
    StringPool &operator=(const StringPool &) = delete;
    StringPool(StringPool &&) = default;
    StringPool &operator=(StringPool &&) = default;

    StringId intern(std::string_view text);
    // None when TEXT was never interned.
    StringId find(std::string_view text) const;
    // The empty view for an id without value.
    std::string_view view(StringId id) const
    {
        return id.isValid() && id.index() < m_strings.size() ? m_strings[id.index()] : std::string_view();
    }
    std::size_t size() const { return m_strings.size(); }

    // A pool of strings that lie one after the other in TEXT, string I being LENGTHS[I] bytes long, as they
    // stand in the index of a file. False, and the pool is as new, unless the lengths add up to the size of
    // TEXT, the first string is the empty one and all are distinct.
    bool assign(std::string_view text, std::span<const std::uint32_t> lengths);

private:
    std::string_view store(std::string_view text);
    // Slot of TEXT in the table, or the free slot where it belongs.
    std::size_t slot(std::string_view text, std::uint32_t hash) const;
    void grow(std::size_t strings);

    struct Entry
    {
        std::uint32_t hash = 0;
        std::uint32_t number = 0; // id + 1; 0: free
    };

    std::vector<std::unique_ptr<char[]>> m_blocks;
    std::size_t m_room = 0; // left in the last block
    std::vector<std::string_view> m_strings;
    std::vector<Entry> m_table; // open addressing, a power of two, at most half full
};

} // namespace core
