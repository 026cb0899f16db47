// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/exit_code.h"
#include "core/ipc/interrupt_watch.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace {

// A program may be started with a standard stream closed. The next file or pipe would get its number, and
// what is meant for the terminal would be written there.
void occupyStandardStreams()
{
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) < 0)
            // Read only: what is written to a closed output is still an error.
            (void)open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace

int main(int argc, char **argv)
{
    occupyStandardStreams();
    std::signal(SIGXFSZ, SIG_IGN); // a file beyond the limit is an error, not the end
    const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    try {
        const core::InterruptWatch interrupts;
        std::error_code error;
        const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
        return app::runCommandLine(words, {stdout, stderr}, interrupts.token(), program.parent_path());
    } catch (const std::exception &failure) { // no memory, no thread: not even the frame could start
        const core::Status status(core::ErrorCode::limitExceeded,
                                  std::string("opscope-cli cannot start: ") + failure.what());
        app::Console(stdout, stderr, std::ranges::find(words, "--json") != words.end()).failure(status);
        return static_cast<int>(app::ExitCode::unreadable);
    }
}
