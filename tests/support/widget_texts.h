// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QLabel>
#include <QStringList>

namespace support {

// What the labels and buttons in WIDGET say, hidden ones included.
inline QStringList widgetTexts(const QWidget &widget)
{
    QStringList texts;
    for (const QLabel *label : widget.findChildren<QLabel *>())
        texts.push_back(label->text());
    for (const QAbstractButton *button : widget.findChildren<QAbstractButton *>())
        texts.push_back(button->text());
    return texts;
}

} // namespace support
