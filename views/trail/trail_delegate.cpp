// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trail/trail_delegate.h"

#include "core/graph/node_state.h"
#include "views/base/icon.h"
#include "views/base/scaled.h"

#include <QPainter>

namespace views {

namespace {

using core::ColorToken;
using core::NodeState;

constexpr int kRow = 44;
constexpr int kLine = 24; // the middle of the glyphs
constexpr int kText = 44;
constexpr int kSide = 10;

struct Look
{
    IconName icon;
    ColorToken tone;
};

Look lookOf(NodeState state)
{
    switch (state) {
    case NodeState::origin:
        return {IconName::origin, ColorToken::nan};
    case NodeState::cause:
        return {IconName::cause, ColorToken::inf};
    case NodeState::propagated:
        return {IconName::propagated, ColorToken::nan};
    case NodeState::spreads:
        return {IconName::spreads, ColorToken::nan};
    case NodeState::reached:
        return {IconName::reached, ColorToken::nan};
    case NodeState::sink:
        return {IconName::sink, ColorToken::warn};
    case NodeState::healed:
        return {IconName::healed, ColorToken::ok};
    case NodeState::clean:
        break;
    }
    return {IconName::openDot, ColorToken::second};
}

} // namespace

QSize TrailDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {160, scaledToText(m_theme, kRow)};
}

void TrailDelegate::paintGlyph(QPainter &painter, const QRect &row, const QModelIndex &index) const
{
    const Look look = lookOf(static_cast<NodeState>(index.data(kStateRole).toInt()));
    painter.setPen(m_theme.color(ColorToken::border));
    const int x = row.left() + kLine;
    const bool first = index.row() == 0 || index.data(kRuleAboveRole).toBool();
    const bool last = index.row() + 1 == index.model()->rowCount();
    if (!first)
        painter.drawLine(x, row.top(), x, row.center().y() - 9);
    if (!last)
        painter.drawLine(x, row.center().y() + 9, x, row.bottom());
    paintIcon(painter, QRectF(x - 7, row.center().y() - 7, 14, 14), look.icon, m_theme.color(look.tone));
}

void TrailDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                          const QModelIndex &index) const
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect row = option.rect;
    if (option.state.testFlag(QStyle::State_Selected)) {
        painter->fillRect(row, m_theme.color(ColorToken::accentbg));
        painter->fillRect(QRect(row.left(), row.top(), 2, row.height()), m_theme.color(ColorToken::accent));
    } else if (option.state.testFlag(QStyle::State_MouseOver)) {
        painter->fillRect(row, m_theme.color(ColorToken::hover));
    }
    if (index.data(kRuleAboveRole).toBool()) {
        painter->setPen(QPen(m_theme.color(ColorToken::strong), 1, Qt::DashLine));
        painter->drawLine(row.left() + kText, row.top(), row.right() - kSide, row.top());
    }
    paintGlyph(*painter, row, index);
    const QRect room = row.adjusted(kText, 4, -kSide, -4);
    painter->setFont(m_theme.font(FontRole::control));
    painter->setPen(m_theme.color(ColorToken::text));
    painter->drawText(
        room, Qt::AlignTop | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width()));
    painter->setFont(m_theme.font(FontRole::monoDense));
    painter->setPen(m_theme.color(ColorToken::second));
    const QString value = index.data(kValueRole).toString();
    const int valueWidth = painter->fontMetrics().horizontalAdvance(value);
    painter->drawText(room, Qt::AlignBottom | Qt::AlignRight, value);
    const int left = room.width() - valueWidth - (value.isEmpty() ? 0 : 10);
    painter->drawText(
        room, Qt::AlignBottom | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data(kNameRole).toString(), Qt::ElideMiddle, left));
    painter->restore();
}

} // namespace views
