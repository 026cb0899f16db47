// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/slice_model.h"

#include "core/base/element_codec.h"
#include "views/base/formatting.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace views {

namespace {

// Every digit: a double has room for 53 bits only.
QString integerText(core::DType dtype, const std::byte *data, std::size_t index)
{
    if (const auto exact = core::elementAsInteger(dtype, data, index))
        return QString::number(static_cast<qlonglong>(*exact));
    std::uint64_t large = 0;
    if (dtype == core::DType::uint64) {
        std::memcpy(&large, data + index * sizeof(large), sizeof(large));
        return QString::number(static_cast<qulonglong>(large));
    }
    return QString::number(core::elementAsDouble(dtype, data, index), 'f', 0);
}

QString valueText(core::DType dtype, const std::byte *data, std::size_t index, int digits)
{
    if (core::isIntegral(dtype) || core::isQuantized(dtype))
        return integerText(dtype, data, index);
    const double value = core::elementAsDouble(dtype, data, index);
    if (dtype == core::DType::boolean)
        return value != 0.0 ? QStringLiteral("True") : QStringLiteral("False");
    const auto part = [digits](double number) {
        return digits > 9 ? exactNumber(number) : numberText(number, digits);
    };
    if (!core::isComplex(dtype))
        return part(value);
    const double imaginary = core::elementImaginary(dtype, data, index);
    const QString second = part(imaginary);
    const bool hasSign = second.startsWith(QLatin1Char('-')) || second.startsWith(QLatin1Char('+')) ||
                         second.startsWith(QChar(u'−'));
    return part(value) + (hasSign ? QString() : QStringLiteral("+")) + second + QLatin1Char('i');
}

// NaN before infinity: hypot() of the two would be infinite.
double colouredBy(core::DType dtype, const std::byte *data, std::size_t index)
{
    const double value = core::elementAsDouble(dtype, data, index);
    if (!core::isComplex(dtype))
        return value;
    const double imaginary = core::elementImaginary(dtype, data, index);
    return std::isnan(value) || std::isnan(imaginary) ? std::nan("") : std::hypot(value, imaginary);
}

// The start of the window that has INDEX: where it is when that one does, else INDEX in the middle.
std::int64_t windowWith(std::int64_t index, std::int64_t first, std::int64_t all)
{
    if (index >= first && index < first + SliceModel::kMostCells)
        return first;
    const std::int64_t last = std::max<std::int64_t>(0, all - SliceModel::kMostCells);
    const std::int64_t start = std::clamp<std::int64_t>(index - SliceModel::kMostCells / 2, 0, last);
    // Whole tiles; at the end of the axis the last one is not cut off.
    return start == last ? (start + kTileSide - 1) / kTileSide * kTileSide : start / kTileSide * kTileSide;
}

} // namespace

void SliceModel::setSlice(std::shared_ptr<const core::Trace> trace, core::TensorId tensor, const Slice &slice)
{
    beginResetModel();
    m_trace = std::move(trace);
    m_tensor = tensor;
    m_dtype = m_trace->tensor(tensor).dtype;
    m_slice = slice;
    m_tiles.clear();
    m_asked.clear();
    const auto shape = m_trace->shape(tensor);
    m_allRows = slice.rows(shape);
    m_allColumns = slice.columns(shape);
    setWindow(0, 0);
    endResetModel();
}

void SliceModel::setWindow(std::int64_t row, std::int64_t column)
{
    m_firstRow = row;
    m_firstColumn = column;
    m_rows = static_cast<int>(std::min(m_allRows - row, kMostCells));
    m_columns = static_cast<int>(std::min(m_allColumns - column, kMostCells));
}

void SliceModel::showCell(std::int64_t row, std::int64_t column)
{
    const std::int64_t firstRow = windowWith(row, m_firstRow, m_allRows);
    const std::int64_t firstColumn = windowWith(column, m_firstColumn, m_allColumns);
    if (firstRow == m_firstRow && firstColumn == m_firstColumn)
        return;
    beginResetModel();
    setWindow(firstRow, firstColumn);
    m_tiles.clear();
    m_asked.clear();
    endResetModel();
}

void SliceModel::moveWindow(int direction)
{
    const bool byRows = m_allRows >= m_allColumns;
    const std::int64_t middle = (byRows ? m_firstRow : m_firstColumn) + kMostCells / 2;
    const std::int64_t all = byRows ? m_allRows : m_allColumns;
    const std::int64_t wanted = std::clamp<std::int64_t>(middle + direction * kMostCells, 0, all - 1);
    showCell(byRows ? wanted : m_firstRow, byRows ? m_firstColumn : wanted);
}

std::uint64_t SliceModel::flatOf(int row, int column) const
{
    return m_slice.flat(m_trace->shape(m_tensor), m_firstRow + row, m_firstColumn + column);
}

void SliceModel::clear()
{
    beginResetModel();
    m_trace.reset();
    m_tiles.clear();
    m_asked.clear();
    m_rows = m_columns = 0;
    m_allRows = m_allColumns = 0;
    m_firstRow = m_firstColumn = 0;
    endResetModel();
}

void SliceModel::setTile(const Slice &slice, const Tile &tile)
{
    if (!(slice == m_slice) || tile.rows <= 0 || tile.columns <= 0)
        return;
    const std::int64_t row = tile.firstRow - m_firstRow;
    const std::int64_t column = tile.firstColumn - m_firstColumn;
    // The window may have moved on since the tile was asked for.
    if (row < 0 || column < 0 || row >= m_rows || column >= m_columns)
        return;
    m_tiles[{tile.firstRow / kTileSide, tile.firstColumn / kTileSide}] = tile;
    Q_EMIT dataChanged(index(static_cast<int>(row), static_cast<int>(column)),
                       index(static_cast<int>(std::min<std::int64_t>(row + tile.rows, m_rows)) - 1,
                             static_cast<int>(std::min<std::int64_t>(column + tile.columns, m_columns)) - 1));
}

const Tile *SliceModel::tileOf(int row, int column) const
{
    const TileKey key{(m_firstRow + row) / kTileSide, (m_firstColumn + column) / kTileSide};
    const auto found = m_tiles.find(key);
    if (found != m_tiles.end())
        return &found->second;
    if (m_asked.insert(key).second)
        Q_EMIT tileRequested(key.first * kTileSide, key.second * kTileSide);
    return nullptr;
}

std::size_t SliceModel::indexIn(const Tile &tile, int row, int column) const
{
    return static_cast<std::size_t>((m_firstRow + row - tile.firstRow) * tile.columns +
                                    (m_firstColumn + column - tile.firstColumn));
}

int SliceModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : m_rows;
}

int SliceModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : m_columns;
}

QVariant SliceModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || (role != Qt::DisplayRole && role != kValueRole))
        return {};
    const Tile *tile = tileOf(index.row(), index.column());
    if (tile == nullptr)
        return role == Qt::DisplayRole ? QVariant(QStringLiteral("…")) : QVariant();
    const std::size_t at = indexIn(*tile, index.row(), index.column());
    if (role == kValueRole)
        return colouredBy(m_dtype, tile->bytes.data(), at);
    return valueText(m_dtype, tile->bytes.data(), at, 4);
}

QVariant SliceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::DisplayRole)
        return static_cast<qlonglong>(section + (orientation == Qt::Vertical ? m_firstRow : m_firstColumn));
    if (role == Qt::TextAlignmentRole)
        return QVariant(orientation == Qt::Vertical ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignCenter);
    return {};
}

QString SliceModel::exactText(int row, int column) const
{
    if (row < 0 || column < 0 || row >= m_rows || column >= m_columns)
        return {};
    const Tile *tile = tileOf(row, column);
    if (tile == nullptr)
        return {};
    const std::size_t at = indexIn(*tile, row, column);
    QString bits;
    for (std::size_t i = tile->itemBytes; i-- > 0;)
        bits += QStringLiteral("%1").arg(static_cast<unsigned>(tile->bytes[at * tile->itemBytes + i]), 2, 16,
                                         QLatin1Char('0'));
    return QStringLiteral("%1   0x%2").arg(valueText(m_dtype, tile->bytes.data(), at, 17), bits);
}

} // namespace views
