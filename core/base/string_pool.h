// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace core {

// Each string stored once. Ids are dense and stay valid; id 0 is always the empty string.
class StringPool
{
public:
    StringPool() { intern({}); }
    StringPool(const StringPool &) = delete;
    StringPool &operator=(const StringPool &) = delete;
    StringPool(StringPool &&) = default;
    StringPool &operator=(StringPool &&) = default;

    StringId intern(std::string_view text)
    {
        if (const auto found = m_ids.find(text); found != m_ids.end())
            return found->second;
        const StringId id(m_strings.size());
        m_strings.emplace_back(text);
        m_ids.emplace(m_strings.back(), id);
        return id;
    }
    // None when TEXT was never interned.
    StringId find(std::string_view text) const
    {
        const auto found = m_ids.find(text);
        return found == m_ids.end() ? StringId() : found->second;
    }
    // The empty view for an id without value.
    std::string_view view(StringId id) const
    {
        return id.isValid() && id.index() < m_strings.size() ? std::string_view(m_strings[id.index()])
                                                             : std::string_view();
    }
    std::size_t size() const { return m_strings.size(); }

private:
    std::deque<std::string> m_strings;
    std::unordered_map<std::string_view, StringId> m_ids;
};

} // namespace core
