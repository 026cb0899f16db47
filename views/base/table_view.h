// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/table_export.h"
#include "views/base/table_model.h"
#include "views/base/theme.h"

#include <QTableView>

class QMenu;

namespace views {

// A table of the window: rows of 24 px, sorting by header, Ctrl+C copies the selected rows as TSV, a menu
// copies and saves them in other forms and hides columns. It tells a gesture of the user from a row shown by
// program: only the first emits rowsPicked. What the user did to its columns is told by layoutEdited and
// given back with restoreLayout. Owned by the pane.
class TableView : public QTableView
{
    Q_OBJECT

public:
    TableView(const Theme &theme, TableModel &model, QWidget *parent = nullptr);

    const TableModel &tableModel() const { return m_model; }
    // Selects SOURCE ROW and scrolls to it without emitting; clears the selection when it is not shown.
    void showSourceRow(std::optional<std::size_t> sourceRow, bool center = false);
    // Columns as the source wants them: order, widths, all shown; the last one takes the rest. Keeps sorting.
    void resetWidths();
    void copySelection() const;
    // The selected rows, all when none is, as text.
    QString textOf(TableFormat format, bool onlySelected) const;
    // The selected rows, all when none is, into the clipboard.
    void copyText(TableFormat format) const;

    // The name under which the layout of the columns is remembered: asks for it with layoutWanted.
    void setStateKey(const QString &key);
    const QString &stateKey() const { return m_stateKey; }
    QByteArray layoutState() const;
    // A state of other columns is taken as far as their keys are known; an empty one changes nothing.
    void restoreLayout(const QByteArray &state);
    // What can be done with the table: copy, save, columns. COLUMN is the one that may be hidden, -1: the
    // current one.
    void addTableActions(QMenu &menu, int column = -1);
    void setColumnShown(int column, bool shown);
    // The columns as shipped and the order of the source.
    void resetColumns();

Q_SIGNALS:
    // Source rows in view order; never empty.
    void rowsPicked(const std::vector<std::size_t> &sourceRows);
    void rowActivated(std::size_t sourceRow);
    // A right click (which first picks the row) or the menu key.
    void menuWanted(QPoint globalPosition);
    void layoutWanted(const QString &key);
    void layoutEdited(const QString &key, const QByteArray &state);
    // The user wishes the table in a file.
    void saveWished();

protected:
    void selectionChanged(const QItemSelection &selected, const QItemSelection &deselected) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void addCopyActions(QMenu *menu);
    void addColumnActions(QMenu *menu, int column);
    void tellLayout();

    void scaleText();
    void fitRest();

    const Theme &m_theme;
    TableModel &m_model;
    int m_textPercent = 100; // that the widths are for
    QString m_stateKey;
    bool m_showing = false;
};

} // namespace views
