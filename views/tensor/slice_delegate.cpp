// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/slice_delegate.h"

#include "views/tensor/slice_model.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace views {

namespace {

using core::ColorToken;

constexpr double kHottestAlpha = 0.55;

} // namespace

void SliceDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                          const QModelIndex &index) const
{
    painter->save();
    const QVariant stored = index.data(SliceModel::kValueRole);
    const double value = stored.toDouble();
    ColorToken ink = ColorToken::text;
    painter->fillRect(option.rect, m_theme.color(ColorToken::input));
    if (!stored.isValid()) {
        ink = ColorToken::muted;
    } else if (std::isnan(value) || std::isinf(value)) {
        const bool nan = std::isnan(value);
        ink = nan ? ColorToken::nan : ColorToken::inf;
        painter->fillRect(option.rect, m_theme.color(nan ? ColorToken::nanbg : ColorToken::infbg));
        painter->fillRect(option.rect, QBrush(m_theme.wash(ink, 0.35), Qt::BDiagPattern));
    } else if (value == 0.0) {
        ink = ColorToken::muted;
    } else if (m_hottest > 0.0) {
        const double heat = std::min(1.0, std::abs(value) / m_hottest);
        painter->fillRect(option.rect, m_theme.wash(ColorToken::accent, heat * kHottestAlpha));
    }
    painter->setPen(m_theme.color(ColorToken::panel));
    painter->drawLine(option.rect.topRight(), option.rect.bottomRight());
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    painter->setFont(m_theme.font(FontRole::monoCaption));
    painter->setPen(m_theme.color(ink));
    // A number that has lost its first digits would read as another one.
    const QRect room = option.rect.adjusted(4, 0, -5, 0);
    painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data(Qt::DisplayRole).toString(),
                                                        Qt::ElideRight, room.width()));
    if (option.state.testFlag(QStyle::State_Selected)) {
        painter->setPen(QPen(m_theme.color(ColorToken::accent), 2));
        painter->drawRect(option.rect.adjusted(1, 1, -1, -1));
    }
    painter->restore();
}

} // namespace views
