// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QStyledItemDelegate>

namespace views {

// A row of the module tree: name, class, a badge where NaN or Inf came out, the number of ops.
class ModuleDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    ModuleDelegate(const Theme &theme, QObject *parent) : QStyledItemDelegate(parent), m_theme(theme) {}

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    int paintBadge(QPainter &painter, const QRect &row, int right, const QModelIndex &index) const;

    const Theme &m_theme;
};

} // namespace views
