// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QComboBox;

namespace views {

class Theme;

// The style sheet takes the arrow of a combo box away; this draws one in the theme's colour.
void addComboArrow(const Theme &theme, QComboBox *combo);

} // namespace views
