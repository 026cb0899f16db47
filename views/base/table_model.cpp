// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/table_model.h"

#include "views/base/table_export.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace views {

namespace {

template <class Key, class Less>
void sortBy(std::vector<std::uint32_t> &order, std::vector<std::pair<Key, std::uint32_t>> &keyed, Less less)
{
    std::stable_sort(keyed.begin(), keyed.end(),
                     [&](const auto &a, const auto &b) { return less(a.first, b.first); });
    for (std::size_t i = 0; i < keyed.size(); ++i)
        order[i] = keyed[i].second;
}

void sortNumbers(const TableSource &source, std::size_t column, bool descending,
                 std::vector<std::uint32_t> &order)
{
    std::vector<std::pair<double, std::uint32_t>> keyed;
    keyed.reserve(order.size());
    for (const std::uint32_t row : order)
        keyed.emplace_back(source.number(row, column), row);
    // NaN is "not known" and stands last in both directions.
    const auto less = [descending](double a, double b) {
        if (std::isnan(a) || std::isnan(b))
            return !std::isnan(a) && std::isnan(b);
        return descending ? a > b : a < b;
    };
    sortBy(order, keyed, less);
}

void sortTexts(const TableSource &source, std::size_t column, bool descending,
               std::vector<std::uint32_t> &order)
{
    std::vector<std::pair<std::string_view, std::uint32_t>> keyed;
    keyed.reserve(order.size());
    for (const std::uint32_t row : order)
        keyed.emplace_back(source.key(row, column), row);
    if (descending)
        sortBy(order, keyed, std::greater<>());
    else
        sortBy(order, keyed, std::less<>());
}

} // namespace

TableModel::TableModel(QObject *parent) : QAbstractTableModel(parent) {}

void TableModel::setSource(std::shared_ptr<const TableSource> source)
{
    beginResetModel();
    m_source = std::move(source);
    m_filter.reset();
    if (!m_source || m_sortColumn >= static_cast<int>(m_source->columns().size()))
        m_sortColumn = -1;
    applyFilter();
    endResetModel();
}

void TableModel::setFilter(std::optional<std::vector<std::uint32_t>> rows)
{
    beginResetModel();
    m_filter = std::move(rows);
    applyFilter();
    endResetModel();
}

void TableModel::applyFilter()
{
    if (m_filter) {
        m_order = *m_filter;
    } else {
        m_order.resize(m_source ? m_source->rowCount() : 0);
        std::iota(m_order.begin(), m_order.end(), 0U);
    }
    applySort();
    rebuildPositions();
}

void TableModel::applySort()
{
    if (m_sortColumn < 0 || !m_source)
        return;
    const auto column = static_cast<std::size_t>(m_sortColumn);
    const bool descending = m_sortOrder == Qt::DescendingOrder;
    if (m_source->columns()[column].isNumber)
        sortNumbers(*m_source, column, descending, m_order);
    else
        sortTexts(*m_source, column, descending, m_order);
}

void TableModel::rebuildPositions()
{
    m_positions.assign(m_source ? m_source->rowCount() : 0, -1);
    for (std::size_t i = 0; i < m_order.size(); ++i)
        m_positions[m_order[i]] = static_cast<std::int32_t>(i);
}

int TableModel::rowOf(std::size_t sourceRow) const
{
    return sourceRow < m_positions.size() ? m_positions[sourceRow] : -1;
}

int TableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}

int TableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_source ? 0 : static_cast<int>(m_source->columns().size());
}

QVariant TableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || !m_source)
        return {};
    const std::size_t row = sourceRow(index.row());
    const auto column = static_cast<std::size_t>(index.column());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return m_source->text(row, column);
    case Qt::TextAlignmentRole:
        return QVariant(m_source->columns()[column].isNumber ? Qt::AlignRight | Qt::AlignVCenter
                                                             : Qt::AlignLeft | Qt::AlignVCenter);
    case kLookRole:
        return QVariant::fromValue(m_source->look(row, column));
    default:
        return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || !m_source || section < 0 ||
        section >= static_cast<int>(m_source->columns().size()))
        return {};
    const TableColumn &column = m_source->columns()[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return column.title;
    if (role == Qt::TextAlignmentRole)
        return QVariant(column.isNumber ? Qt::AlignRight | Qt::AlignVCenter
                                        : Qt::AlignLeft | Qt::AlignVCenter);
    return {};
}

void TableModel::sort(int column, Qt::SortOrder order)
{
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<std::uint32_t> rows;
    for (const QModelIndex &index : before)
        rows.push_back(static_cast<std::uint32_t>(sourceRow(index.row())));
    m_sortColumn = column < columnCount() ? column : -1;
    m_sortOrder = order;
    applyFilter();
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i)
        after.push_back(index(rowOf(rows[static_cast<std::size_t>(i)]), before[i].column()));
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

QString TableModel::copyText(const std::vector<int> &rows) const
{
    return tableText(*this, rows, TableFormat::tsv);
}

} // namespace views
