// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

extern char **environ;

namespace core {

namespace {

constexpr std::size_t kKeptErrorBytes = std::size_t(64) << 10;
constexpr std::chrono::seconds kEndsWithin{20}; // after its last word; a large heap is given back by then

void closeDescriptor(int &descriptor)
{
    if (descriptor >= 0)
        ::close(descriptor);
    descriptor = -1;
}

struct Pipe
{
    Pipe() { valid = ::pipe2(ends, O_CLOEXEC) == 0; }
    ~Pipe()
    {
        closeDescriptor(ends[0]);
        closeDescriptor(ends[1]);
    }
    int take(int end) { return std::exchange(ends[end], -1); }

    int ends[2] = {-1, -1};
    bool valid = false;
};

std::vector<std::string> childEnvironment()
{
    std::vector<std::string> variables;
    for (char **variable = environ; *variable != nullptr; ++variable)
        if (!std::string_view(*variable).starts_with("OMP_WAIT_POLICY="))
            variables.emplace_back(*variable);
    variables.emplace_back("OMP_WAIT_POLICY=passive");
    return variables;
}

std::vector<char *> pointers(std::vector<std::string> &texts)
{
    std::vector<char *> out;
    for (std::string &text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

std::string installRemedy(const std::filesystem::path &program)
{
    return "install " + program.filename().string() +
           " in the same folder, from the same build; saved traces open without it";
}

// A process is made of descriptors, memory and a place among the processes of the user: all have limits.
Status notStarted(const std::filesystem::path &program, int reason)
{
    const std::string message = program.filename().string() + " cannot be started: " + std::strerror(reason);
    if (reason == EMFILE || reason == ENFILE)
        return Status(ErrorCode::limitExceeded, message)
            .withRemedy("raise the limit on open files (ulimit -n)");
    if (reason == EAGAIN)
        return Status(ErrorCode::limitExceeded, message)
            .withRemedy("raise the limit on processes (ulimit -u)");
    if (reason == ENOMEM)
        return {ErrorCode::limitExceeded, message};
    return Status(ErrorCode::unsupported, message + " (" + program.string() + ")")
        .withRemedy(installRemedy(program));
}

// Status of a program that cannot be started as it stands there; ok when it can.
Status checkProgram(const std::filesystem::path &program)
{
    if (::access(program.c_str(), X_OK) == 0)
        return Status::ok();
    const int reason = errno;
    std::error_code ignored;
    const bool isThere = std::filesystem::exists(program, ignored);
    if (isThere && reason == EACCES)
        return Status(ErrorCode::unsupported,
                      program.string() + " is no program that may be started: " + std::strerror(reason))
            .withDetail("worker_missing")
            .withRemedy("give it the right to be executed (chmod +x), or " + installRemedy(program));
    return Status(ErrorCode::unsupported,
                  program.filename().string() + " is not beside this program (" + program.string() + ")")
        .withDetail("worker_missing")
        .withRemedy(installRemedy(program));
}

} // namespace

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path &program, int inherited)
{
    if (Status status = checkProgram(program); !status)
        return status;
    Pipe input;
    Pipe output;
    Pipe error;
    if (!input.valid || !output.valid || !error.valid)
        return notStarted(program, errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, error.ends[1], STDERR_FILENO);
    if (inherited >= 0)
        posix_spawn_file_actions_adddup2(&actions, inherited, kInheritedDescriptor);
    // LibTorch does not load in a folder that is gone. Relative names were refused before there was a worker.
    std::error_code gone;
    if (std::filesystem::current_path(gone).empty())
        posix_spawn_file_actions_addchdir_np(&actions, "/");
    std::vector<std::string> arguments = {program.string()};
    if (inherited >= 0)
        arguments.push_back("--journal=" + std::to_string(kInheritedDescriptor));
    std::vector<std::string> variables = childEnvironment();
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, pointers(arguments).data(),
                                     pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return notStarted(program, failed);
    WorkerProcess process;
    process.m_pid = pid;
    process.m_input = input.take(1);
    process.m_output = output.take(0);
    process.m_error = error.take(0);
    ::fcntl(process.m_error, F_SETFL, O_NONBLOCK);
    ::fcntl(process.m_output, F_SETFL, O_NONBLOCK);
    return process;
}

WorkerProcess::WorkerProcess(WorkerProcess &&other) noexcept
    : m_pid(std::exchange(other.m_pid, -1)), m_input(std::exchange(other.m_input, -1)),
      m_output(std::exchange(other.m_output, -1)), m_error(std::exchange(other.m_error, -1)),
      m_parser(std::move(other.m_parser)), m_errorText(std::move(other.m_errorText))
{
}

WorkerProcess::~WorkerProcess()
{
    closeInput();
    if (m_pid >= 0) {
        kill();
        reap();
    }
    closeDescriptor(m_output);
    closeDescriptor(m_error);
}

Status WorkerProcess::send(std::uint16_t type, std::span<const std::byte> payload)
{
    if (m_input < 0)
        return {ErrorCode::protocol, "the worker's input is closed"};
    return writeFrame(m_input, type, payload);
}

void WorkerProcess::closeInput()
{
    closeDescriptor(m_input);
}

void WorkerProcess::readOutput()
{
    std::array<std::byte, 1U << 16U> buffer;
    for (;;) {
        const ssize_t got = ::read(m_output, buffer.data(), buffer.size());
        if (got > 0) {
            m_parser.feed({buffer.data(), static_cast<std::size_t>(got)});
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || errno != EAGAIN)
            closeDescriptor(m_output);
        return;
    }
}

void WorkerProcess::readError()
{
    std::array<char, 1U << 14U> buffer;
    for (;;) {
        const ssize_t got = ::read(m_error, buffer.data(), buffer.size());
        if (got > 0) {
            m_errorText.append(buffer.data(), static_cast<std::size_t>(got));
            if (m_errorText.size() > kKeptErrorBytes)
                m_errorText.erase(0, m_errorText.size() - kKeptErrorBytes);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || errno != EAGAIN)
            closeDescriptor(m_error);
        return;
    }
}

Result<std::optional<Frame>> WorkerProcess::receive(std::chrono::milliseconds wait)
{
    Result<std::optional<Frame>> frame = m_parser.next();
    if (!frame || frame->has_value() || m_output < 0)
        return frame;
    std::array<pollfd, 2> polled = {pollfd{m_output, POLLIN, 0}, pollfd{m_error, POLLIN, 0}};
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
    if (ready > 0) {
        if (polled[1].revents != 0 && m_error >= 0)
            readError();
        if (polled[0].revents != 0)
            readOutput();
    }
    return m_parser.next();
}

void WorkerProcess::kill()
{
    if (m_pid >= 0)
        ::kill(m_pid, SIGKILL);
}

bool WorkerProcess::isStopped() const
{
    if (m_pid < 0)
        return false;
    std::ifstream file("/proc/" + std::to_string(m_pid) + "/stat");
    std::string text;
    std::getline(file, text);
    // "PID (NAME) STATE ..."; the name may hold anything.
    const std::size_t name = text.rfind(')');
    return name != std::string::npos && name + 2 < text.size() && text[name + 2] == 'T';
}

// What a process still says before it ends must not fill its pipes: it would wait for ever.
void WorkerProcess::drain()
{
    constexpr int kWaitMs = 2;
    std::array<pollfd, 2> polled = {pollfd{m_output, POLLIN, 0}, pollfd{m_error, POLLIN, 0}};
    if (::poll(polled.data(), polled.size(), kWaitMs) <= 0)
        return;
    if (polled[1].revents != 0)
        readError();
    std::array<std::byte, 1U << 14U> ignored;
    if (polled[0].revents == 0)
        return;
    const ssize_t got = ::read(m_output, ignored.data(), ignored.size());
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        closeDescriptor(m_output);
}

int WorkerProcess::reap()
{
    if (m_pid < 0)
        return 0;
    int state = 0;
    const auto began = std::chrono::steady_clock::now();
    for (bool killed = false;;) {
        const pid_t ended = ::waitpid(m_pid, &state, WNOHANG);
        if (ended == m_pid || (ended < 0 && errno != EINTR))
            break;
        drain();
        if (!killed && std::chrono::steady_clock::now() - began > kEndsWithin) {
            kill();
            killed = true;
        }
    }
    m_pid = -1;
    if (m_error >= 0)
        readError();
    return WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state);
}

} // namespace core
