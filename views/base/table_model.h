// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/table_source.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace views {

// Any TableSource as a Qt model, sorted and filtered by a permutation of row numbers: 100,000 rows sort in
// tens of milliseconds. "Row" is a position in the view, "source row" a row of the source. Owned by the pane.
class TableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    static constexpr int kLookRole = Qt::UserRole + 1; // CellLook of a cell

    explicit TableModel(QObject *parent = nullptr);

    // Keeps sorting and drops the filter.
    void setSource(std::shared_ptr<const TableSource> source);
    const TableSource *source() const { return m_source.get(); }
    // Shows only ROWS (in source order); nullopt shows all.
    void setFilter(std::optional<std::vector<std::uint32_t>> rows);

    std::size_t sourceRow(int row) const { return m_order[static_cast<std::size_t>(row)]; }
    // -1 when the row is filtered out.
    int rowOf(std::size_t sourceRow) const;
    int sortColumn() const { return m_sortColumn; }
    Qt::SortOrder sortOrder() const { return m_sortOrder; }

    int rowCount(const QModelIndex &parent = {}) const final;
    int columnCount(const QModelIndex &parent = {}) const final;
    QVariant data(const QModelIndex &index, int role) const final;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const final;
    // COLUMN -1 restores the order of the source.
    void sort(int column, Qt::SortOrder order) final;

    // Tab separated values with a header line, full precision, C locale.
    QString copyText(const std::vector<int> &rows) const;

private:
    void applyFilter();
    void applySort();
    void rebuildPositions();

    std::shared_ptr<const TableSource> m_source;
    std::optional<std::vector<std::uint32_t>> m_filter;
    std::vector<std::uint32_t> m_order;    // source row at each row
    std::vector<std::int32_t> m_positions; // row of each source row, -1 when filtered out
    int m_sortColumn = -1;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

} // namespace views

Q_DECLARE_METATYPE(views::CellLook)
