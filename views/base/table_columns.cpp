// SPDX-License-Identifier: GPL-3.0-or-later
// What the user does to the columns of a table, and its menu.
#include "views/base/scaled.h"
#include "views/base/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>

#include <algorithm>
#include <numeric>

namespace views {

namespace {

constexpr int kNarrowestColumn = 24;

} // namespace

void TableView::setStateKey(const QString &key)
{
    m_stateKey = key;
    Q_EMIT layoutWanted(key);
}

QByteArray TableView::layoutState() const
{
    if (m_model.source() == nullptr)
        return {};
    const QHeaderView *header = horizontalHeader();
    const auto &columns = m_model.source()->columns();
    QJsonArray places;
    for (int visual = 0; visual < header->count(); ++visual) {
        const int column = header->logicalIndex(visual);
        const TableColumn &what = columns[static_cast<std::size_t>(column)];
        QJsonObject place{{QStringLiteral("key"), what.key}};
        if (isColumnHidden(column))
            place.insert(QStringLiteral("hidden"), true);
        else if (!what.takesRest)
            place.insert(QStringLiteral("width"), columnWidth(column) * 100 / m_textPercent);
        places.append(place);
    }
    QJsonObject state{{QStringLiteral("columns"), places}};
    if (m_model.sortColumn() >= 0) {
        state.insert(QStringLiteral("sort"), columns[static_cast<std::size_t>(m_model.sortColumn())].key);
        state.insert(QStringLiteral("descending"), m_model.sortOrder() == Qt::DescendingOrder);
    }
    return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

void TableView::restoreLayout(const QByteArray &state)
{
    const QJsonObject root = QJsonDocument::fromJson(state).object();
    if (root.isEmpty() || m_model.source() == nullptr)
        return;
    const auto &columns = m_model.source()->columns();
    const auto columnOf = [&columns](const QString &key) {
        const auto found = std::find_if(columns.begin(), columns.end(),
                                        [&](const TableColumn &column) { return column.key == key; });
        return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
    };
    QHeaderView *header = horizontalHeader();
    int visual = 0;
    for (const QJsonValue &value : root.value(QLatin1String("columns")).toArray()) {
        const QJsonObject place = value.toObject();
        const int column = columnOf(place.value(QLatin1String("key")).toString());
        if (column < 0)
            continue;
        header->moveSection(header->visualIndex(column), visual++);
        header->setSectionHidden(column, place.value(QLatin1String("hidden")).toBool());
        const int width = place.value(QLatin1String("width")).toInt();
        if (width >= kNarrowestColumn && !columns[static_cast<std::size_t>(column)].takesRest)
            setColumnWidth(column, scaledToText(m_theme, width)); // it is that of text of 100 %
    }
    if (header->hiddenSectionCount() == header->count() && header->count() > 0)
        header->setSectionHidden(0, false);
    const int sorted = columnOf(root.value(QLatin1String("sort")).toString());
    sortByColumn(sorted,
                 root.value(QLatin1String("descending")).toBool() ? Qt::DescendingOrder : Qt::AscendingOrder);
}

// The last column that is shown stays.
void TableView::setColumnShown(int column, bool shown)
{
    QHeaderView *header = horizontalHeader();
    if (column < 0 || column >= header->count() ||
        (!shown && header->hiddenSectionCount() + 1 >= header->count()))
        return;
    header->setSectionHidden(column, !shown);
    tellLayout();
}

void TableView::resetColumns()
{
    sortByColumn(-1, Qt::AscendingOrder);
    resetWidths();
    tellLayout();
}

void TableView::tellLayout()
{
    if (!m_stateKey.isEmpty())
        Q_EMIT layoutEdited(m_stateKey, layoutState());
}

bool TableView::eventFilter(QObject *watched, QEvent *event)
{
    // The header acts on the release itself, so what it did is known only after it.
    if (watched == horizontalHeader()->viewport() && event->type() == QEvent::MouseButtonRelease)
        QMetaObject::invokeMethod(this, &TableView::tellLayout, Qt::QueuedConnection);
    return QTableView::eventFilter(watched, event);
}

QString TableView::textOf(TableFormat format, bool onlySelected) const
{
    std::vector<int> rows;
    if (onlySelected)
        for (const QModelIndex &index : selectionModel()->selectedRows())
            rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    if (rows.empty()) {
        rows.resize(static_cast<std::size_t>(m_model.rowCount()));
        std::iota(rows.begin(), rows.end(), 0);
    }
    return tableText(m_model, rows, format);
}

void TableView::copyText(TableFormat format) const
{
    QApplication::clipboard()->setText(textOf(format, true));
}

void TableView::addTableActions(QMenu &menu, int column)
{
    if (m_model.source() == nullptr)
        return;
    addCopyActions(&menu);
    menu.addSeparator();
    addColumnActions(&menu, column >= 0 ? column : currentIndex().column());
}

void TableView::addCopyActions(QMenu *menu)
{
    const bool some = selectionModel()->hasSelection();
    for (const TableFormat format : kTableFormats) {
        QAction *copy = menu->addAction(some ? tr("Copy rows as %1").arg(tableFormatName(format))
                                             : tr("Copy all rows as %1").arg(tableFormatName(format)));
        connect(copy, &QAction::triggered, this, [this, format] { copyText(format); });
    }
    QAction *all = menu->addAction(tr("Select all rows"));
    connect(all, &QAction::triggered, this, &QTableView::selectAll);
    QAction *save = menu->addAction(tr("Save table…"));
    connect(save, &QAction::triggered, this, &TableView::saveWished);
}

void TableView::addColumnActions(QMenu *menu, int column)
{
    const auto &columns = m_model.source()->columns();
    if (column >= 0) {
        QAction *hide =
            menu->addAction(tr("Hide column “%1”").arg(columns[static_cast<std::size_t>(column)].title));
        connect(hide, &QAction::triggered, this, [this, column] { setColumnShown(column, false); });
    }
    QMenu *shown = menu->addMenu(tr("Columns"));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        QAction *action = shown->addAction(columns[i].title);
        action->setCheckable(true);
        action->setChecked(!isColumnHidden(static_cast<int>(i)));
        connect(action, &QAction::triggered, this,
                [this, i](bool on) { setColumnShown(static_cast<int>(i), on); });
    }
    QAction *reset = menu->addAction(tr("Reset columns"));
    connect(reset, &QAction::triggered, this, &TableView::resetColumns);
}

} // namespace views
