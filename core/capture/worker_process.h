// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/ipc/frame.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace core {

// A child process with pipes on its standard input, output and error. Owned by whoever talks to it; its
// destructor kills and reaps what still runs.
class WorkerProcess
{
public:
    // INHERITED: a descriptor the child gets as its descriptor 3; -1: none. OpenMP threads of the child wait
    // passively: spinning ones stall a busy machine.
    static Result<WorkerProcess> start(const std::filesystem::path &program, int inherited);
    ~WorkerProcess();
    WorkerProcess(WorkerProcess &&other) noexcept;
    WorkerProcess &operator=(WorkerProcess &&) = delete;

    int id() const { return m_pid; }
    Status send(std::uint16_t type, std::span<const std::byte> payload);
    void closeInput();
    // The next frame within WAIT; nothing when none came or the output ended (ended() tells). Also collects
    // standard error.
    Result<std::optional<Frame>> receive(std::chrono::milliseconds wait);
    bool ended() const { return m_output < 0; }
    void kill();
    // Whether somebody stopped it (SIGSTOP, SIGTSTP); a debugger's stop is none.
    bool isStopped() const;
    // Waits for the process, which said all it had to say and is killed when it has not ended 20 s later; its
    // exit code, or minus the number of the signal that ended it.
    int reap();
    const std::string &errorText() const { return m_errorText; }

private:
    WorkerProcess() = default;
    void drain();
    void readOutput();
    void readError();

    int m_pid = -1;
    int m_input = -1;
    int m_output = -1;
    int m_error = -1;
    FrameParser m_parser;
    std::string m_errorText;
};

inline constexpr int kInheritedDescriptor = 3;

} // namespace core
