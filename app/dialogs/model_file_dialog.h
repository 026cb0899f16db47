// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

class QString;
class QWidget;

namespace app {

// Asks for a model file, beginning in the folder of CURRENT, without waiting: CHOSEN gets the answer, if
// there is one while OWNER lives.
void askModelFile(QWidget &owner, const QString &current, std::function<void(const QString &)> chosen);

} // namespace app
