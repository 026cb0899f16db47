// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render/fonts.h"

#include <QFontDatabase>
#include <QString>

// Resources of a static library are linked in only when their initialiser is called; the macro does not work
// inside a namespace.
static void initializeFonts()
{
    Q_INIT_RESOURCE(fonts);
}

namespace render {

bool loadBundledFonts()
{
    initializeFonts();
    bool allRead = true;
    for (const char *file : {"Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf",
                             "JetBrainsMono-Regular.ttf", "JetBrainsMono-SemiBold.ttf"})
        allRead &= QFontDatabase::addApplicationFont(QStringLiteral(":/fonts/") + QLatin1String(file)) >= 0;
    return allRead;
}

} // namespace render
