// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/console.h"
#include "app/cli/exit_code.h"
#include "core/base/job_context.h"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string_view>

namespace app {

// What a command gets besides its arguments. The job is stopped by Ctrl+C. PROGRAM FOLDER holds
// capture_worker and layout_worker.
struct CommandContext
{
    Console &console;
    core::JobContext &job;
    std::filesystem::path programFolder;
};

// A failed Status is printed by the frame and becomes the exit code.
using CommandFunction = core::Result<ExitCode> (*)(const Arguments &arguments, CommandContext &context);

// One command: what the parser accepts, what --help says, and what runs.
struct CommandSpec
{
    std::string_view name;
    std::string_view operands = {}; // as printed in the usage line: "TRACE [TRACE]"
    std::size_t minOperands = 0;
    std::size_t maxOperands = 0;
    std::string_view summary;      // one sentence fragment, lower case, no stop
    std::string_view details = {}; // whole sentences, lines of at most 100 characters; may be empty
    std::span<const OptionSpec> options = {};
    std::string_view example = {}; // whole command lines
    CommandFunction run = nullptr;
    bool takesAnyOption = false; // report, run: the options are those of the helper that is named
    // The help of the helper that is named; empty for a word that names none on purpose (list), else an error
    // with the nearest name.
    core::Result<std::string> (*operandHelp)(std::string_view operand) = nullptr;
};

// In the order --help lists them.
std::span<const CommandSpec *const> commandTable();
const CommandSpec *findCommand(std::string_view name);

struct ProgramStreams
{
    std::FILE *answers = nullptr;
    std::FILE *messages = nullptr;
};
// The whole program but signals: parses WORDS (without the program's name), runs, prints, and gives the exit
// code.
int runCommandLine(std::span<const std::string_view> words, const ProgramStreams &streams,
                   std::stop_token stop, const std::filesystem::path &programFolder);

} // namespace app
