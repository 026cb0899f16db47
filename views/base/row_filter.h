// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/op_filter.h"
#include "views/base/table_source.h"

#include <QString>

#include <functional>
#include <optional>
#include <vector>

namespace views {

// What the filter line says about the rows of any table, by the names of its columns:
//
//   op:softmax* grad_norm<1e-7 -dead "text" /regex/
//
// A blank joins by "and", "|" by "or" (which binds weaker), "-" negates. A word alone is looked for in every
// cell, ignoring case; "column:word" is a pattern with "*". Comparisons look at numbers: a cell without one
// is in no comparison. Immutable; GUI thread, as the sources it reads.
class RowFilter
{
public:
    struct Parsed;

    // COLUMNS give the names that may be used.
    static Parsed parse(const QString &text, const std::vector<TableColumn> &columns);

    bool isEmpty() const { return m_any.empty(); }
    bool matches(const TableSource &source, std::size_t row) const;
    // Source rows that match, in order.
    std::vector<std::uint32_t> matching(const TableSource &source) const;
    // The filter as a sentence.
    QString explanation() const;

private:
    friend class RowFilterParser;

    struct Term
    {
        std::function<bool(const TableSource &, std::size_t)> test;
        QString words;
        bool negated = false;
    };
    using All = std::vector<Term>;

    std::vector<All> m_any;
};

struct RowFilter::Parsed
{
    RowFilter filter;
    std::optional<OpFilter::Problem> problem;
};

} // namespace views
