// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSpinBox>

namespace app {

// Lets BOX say " ONE" behind one and " MANY" behind any other number.
inline void setCountedSuffix(QSpinBox &box, const QString &one, const QString &many)
{
    const auto show = [&box, one, many](int value) { box.setSuffix(value == 1 ? one : many); };
    QObject::connect(&box, &QSpinBox::valueChanged, &box, show);
    show(box.value());
}

} // namespace app
