// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>

namespace core {

// unreadable: MESSAGE, then the words of the system for ERROR (an errno). With the detail no_room and a
// remedy when a disk, a quota or a limit on the size of files leaves no room.
Status writeError(std::string message, int error);
inline constexpr const char *kNoRoom = "no_room";
bool isNoRoom(int error);

} // namespace core
