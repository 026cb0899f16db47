// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

// The commands of opscope-cli, each in a file of its own.
namespace app {

extern const CommandSpec kCaptureCommand;
extern const CommandSpec kRunCommand;
extern const CommandSpec kInfoCommand;
extern const CommandSpec kOpsCommand;
extern const CommandSpec kOutputsCommand;
extern const CommandSpec kReportCommand;
extern const CommandSpec kGraphCommand;
extern const CommandSpec kGradFnCommand;
extern const CommandSpec kDoctorCommand;
extern const CommandSpec kVerifyCommand;
extern const CommandSpec kRepairCommand;
extern const CommandSpec kDumpCommand;
extern const CommandSpec kConvertCommand;

} // namespace app
