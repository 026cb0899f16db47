// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// QScintilla's headers are written with Qt's lower-case keywords, which this project switches off.
#include <QObject>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#include <Qsci/qscilexerpython.h>
#include <Qsci/qsciscintilla.h>
#undef signals
#undef slots
