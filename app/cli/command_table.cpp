// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <array>

namespace app {

std::span<const CommandSpec *const> commandTable()
{
    static constexpr auto kTable = std::to_array<const CommandSpec *>(
        {&kCaptureCommand, &kRunCommand, &kInfoCommand, &kOpsCommand, &kOutputsCommand, &kReportCommand,
         &kGraphCommand, &kGradFnCommand, &kVerifyCommand, &kRepairCommand, &kDumpCommand, &kConvertCommand,
         &kDoctorCommand});
    return kTable;
}

} // namespace app
