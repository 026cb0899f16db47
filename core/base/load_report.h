// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// What a reader noticed without giving up: each note has a stable token ("truncated", "crc_mismatch",
// "opaque_globals") and a sentence that names the object. Notes with the same token beyond the first 20 are
// only counted.
class LoadReport
{
public:
    struct Note
    {
        std::string token;
        std::string message;
        std::uint64_t count = 1;
    };

    void add(std::string token, std::string message);
    bool has(std::string_view token) const;
    const std::vector<Note> &notes() const { return m_notes; }
    bool isClean() const { return m_notes.empty(); }

private:
    static constexpr std::size_t kKeptPerToken = 20;
    std::vector<Note> m_notes;
};

} // namespace core
