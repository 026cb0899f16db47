// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/load_report.h"

#include <utility>

namespace core {
namespace {

constexpr std::size_t kMostKept = 1000;

}

void LoadReport::add(std::string token, std::string message)
{
    std::size_t same = 0;
    Note *last = nullptr;
    for (Note &note : m_notes)
        if (note.token == token) {
            ++same;
            last = &note;
        }
    if (same >= kKeptPerToken) {
        ++last->count;
        return;
    }
    // A hostile file may have as many kinds of notes as notes: the last one counts them.
    if (m_notes.size() >= kMostKept) {
        ++m_notes.back().count;
        return;
    }
    m_notes.push_back({std::move(token), std::move(message), 1});
}

bool LoadReport::has(std::string_view token) const
{
    for (const Note &note : m_notes)
        if (note.token == token)
            return true;
    return false;
}

} // namespace core
