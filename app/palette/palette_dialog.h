// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/search_index.h"
#include "views/base/theme.h"

#include <QAbstractListModel>
#include <QDialog>

class QAction;
class QLabel;
class QLineEdit;
class QListView;

namespace app {

// The rows of the palette. Owned by the dialog.
class PaletteModel : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { kPlaceRole = Qt::UserRole + 1, kKindRole };

    explicit PaletteModel(QObject *parent) : QAbstractListModel(parent) {}

    void setIndex(std::shared_ptr<const SearchIndex> index) { m_index = std::move(index); }
    void setCommands(std::vector<QAction *> commands) { m_commands = std::move(commands); }
    // ">" narrows to commands. LAST shows what was chosen before when the text is empty.
    void search(const QString &text, const std::vector<SearchHit> &last);
    const SearchHit &hit(int row) const { return m_hits[static_cast<std::size_t>(row)]; }
    QAction *command(const SearchHit &hit) const { return m_commands[hit.index]; }
    const SearchIndex *index() const { return m_index.get(); }

    using QAbstractListModel::index;
    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;

private:
    QString name(const SearchHit &hit) const;
    QString place(const SearchHit &hit) const;

    std::shared_ptr<const SearchIndex> m_index;
    std::vector<QAction *> m_commands;
    std::vector<SearchHit> m_hits;
};

// One field over ops, modules, lines, shapes, dtypes, findings, parameters and commands. Enter selects,
// Alt+Enter reveals in the graph too, Escape closes. Owned by the main window and kept between uses.
class PaletteDialog : public QDialog
{
    Q_OBJECT

public:
    PaletteDialog(const views::Theme &theme, QWidget *window);

    // INDEX may be null: commands only.
    void start(std::shared_ptr<const SearchIndex> index, std::vector<QAction *> commands,
               const QString &text = {});
    void setIndex(std::shared_ptr<const SearchIndex> index);
    QLineEdit &field() const { return *m_field; }
    const PaletteModel &model() const { return *m_model; }

Q_SIGNALS:
    void itemChosen(const views::SelectedItem &item, bool reveal);
    void commandChosen(QAction *action);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void search();
    void choose(bool reveal);

    PaletteModel *m_model;
    QLineEdit *m_field;
    QListView *m_list;
    QLabel *m_hint;
    std::vector<SearchHit> m_last;
};

} // namespace app
