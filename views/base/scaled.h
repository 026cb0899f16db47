// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QWidget>

namespace views {

// PIXELS at the usual size of text, for the size that THEME has.
inline int scaledToText(const Theme &theme, int pixels)
{
    return pixels * theme.textPercent() / 100;
}

// WIDGET is PIXELS high at the usual size of text and as much higher as the text is larger; THEME outlives
// it.
inline void keepScaledHeight(QWidget &widget, const Theme &theme, int pixels)
{
    const auto fit = [&widget, &theme, pixels] { widget.setFixedHeight(scaledToText(theme, pixels)); };
    QObject::connect(&theme, &Theme::changed, &widget, fit);
    fit();
}

} // namespace views
