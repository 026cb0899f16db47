// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/perspective.h"

#include <QCoreApplication>

namespace app {

QString perspectiveTitle(Perspective perspective)
{
    switch (perspective) {
    case Perspective::overview:
        return QCoreApplication::translate("app::Perspective", "Overview");
    case Perspective::nanHunt:
        return QCoreApplication::translate("app::Perspective", "NaN hunt");
    }
    return {};
}

QString perspectiveKey(Perspective perspective)
{
    return perspective == Perspective::overview ? QStringLiteral("overview") : QStringLiteral("nan-hunt");
}

} // namespace app
