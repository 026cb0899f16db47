// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QStyledItemDelegate>

namespace views {

// A cell of the slice grid: heat by magnitude, hatch and colour for NaN and Inf, an outline for the current
// one.
class SliceDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    SliceDelegate(const Theme &theme, QObject *parent) : QStyledItemDelegate(parent), m_theme(theme) {}

    // The magnitude that is painted hottest; 0: no heat.
    void setHottest(double magnitude) { m_hottest = magnitude; }
    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;

private:
    const Theme &m_theme;
    double m_hottest = 0.0;
};

} // namespace views
