// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QDialog>

class QFormLayout;

namespace app {

class Settings;

// The few things that can be set: look, motion, what happens at the start. Every change holds at once and is
// kept at once. Owned by the main window, opened by open().
class SettingsDialog : public QDialog
{
    Q_OBJECT

public:
    SettingsDialog(views::Theme &theme, Settings &settings, QWidget *parent);

Q_SIGNALS:
    void themeChosen(int mode);
    void motionChosen(bool reduced);

private:
    void addLook(QFormLayout *form);
    void addStart(QFormLayout *form);

    views::Theme &m_theme;
    Settings &m_settings;
};

} // namespace app
