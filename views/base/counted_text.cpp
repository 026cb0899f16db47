// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/counted_text.h"

#include "views/base/formatting.h"

#include <QCoreApplication>

namespace views {

QString countedText(std::uint64_t count, const char *one, const char *many)
{
    return countText(count) + QLatin1Char(' ') +
           QCoreApplication::translate("views::Counted", count == 1 ? one : many);
}

} // namespace views
