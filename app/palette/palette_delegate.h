// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/scaled.h"
#include "views/base/theme.h"

#include <QStyledItemDelegate>

namespace app {

// A row of the palette: kind glyph, name, place at the right.
class PaletteDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    PaletteDelegate(const views::Theme &theme, QObject *parent) : QStyledItemDelegate(parent), m_theme(theme)
    {
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return {200, views::scaledToText(m_theme, 28)};
    }

private:
    const views::Theme &m_theme;
};

} // namespace app
