// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace app {

// TEXT, which names options of the command line ("give it with --input, for example --input f32[1,8]"), for
// people who look at the fields of the capture dialog: "give it under Inputs, for example f32[1,8]".
QString inWindowWords(const QString &text);

} // namespace app
