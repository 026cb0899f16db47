// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/draw/theme_table.h"

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>

class QApplication;

namespace views {

// What the user chose; `system` follows the desktop.
enum class ThemeMode { system, light, dark, highContrast };

QString themeModeName(ThemeMode mode);
// system when NAME is not known.
ThemeMode themeModeFromName(const QString &name);

// The type sizes of the visual language. Names, numbers and code are always set in the mono face.
enum class FontRole {
    title,
    heading,
    body,
    strong,
    control,
    dense,
    caption,
    label,
    mono,
    monoDense,
    monoCaption
};

// The current colours and fonts of the window. Owned by the application, handed to panes by reference; GUI
// thread. A pane asks for a colour when it paints and repaints on changed(); it stores none.
class Theme : public QObject
{
    Q_OBJECT

public:
    explicit Theme(QObject *parent = nullptr);

    ThemeMode mode() const { return m_mode; }
    core::ThemeScheme scheme() const { return m_scheme; }
    bool isDark() const { return m_scheme != core::ThemeScheme::light; }

    QColor color(core::ColorToken token) const;
    // COLOR at ALPHA (0..1), for washes over other colours.
    QColor wash(core::ColorToken token, double alpha) const;
    QFont font(FontRole role) const;
    int textPercent() const { return m_textPercent; }

    QPalette palette() const;
    // The style sheet of the whole window with this theme's colours and sizes filled in.
    QString styleSheet() const;

    // Each emits changed() once if anything differs.
    void setMode(ThemeMode mode);
    void setDesktopIsDark(bool dark);
    void setTextPercent(int percent); // clamped to 100..200

Q_SIGNALS:
    void changed();

private:
    void resolve();
    int scaled(int pixels) const;

    ThemeMode m_mode = ThemeMode::system;
    core::ThemeScheme m_scheme = core::ThemeScheme::dark;
    bool m_desktopIsDark = true;
    int m_textPercent = 100;
};

// Loads the bundled fonts; must run once after the QGuiApplication is made. Returns false when a font could
// not be read.
bool loadBundledFonts();

// Gives APPLICATION the palette, font and style sheet of THEME now and at every change.
void applyTheme(QApplication &application, Theme &theme);

} // namespace views
