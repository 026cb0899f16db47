// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/cell_delegate.h"

#include "views/base/table_model.h"

#include <QPainter>

namespace views {

namespace {

using core::ColorToken;

constexpr int kPadding = 9;
constexpr int kIconSide = 13;

// Names end in what tells them apart, places in their line; of a path the file says most.
Qt::TextElideMode elideMode(const QString &text, bool isName)
{
    if (!isName)
        return Qt::ElideRight;
    return text.startsWith(QLatin1Char('/')) ? Qt::ElideLeft : Qt::ElideMiddle;
}

} // namespace

void CellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                         const QModelIndex &index) const
{
    painter->save();
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected)
        painter->fillRect(option.rect, m_theme.color(ColorToken::accentbg));
    else if (option.features.testFlag(QStyleOptionViewItem::Alternate))
        painter->fillRect(option.rect, m_theme.color(ColorToken::zebra));
    if (selected && index.column() == 0)
        painter->fillRect(QRect(option.rect.topLeft(), QSize(2, option.rect.height())),
                          m_theme.color(ColorToken::accent));
    const auto look = index.data(TableModel::kLookRole).value<CellLook>();
    const auto *model = qobject_cast<const TableModel *>(index.model());
    const bool mono =
        model != nullptr && model->source()->columns()[static_cast<std::size_t>(index.column())].isMono;
    QRect room = option.rect.adjusted(kPadding, 0, -kPadding, 0);
    if (look.icon) {
        const QRectF box(room.left(), room.center().y() - kIconSide / 2.0 + 0.5, kIconSide, kIconSide);
        paintIcon(*painter, box, *look.icon, m_theme.color(look.iconTone));
        room.setLeft(room.left() + kIconSide + 7);
    }
    QFont font = m_theme.font(mono ? FontRole::monoDense : FontRole::dense);
    if (look.isStrong)
        font.setWeight(QFont::Medium);
    painter->setFont(font);
    painter->setPen(m_theme.color(look.tone));
    const QString text = index.data(Qt::DisplayRole).toString();
    const auto alignment = Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt());
    painter->drawText(room, static_cast<int>(alignment) | Qt::TextSingleLine,
                      painter->fontMetrics().elidedText(text, elideMode(text, mono), room.width()));
    painter->restore();
}

} // namespace views
