// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"

#include <QString>

#include <vector>

namespace app {

class Settings;

// One document of a session: which file, and where one stood in it.
struct StoredDocument
{
    QString path;
    Perspective perspective = Perspective::overview;
    QString op; // label of the current op; empty: none
    bool isCurrent = false;
};

// Sessions, one for each program with a window, stand side by side in the settings while they run; one that
// ends by itself leaves its documents as those of the last session. GUI thread.

// Marks this program's session as running, under a name that no other has.
void beginSession(Settings &settings);
// Ends it; nothing when it has not begun.
void endSession(Settings &settings);
bool isAnotherSessionRunning(const Settings &settings);

// Of this session while it runs, else of the last one.
void storeDocuments(Settings &settings, const std::vector<StoredDocument> &documents);
// The documents of the last session that ended by itself, in their order; files that are gone are left out.
std::vector<StoredDocument> storedDocuments(const Settings &settings);
// Those of the sessions that did not end by themselves, each file once, and forgets these sessions. They are
// to be offered, not opened again: what stopped a session may be in a file.
std::vector<StoredDocument> takeKilledDocuments(Settings &settings);

} // namespace app
