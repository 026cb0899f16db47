// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/interrupt_watch.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

int main(int argc, char **argv)
{
    const app::InterruptWatch interrupts;
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return app::runCommandLine(words, {stdout, stderr}, interrupts.token(), program.parent_path());
}
