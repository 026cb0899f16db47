// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace app {

// True for a .pt2 or TorchScript file, told by its content. False for everything else, also unreadable files.
bool isModelFile(const std::string &path);

// What a model file says of itself; capture_worker reads it and runs nothing of it.
core::Result<ExitCode> runModelInfo(const std::string &path, CommandContext &context);

} // namespace app
