// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

#include <string>

namespace app {

std::string programHelp();
std::string commandHelp(const CommandSpec &command);

} // namespace app
