// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace views {

struct TraceFacts;

// What a filter looks at: a trace and, for statistics it did not record, what was measured of it (may be
// null). Lives no longer than the call it is given to.
struct FilterSubject
{
    FilterSubject(const core::Trace &ofTrace, const TraceFacts *measured = nullptr)
        : trace(ofTrace), facts(measured)
    {
    }
    operator const core::Trace &() const { return trace; }

    const core::Trace &trace;
    const TraceFacts *facts;
};

// What the filter line says about the ops of a trace:
//
//   kind:softmax module:h.7.* shape:[4,*] dtype:fp16 line:model.py:110-120 nan>0 time>100us -saved "text"
//   /regex/
//
// A blank joins by "and", "|" by "or", "-" negates, brackets group. Immutable and cheap to copy; matches()
// may be called from any thread.
class OpFilter
{
public:
    struct Problem
    {
        int position = 0; // of the token in the text
        int length = 0;
        QString message;
    };
    // Either a filter or a problem; an empty text is a filter that lets everything through.
    struct Parsed;

    static Parsed parse(const QString &text);

    bool matches(const FilterSubject &subject, core::OpId op) const;
    // Ops that match, as indices into OPS.
    std::vector<std::uint32_t> matching(const FilterSubject &subject, std::span<const core::OpId> ops) const;
    bool isEmpty() const { return !m_node; }
    // The filter as a sentence: "ops of kind softmax, below h.7, whose values were not saved".
    QString explanation() const;

    // One condition or a combination of them.
    struct Node
    {
        enum class Kind { test, all, any, negation };
        Kind kind = Kind::test;
        std::function<bool(const FilterSubject &, core::OpId)> test;
        QString description;
        std::vector<std::shared_ptr<const Node>> children;

        bool matches(const FilterSubject &subject, core::OpId op) const;
        QString explanation() const;
    };

private:
    explicit OpFilter(std::shared_ptr<const Node> node) : m_node(std::move(node)) {}
    OpFilter() = default;

    std::shared_ptr<const Node> m_node;
};

struct OpFilter::Parsed
{
    OpFilter filter;
    std::optional<Problem> problem;
};

// "*" stands for any run of characters; the comparison ignores ASCII case.
bool matchesGlob(std::string_view pattern, std::string_view text);

} // namespace views
