// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"

#include <QString>

#include <vector>

namespace app {

class Settings;

// One document of the last session: which file, and where one stood in it.
struct StoredDocument
{
    QString path;
    Perspective perspective = Perspective::overview;
    QString op; // label of the current op; empty: none
    bool isCurrent = false;
};

// The documents that were open, in their order; files that are gone are left out.
std::vector<StoredDocument> storedDocuments(const Settings &settings);
void storeDocuments(Settings &settings, const std::vector<StoredDocument> &documents);

// A session that did not end by itself is offered, not opened again: what stopped it may be in a file.
bool lastSessionEndedWell(const Settings &settings);
// The session that is marked as running is that of another window, which is still there.
bool isSessionOfAnotherWindow(const Settings &settings);
void setSessionRunning(Settings &settings, bool running);

} // namespace app
