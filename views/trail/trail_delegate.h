// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QStyledItemDelegate>

namespace views {

// Paints one step of the trail: its state's glyph on a line from top to bottom, what happened in words, the
// op below, a count at the right. Owned by the pane.
class TrailDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    enum Role {
        kNameRole = Qt::UserRole + 1, // the op, or the grad function
        kValueRole,
        kStateRole,     // core::NodeState as int
        kRuleAboveRole, // a new pass begins here
    };

    TrailDelegate(const Theme &theme, QObject *parent) : QStyledItemDelegate(parent), m_theme(theme) {}

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    void paintGlyph(QPainter &painter, const QRect &row, const QModelIndex &index) const;

    const Theme &m_theme;
};

} // namespace views
