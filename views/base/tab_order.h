// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace views {

// Lets Tab go through the controls of ROOT in the order of its layouts, whenever they were made: fields that
// a form adds later are else reached last. Controls outside layouts keep their place.
void orderTabsByLayout(QWidget &root);

} // namespace views
