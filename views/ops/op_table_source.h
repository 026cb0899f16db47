// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"
#include "views/base/table_source.h"

#include <memory>
#include <string>

namespace views {

struct TraceFacts;

// The ops of a trace in the order every report walks them, as rows of a table. Immutable.
class OpTableSource : public TableSource
{
public:
    enum Column {
        number_,
        op_,
        module_,
        shape_,
        dtype_,
        saved_,
        nan_,
        inf_,
        min_,
        max_,
        time_,
        source_,
        columnCount
    };

    // FACTS (may be null) know statistics that the trace did not record.
    explicit OpTableSource(std::shared_ptr<const core::Trace> trace,
                           std::shared_ptr<const TraceFacts> facts = nullptr);

    const std::vector<TableColumn> &columns() const override { return m_columns; }
    std::size_t rowCount() const override { return m_ops.size(); }
    QString text(std::size_t row, std::size_t column) const override;
    double number(std::size_t row, std::size_t column) const override;
    std::string_view key(std::size_t row, std::size_t column) const override;
    CellLook look(std::size_t row, std::size_t column) const override;
    QString exactText(std::size_t row, std::size_t column) const override;

    core::OpId op(std::size_t row) const { return m_ops[row]; }
    // nullopt for an op of another trace.
    std::optional<std::size_t> rowOf(core::OpId op) const;

private:
    const core::TensorRow *tensor(std::size_t row) const;
    const core::TensorStats *stats(std::size_t row) const;
    QString statText(std::size_t row, std::size_t column) const;
    std::string_view shapeKeyOf(std::size_t row) const;
    std::string_view lineKeyOf(std::size_t row) const;

    std::shared_ptr<const core::Trace> m_trace;
    std::shared_ptr<const TraceFacts> m_facts;
    std::span<const core::OpId> m_ops;
    std::vector<std::uint32_t> m_rows; // row of each op
    // Of the columns whose key is no text of the trace; made when they are first sorted by.
    mutable std::vector<std::string> m_shapeKeys;
    mutable std::vector<std::string> m_lineKeys;
    std::vector<TableColumn> m_columns;
};

} // namespace views
