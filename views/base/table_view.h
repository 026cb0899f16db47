// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/table_model.h"
#include "views/base/theme.h"

#include <QTableView>

namespace views {

// A table of the window: rows of 24 px, sorting by header, Ctrl+C copies the selected rows as TSV. It tells a
// gesture of the user from a row shown by program: only the first emits rowsPicked. Owned by the pane.
class TableView : public QTableView
{
    Q_OBJECT

public:
    TableView(const Theme &theme, TableModel &model, QWidget *parent = nullptr);

    // Selects SOURCE ROW and scrolls to it without emitting; clears the selection when it is not shown.
    void showSourceRow(std::optional<std::size_t> sourceRow, bool center = false);
    // Widths of the columns as the source wants them; the last one takes the rest.
    void resetWidths();
    void copySelection() const;

Q_SIGNALS:
    // Source rows in view order; never empty.
    void rowsPicked(const std::vector<std::size_t> &sourceRows);
    void rowActivated(std::size_t sourceRow);
    // A right click (which first picks the row) or the menu key.
    void menuWanted(QPoint globalPosition);

protected:
    void selectionChanged(const QItemSelection &selected, const QItemSelection &deselected) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    TableModel &m_model;
    bool m_showing = false;
};

} // namespace views
