// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/tensor/tensor_summary.h"

#include <QAbstractTableModel>

#include <map>
#include <set>

namespace views {

// The cells of one slice, read tile by tile as they come into view: a cell that is not there yet asks for its
// tile once and shows an ellipsis. Row and column headers are indices of the shown axes. Owned by the tensor
// pane.
class SliceModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    static constexpr int kValueRole = Qt::UserRole + 1; // double; invalid while the tile is missing
    // Qt counts rows in int and views get slow long before; what is beyond is reached by its index.
    static constexpr std::int64_t kMostCells = 1'000'000;

    explicit SliceModel(QObject *parent = nullptr) : QAbstractTableModel(parent) {}

    void setSlice(std::shared_ptr<const core::Trace> trace, core::TensorId tensor, const Slice &slice);
    void clear();
    void setTile(const Slice &slice, const Tile &tile);
    const Slice &slice() const { return m_slice; }
    // Value and stored bits of a cell ("0x7e00"); empty while the tile is missing.
    QString exactText(int row, int column) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

Q_SIGNALS:
    void tileRequested(std::int64_t firstRow, std::int64_t firstColumn) const;

private:
    using TileKey = std::pair<std::int64_t, std::int64_t>;
    const Tile *tileOf(int row, int column) const;
    std::size_t indexIn(const Tile &tile, int row, int column) const;

    std::shared_ptr<const core::Trace> m_trace;
    core::TensorId m_tensor;
    core::DType m_dtype = core::DType::unknown;
    Slice m_slice;
    int m_rows = 0;
    int m_columns = 0;
    std::map<TileKey, Tile> m_tiles;
    mutable std::set<TileKey> m_asked;
};

} // namespace views
