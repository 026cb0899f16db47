// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <QString>

namespace app {

// What the window says above a trace whose run did not end by itself.
struct RunStateWords
{
    QString title; // empty: the run ended as it was meant to
    QString body;
    QString message; // the run's own last words, as they stand in the trace
    bool isMemoryLimit = false;
};

RunStateWords runStateWords(const core::Trace &trace);

} // namespace app
