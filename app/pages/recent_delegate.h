// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QStyledItemDelegate>

namespace app {

// A card of the list of recent files: icon, name, place and age, a badge with what was found. A missing file
// is greyed and says so.
class RecentDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    enum Role { kPlaceRole = Qt::UserRole + 1, kPathRole, kBadgeRole, kPinnedRole, kMissingRole };

    RecentDelegate(const views::Theme &theme, QObject *parent) : QStyledItemDelegate(parent), m_theme(theme)
    {
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    int paintBadge(QPainter &painter, const QRect &card, const QString &badge) const;

    const views::Theme &m_theme;
};

} // namespace app
