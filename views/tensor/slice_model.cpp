// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/slice_model.h"

#include "core/base/element_codec.h"
#include "views/base/formatting.h"

#include <algorithm>
#include <cmath>

namespace views {

namespace {

QString valueText(core::DType dtype, const std::byte *data, std::size_t index, int digits)
{
    const double value = core::elementAsDouble(dtype, data, index);
    if (dtype == core::DType::boolean)
        return value != 0.0 ? QStringLiteral("True") : QStringLiteral("False");
    if (core::isIntegral(dtype) || core::isQuantized(dtype))
        return QString::number(value, 'f', 0);
    const auto part = [digits](double number) {
        return digits > 9 ? exactNumber(number) : numberText(number, digits);
    };
    if (!core::isComplex(dtype))
        return part(value);
    const double imaginary = core::elementImaginary(dtype, data, index);
    return QStringLiteral("%1%2%3i").arg(
        part(value), std::signbit(imaginary) ? QString() : QStringLiteral("+"), part(imaginary));
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
    m_rows = static_cast<int>(std::min(slice.rows(shape), kMostCells));
    m_columns = static_cast<int>(std::min(slice.columns(shape), kMostCells));
    endResetModel();
}

void SliceModel::clear()
{
    beginResetModel();
    m_trace.reset();
    m_tiles.clear();
    m_asked.clear();
    m_rows = m_columns = 0;
    endResetModel();
}

void SliceModel::setTile(const Slice &slice, const Tile &tile)
{
    if (!(slice == m_slice) || tile.rows <= 0 || tile.columns <= 0)
        return;
    m_tiles[{tile.firstRow / kTileSide, tile.firstColumn / kTileSide}] = tile;
    Q_EMIT dataChanged(index(static_cast<int>(tile.firstRow), static_cast<int>(tile.firstColumn)),
                       index(std::min(static_cast<int>(tile.firstRow + tile.rows), m_rows) - 1,
                             std::min(static_cast<int>(tile.firstColumn + tile.columns), m_columns) - 1));
}

const Tile *SliceModel::tileOf(int row, int column) const
{
    const TileKey key{row / kTileSide, column / kTileSide};
    const auto found = m_tiles.find(key);
    if (found != m_tiles.end())
        return &found->second;
    if (m_asked.insert(key).second)
        Q_EMIT tileRequested(key.first * kTileSide, key.second * kTileSide);
    return nullptr;
}

std::size_t SliceModel::indexIn(const Tile &tile, int row, int column) const
{
    return static_cast<std::size_t>((row - tile.firstRow) * tile.columns + (column - tile.firstColumn));
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
        return core::elementAsDouble(m_dtype, tile->bytes.data(), at);
    return valueText(m_dtype, tile->bytes.data(), at, 4);
}

QVariant SliceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::DisplayRole)
        return section;
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
