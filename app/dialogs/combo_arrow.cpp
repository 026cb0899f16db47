// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/combo_arrow.h"

#include "views/base/widgets.h"

#include <QComboBox>
#include <QHBoxLayout>

namespace app {

void addComboArrow(const views::Theme &theme, QComboBox *combo)
{
    constexpr int kSide = 10;
    auto *row = new QHBoxLayout(combo);
    row->setContentsMargins(0, 0, 7, 0);
    row->addStretch(1);
    row->addWidget(
        views::makeIconLabel(theme, views::IconName::chevronDown, core::ColorToken::second, kSide, combo));
}

} // namespace app
