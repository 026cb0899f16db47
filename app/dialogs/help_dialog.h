// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <utility>
#include <vector>

class QAction;

namespace app {

using HelpRows = std::vector<std::pair<QString, QString>>;

// Name and keys of every command that has keys.
HelpRows shortcutRows(const std::vector<QAction *> &actions);
// What this program is, its version, its licence and those of the parts it carries.
HelpRows aboutRows();

// A list of names and values to read: keyboard shortcuts, about. Deletes itself when closed.
class HelpDialog : public QDialog
{
    Q_OBJECT

public:
    HelpDialog(const QString &title, const HelpRows &rows, QWidget *parent);
};

} // namespace app
