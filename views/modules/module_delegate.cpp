// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/modules/module_delegate.h"

#include "views/base/formatting.h"
#include "views/base/scaled.h"
#include "views/modules/module_tree_model.h"

#include <QPainter>

namespace views {

namespace {

using core::ColorToken;

constexpr int kRowHeight = 24;
constexpr int kBadgeHeight = 16;

} // namespace

QSize ModuleDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {80, scaledToText(m_theme, kRowHeight)};
}

void ModuleDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                           const QModelIndex &index) const
{
    painter->save();
    const QRect row = option.rect;
    int right = row.right() - 10;
    painter->setFont(m_theme.font(FontRole::monoCaption));
    painter->setPen(m_theme.color(ColorToken::second));
    const QString ops = countText(index.data(ModuleTreeModel::kOpsRole).toUInt());
    painter->drawText(QRect(row.left(), row.top(), right - row.left(), row.height()),
                      Qt::AlignRight | Qt::AlignVCenter, ops);
    right -= painter->fontMetrics().horizontalAdvance(ops) + 8;
    right = paintBadge(*painter, row, right, index);

    QRect room(row.left() + 4, row.top(), right - row.left() - 8, row.height());
    painter->setFont(m_theme.font(FontRole::monoDense));
    painter->setPen(m_theme.color(ColorToken::text));
    const QString name =
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width());
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignLeft, name);
    room.setLeft(room.left() + painter->fontMetrics().horizontalAdvance(name) + 8);
    painter->setFont(m_theme.font(FontRole::dense));
    painter->setPen(m_theme.color(ColorToken::muted));
    const QString className = index.data(ModuleTreeModel::kClassRole).toString();
    if (room.width() > 16)
        painter->drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                          painter->fontMetrics().elidedText(className, Qt::ElideRight, room.width()));
    painter->restore();
}

int ModuleDelegate::paintBadge(QPainter &painter, const QRect &row, int right, const QModelIndex &index) const
{
    const bool nan = index.data(ModuleTreeModel::kNanRole).toUInt() > 0;
    const bool inf = index.data(ModuleTreeModel::kInfRole).toUInt() > 0;
    if (!nan && !inf)
        return right;
    const QString text = nan ? QStringLiteral("NaN") : QStringLiteral("Inf");
    painter.setFont(m_theme.font(FontRole::monoCaption));
    const int width = painter.fontMetrics().horizontalAdvance(text) + 10;
    const QRect box(right - width, row.center().y() - scaledToText(m_theme, kBadgeHeight) / 2 + 1, width,
                    scaledToText(m_theme, kBadgeHeight));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_theme.color(nan ? ColorToken::nan : ColorToken::inf));
    painter.setBrush(m_theme.color(nan ? ColorToken::nanbg : ColorToken::infbg));
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.drawText(box, Qt::AlignCenter, text);
    return box.left() - 6;
}

} // namespace views
