// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace app {

// The reports "doctor" and "capability_snapshot" of this installation and, when there is an operand number
// OPERAND, of that model with the options --input and --inputs. Prints by --json, --card, --markdown, --csv.
core::Result<ExitCode> runDoctorReport(std::string_view name, const Arguments &arguments, std::size_t operand,
                                       CommandContext &context);

} // namespace app
