// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"
#include "views/base/trace_facts.h"
#include "views/base/trace_selection.h"

#include <QString>

#include <memory>
#include <string>
#include <vector>

namespace app {

enum class HitKind { op, module, line, parameter, finding, command };

// One line of the palette. INDEX is a row of what KIND names: an op id, a module id, a parameter id, a
// finding's place, a frame id, a command's place.
struct SearchHit
{
    HitKind kind = HitKind::op;
    std::uint32_t index = 0;
    int score = 0; // smaller is better
};

// The words of a trace made ready to be searched: one lower-case text a thing, all in one string, so that
// 100,000 ops are searched in a few milliseconds. Built in a job, immutable.
class SearchIndex
{
public:
    static constexpr std::size_t kMostHits = 60;

    SearchIndex(std::shared_ptr<const core::Trace> trace, std::shared_ptr<const views::TraceFacts> facts);

    const core::Trace &trace() const { return *m_trace; }
    const views::TraceFacts *facts() const { return m_facts.get(); }
    // Best first. All words of QUERY must occur. A prefix narrows: "@" module, ":" line, "#" op number, "["
    // shape,
    // "!" finding. An empty query finds nothing.
    std::vector<SearchHit> find(const QString &query) const;
    // What a hit selects.
    views::SelectedItem itemOf(const SearchHit &hit) const;
    QString nameOf(const SearchHit &hit) const;
    QString placeOf(const SearchHit &hit) const;

private:
    struct Entry
    {
        HitKind kind;
        std::uint32_t index;
        std::uint32_t begin;
        std::uint32_t nameLength; // the first part of the text, which ranks higher
        std::uint32_t length;
    };
    void add(HitKind kind, std::size_t index, std::string name, const std::string &more);
    void addOps();
    void addLines();
    std::string opDetails(core::OpId op) const;

    std::shared_ptr<const core::Trace> m_trace;
    std::shared_ptr<const views::TraceFacts> m_facts;
    std::string m_text;
    std::vector<Entry> m_entries;
};

// Whether all words of QUERY occur in TEXT, ignoring case; the palette's rule for commands.
bool matchesWords(const QString &query, const QString &text);

} // namespace app
