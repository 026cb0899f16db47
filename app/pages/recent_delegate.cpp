// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/recent_delegate.h"

#include "views/base/icon.h"
#include "views/base/scaled.h"

#include <QPainter>

namespace app {

namespace {

using core::ColorToken;

constexpr int kCardHeight = 48;
constexpr int kGap = 6;

} // namespace

QSize RecentDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {200, views::scaledToText(m_theme, kCardHeight) + kGap};
}

void RecentDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                           const QModelIndex &index) const
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool missing = index.data(kMissingRole).toBool();
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const QRect card = option.rect.adjusted(0, 0, 0, -kGap);
    painter->setPen(m_theme.color(selected ? ColorToken::accent : ColorToken::border));
    painter->setBrush(m_theme.color(selected ? ColorToken::accentbg : ColorToken::panel));
    painter->drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    const auto icon = missing                            ? views::IconName::critical
                      : index.data(kPinnedRole).toBool() ? views::IconName::pin
                                                         : views::IconName::document;
    views::paintIcon(*painter, QRectF(card.left() + 12, card.center().y() - 7, 14, 14), icon,
                     m_theme.color(selected ? ColorToken::accent : ColorToken::second));
    QRect room = card.adjusted(36, 6, -10, -6);
    const QRect below = room;
    room.setRight(paintBadge(*painter, card, index.data(kBadgeRole).toString()));
    painter->setFont(m_theme.font(views::FontRole::control));
    painter->setPen(m_theme.color(missing ? ColorToken::muted : ColorToken::text));
    painter->drawText(
        room, Qt::AlignTop | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, room.width()));
    painter->setFont(m_theme.font(views::FontRole::dense));
    painter->setPen(m_theme.color(missing ? ColorToken::muted : ColorToken::second));
    painter->drawText(
        below, Qt::AlignBottom | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data(kPlaceRole).toString(), Qt::ElideMiddle, below.width()));
    painter->restore();
}

// Returns where the room for the name ends.
int RecentDelegate::paintBadge(QPainter &painter, const QRect &card, const QString &badge) const
{
    if (badge.isEmpty())
        return card.right() - 10;
    painter.setFont(m_theme.font(views::FontRole::monoCaption));
    const int width = painter.fontMetrics().horizontalAdvance(badge) + 10;
    const QRect box(card.right() - 10 - width, card.top() + 7, width, views::scaledToText(m_theme, 16));
    painter.setPen(m_theme.color(ColorToken::nan));
    painter.setBrush(m_theme.color(ColorToken::nanbg));
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.drawText(box, Qt::AlignCenter, badge);
    return box.left() - 8;
}

} // namespace app
