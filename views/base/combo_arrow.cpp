// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/combo_arrow.h"

#include "views/base/widgets.h"

#include <QComboBox>
#include <QHBoxLayout>

namespace views {

void addComboArrow(const Theme &theme, QComboBox *combo)
{
    constexpr int kSide = 10;
    auto *row = new QHBoxLayout(combo);
    row->setContentsMargins(0, 0, 7, 0);
    row->addStretch(1);
    row->addWidget(makeIconLabel(theme, IconName::chevronDown, core::ColorToken::second, kSide, combo));
}

} // namespace views
