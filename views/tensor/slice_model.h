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
    // What a cell is coloured by: a double, of a complex element its magnitude, NaN or infinite when a part
    // is; invalid while the tile is missing.
    static constexpr int kValueRole = Qt::UserRole + 1;
    // Qt counts rows in int and views get slow long before: of a longer axis the model is a window that can
    // be moved.
    static constexpr std::int64_t kMostCells = 1'000'000;

    explicit SliceModel(QObject *parent = nullptr) : QAbstractTableModel(parent) {}

    void setSlice(std::shared_ptr<const core::Trace> trace, core::TensorId tensor, const Slice &slice);
    void clear();
    void setTile(const Slice &slice, const Tile &tile);
    const Slice &slice() const { return m_slice; }
    // Where row and column 0 of the model stand in the slice.
    std::int64_t firstRow() const { return m_firstRow; }
    std::int64_t firstColumn() const { return m_firstColumn; }
    // Of the whole slice.
    std::int64_t allRows() const { return m_allRows; }
    std::int64_t allColumns() const { return m_allColumns; }
    bool isCut() const { return m_rows < m_allRows || m_columns < m_allColumns; }
    // Moves the window, where needed, so that it has the cell ROW, COLUMN of the slice.
    void showCell(std::int64_t row, std::int64_t column);
    // Moves the window of the longer cut axis by its own size, to earlier (-1) or later (1) cells.
    void moveWindow(int direction);
    // The flat row-major index in the tensor of a cell of the model.
    std::uint64_t flatOf(int row, int column) const;
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
    void setWindow(std::int64_t row, std::int64_t column);

    std::shared_ptr<const core::Trace> m_trace;
    core::TensorId m_tensor;
    core::DType m_dtype = core::DType::unknown;
    Slice m_slice;
    std::int64_t m_allRows = 0;
    std::int64_t m_allColumns = 0;
    std::int64_t m_firstRow = 0; // whole tiles
    std::int64_t m_firstColumn = 0;
    int m_rows = 0; // of the model
    int m_columns = 0;
    std::map<TileKey, Tile> m_tiles;
    mutable std::set<TileKey> m_asked;
};

} // namespace views
