// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace app {

// The open dialog of WINDOW that passes TEST, brought to the front; nullptr when there is none. What is asked
// or shown already is not asked or shown a second time over it.
template <typename Dialog, typename Test>
Dialog *raiseDialog(const QWidget &window, const Test &test)
{
    for (Dialog *dialog : window.findChildren<Dialog *>()) {
        if (!dialog->isVisible() || !test(*dialog))
            continue;
        dialog->setWindowState(dialog->windowState() & ~Qt::WindowMinimized);
        dialog->raise();
        dialog->activateWindow();
        return dialog;
    }
    return nullptr;
}

} // namespace app
