// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <array>

namespace app {

std::span<const CommandSpec *const> commandTable()
{
    static constexpr std::array<const CommandSpec *, 3> kTable = {&kInfoCommand, &kOpsCommand,
                                                                  &kOutputsCommand};
    return kTable;
}

} // namespace app
