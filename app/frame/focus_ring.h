// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace app {

// Shows where the keys go: a ring around the table, list, text or page that has the focus, in any window of
// the application. Fields and buttons have one of their style sheet, canvas and lane draw their own. Owned by
// the main window; GUI thread.
class FocusRing : public QObject
{
    Q_OBJECT

public:
    FocusRing(const views::Theme &theme, QObject *parent);

    // What it is around; nullptr: nothing that needs it has the focus.
    const QWidget *target() const { return m_ring != nullptr ? m_ring->parentWidget() : nullptr; }

private:
    void focusMoved(QWidget *now);

    const views::Theme &m_theme;
    QPointer<QWidget> m_ring;
};

} // namespace app
