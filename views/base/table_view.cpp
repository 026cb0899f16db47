// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/table_view.h"

#include "views/base/cell_delegate.h"
#include "views/base/scaled.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QScopedValueRollback>

#include <algorithm>
#include <utility>

namespace views {

namespace {

constexpr int kRowHeight = 24;
constexpr int kHeaderHeight = 24;
constexpr int kLeastRest = 160; // of a column that takes what the others leave

} // namespace

TableView::TableView(const Theme &theme, TableModel &model, QWidget *parent)
    : QTableView(parent), m_theme(theme), m_model(model), m_textPercent(theme.textPercent())
{
    setModel(&model);
    setItemDelegate(new CellDelegate(theme, this));
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setShowGrid(false);
    setAlternatingRowColors(true);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    verticalHeader()->setVisible(false);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(scaledToText(theme, kRowHeight));
    keepScaledHeight(*horizontalHeader(), theme, kHeaderHeight);
    connect(&theme, &Theme::changed, this, &TableView::scaleText);
    horizontalHeader()->setSectionsMovable(true);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    setSortingEnabled(true);
    // Widths and places are the user's when they change while a button is held on the header.
    horizontalHeader()->viewport()->installEventFilter(this);
    horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(horizontalHeader(), &QWidget::customContextMenuRequested, this, [this](QPoint at) {
        auto *menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->setAccessibleName(tr("Table"));
        addTableActions(*menu, horizontalHeader()->logicalIndexAt(at));
        menu->popup(horizontalHeader()->mapToGlobal(at));
    });
    connect(this, &QTableView::activated, this,
            [this](const QModelIndex &index) { Q_EMIT rowActivated(m_model.sourceRow(index.row())); });
    // Filtering resets the model, which would tell Qt's view that nothing is selected; that is no gesture.
    connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, [this] { m_showing = true; });
    connect(&model, &QAbstractItemModel::modelReset, this, [this] { m_showing = false; });
}

void TableView::resetWidths()
{
    if (m_model.source() == nullptr)
        return;
    QHeaderView *header = horizontalHeader();
    const auto &columns = m_model.source()->columns();
    bool stretched = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const int column = static_cast<int>(i);
        header->moveSection(header->visualIndex(column), column);
        header->setSectionHidden(column, false);
        header->setSectionResizeMode(column,
                                     columns[i].takesRest ? QHeaderView::Stretch : QHeaderView::Interactive);
        if (!columns[i].takesRest)
            setColumnWidth(column, scaledToText(m_theme, columns[i].width));
        stretched = stretched || columns[i].takesRest;
    }
    header->setStretchLastSection(!stretched);
    fitRest();
}

// The column that takes what the others leave is never too narrow to be read: then the table scrolls.
void TableView::fitRest()
{
    if (m_model.source() == nullptr)
        return;
    QHeaderView *header = horizontalHeader();
    const auto &columns = m_model.source()->columns();
    const int least = scaledToText(m_theme, kLeastRest);
    for (int column = 0; column < header->count(); ++column) {
        if (!columns[static_cast<std::size_t>(column)].takesRest || isColumnHidden(column))
            continue;
        const int others = header->length() - columnWidth(column);
        const bool isNarrow = viewport()->width() - others < least;
        header->setSectionResizeMode(column, isNarrow ? QHeaderView::Interactive : QHeaderView::Stretch);
        if (isNarrow)
            setColumnWidth(column, least);
    }
}

void TableView::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    fitRest();
}

// Rows and columns grow with the text, those that the user made wider too.
void TableView::scaleText()
{
    const int before = std::exchange(m_textPercent, m_theme.textPercent());
    if (before == m_textPercent)
        return;
    verticalHeader()->setDefaultSectionSize(scaledToText(m_theme, kRowHeight));
    for (int column = 0; column < horizontalHeader()->count(); ++column)
        if (!isColumnHidden(column) && horizontalHeader()->sectionResizeMode(column) != QHeaderView::Stretch)
            setColumnWidth(column, columnWidth(column) * m_textPercent / before);
    fitRest();
}

void TableView::contextMenuEvent(QContextMenuEvent *event)
{
    if (event->reason() == QContextMenuEvent::Mouse) {
        Q_EMIT menuWanted(event->globalPos());
        return;
    }
    const QRect row = visualRect(currentIndex());
    Q_EMIT menuWanted(viewport()->mapToGlobal(row.isValid() ? row.bottomLeft() : QPoint()));
}

void TableView::showSourceRow(std::optional<std::size_t> sourceRow, bool center)
{
    const QScopedValueRollback<bool> guard(m_showing, true);
    const int row = sourceRow ? m_model.rowOf(*sourceRow) : -1;
    if (row < 0) {
        clearSelection();
        setCurrentIndex({});
        return;
    }
    const QModelIndexList chosen = selectionModel()->selectedRows();
    const bool already = chosen.size() == 1 && chosen.front().row() == row;
    if (!already) {
        const int column = currentIndex().isValid() ? currentIndex().column() : 0;
        // selectRow() asks the header where its columns are, which it does not know before it is shown.
        selectionModel()->setCurrentIndex(m_model.index(row, column),
                                          QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    }
    scrollTo(m_model.index(row, 0), center ? PositionAtCenter : EnsureVisible);
}

void TableView::selectionChanged(const QItemSelection &selected, const QItemSelection &deselected)
{
    QTableView::selectionChanged(selected, deselected);
    if (m_showing)
        return;
    std::vector<int> rows;
    for (const QModelIndex &index : selectionModel()->selectedRows())
        rows.push_back(index.row());
    if (rows.empty())
        return;
    std::sort(rows.begin(), rows.end());
    std::vector<std::size_t> sourceRows;
    for (const int row : rows)
        sourceRows.push_back(m_model.sourceRow(row));
    Q_EMIT rowsPicked(sourceRows);
}

void TableView::copySelection() const
{
    std::vector<int> rows;
    for (const QModelIndex &index : selectionModel()->selectedRows())
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    if (!rows.empty())
        QApplication::clipboard()->setText(m_model.copyText(rows));
}

void TableView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        copySelection();
        event->accept();
        return;
    }
    // Single letters are commands of the window, not a search in the first column.
    if (!event->text().isEmpty() && event->text().front().isLetterOrNumber() &&
        (event->modifiers() & ~Qt::ShiftModifier) == Qt::NoModifier) {
        event->ignore();
        return;
    }
    QTableView::keyPressEvent(event);
}

} // namespace views
