// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QTreeView>

namespace views {

// A tree with drawn branch arrows and an accent bar before the selected row. Single letters are left to the
// window's shortcuts.
class ModuleTreeView : public QTreeView
{
    Q_OBJECT

public:
    ModuleTreeView(const Theme &theme, QWidget *parent);

protected:
    void drawBranches(QPainter *painter, const QRect &rect, const QModelIndex &index) const override;
    void drawRow(QPainter *painter, const QStyleOptionViewItem &option,
                 const QModelIndex &index) const override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    const Theme &m_theme;
};

} // namespace views
